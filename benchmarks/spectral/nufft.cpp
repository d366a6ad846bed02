// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/cases.hpp"

#include <algorithm>
#include <complex>
#include <numbers>
#include <string>

#include "harness/points.hpp"
#include "harness/stopwatch.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/mesh/methods.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "quadrat/spectral/nufft_target_plan.hpp"
#include "spectral/direct.hpp"
#include "spectral/operations.hpp"

namespace quadrat::bench {

namespace {

constexpr std::size_t samples_checked = 16;

row identity_of(const transform_case& what, const std::string& method) {
  row identity{{"op", "nufft"},
               {"method", method},
               {"precision", what.single ? "float" : "double"},
               {"type", what.type},
               {"dim", what.dimension},
               {"n", what.n},
               {"modes", what.modes},
               {"tolerance", what.tolerance},
               {"value", what.real ? "real" : "complex"},
               {"distribution", what.one_place ? "one_place" : "uniform"}};
  if (what.type == 3) identity["targets"] = what.n;
  return identity;
}

/// Points in (-pi, pi)^D.
template <typename T, int D>
[[nodiscard]] std::vector<T> points_of(const transform_case& what) {
  std::vector<T> points = random_points<T, D>(what.n, std::numbers::pi, 61);
  for (std::size_t i = D; what.one_place && i < points.size(); ++i) points[i] = points[i % D];
  return points;
}

/// Transforms of type 1 and 2.
template <typename Context, typename T, int D>
class mode_transform_subject {
 public:
  mode_transform_subject(const Context& context, const transform_case& what, const std::string& method)
      : type_(what.type),
        cube_{D, what.modes, what.real},
        points_{D, points_of<T, D>(what)},
        input_(random_points<T, 1>(what.type == 1 ? what.n * values_per_point() : 2 * cube_.size(), 1, 62)),
        plan_(context, vec<int, D>::filled(what.modes), what.tolerance, options_of(what, method)),
        points_there_(to_device(context, points_.coordinates)),
        input_there_(to_device(context, input_)),
        output_(context, what.type == 1 ? 2 * cube_.size() : what.n * values_per_point()) {}

  void set_points() { plan_.set_points(strided_points<D>(points_there_.data(), points_.size())); }

  void execute() {
    T *const in = input_there_.data(), *const out = output_.data();
    auto *const complex_in = reinterpret_cast<std::complex<T>*>(in), *const complex_out =
                                                                         reinterpret_cast<std::complex<T>*>(out);
    if (type_ == 1) {
      cube_.real ? plan_.type_1_async(in, complex_out) : plan_.type_1_async(complex_in, complex_out);
    } else {
      cube_.real ? plan_.type_2_async(complex_in, out) : plan_.type_2_async(complex_in, complex_out);
    }
  }

  /// Some results, and their exact values.
  [[nodiscard]] sampled_results sample(const Context& context) const {
    const std::vector<T> found = to_host(context, output_);
    const std::size_t parts = type_ == 1 ? 2 : values_per_point();
    sampled_results results;
    for (std::size_t i = 0; i < samples_checked; ++i) {
      const std::size_t at = random_word(63, i) % (found.size() / parts);
      results.found.emplace_back(found[parts * at], parts == 1 ? T(0) : found[parts * at + 1]);
      results.expected.push_back(
          type_ == 1 ? direct_type_1(points_, input_, static_cast<int>(values_per_point()), cube_.at(at), 1)
                     : direct_type_2(cube_, input_, points_.at(at), -1));
    }
    return results;
  }

  void describe(row& out) const {
    out["chosen"] = std::string(plan_.method());
    out["width"] = plan_.width();
    out["oversampling"] = plan_.oversampling();
    out["mesh"] = plan_.mesh()[0];
  }
  [[nodiscard]] std::size_t bytes() const { return plan_.bytes(); }

 private:
  [[nodiscard]] std::size_t values_per_point() const { return cube_.real ? 1 : 2; }
  static nufft_options options_of(const transform_case& what, const std::string& method) {
    nufft_options options;
    options.method = method;
    if (what.real) options.values = nufft_values::real;
    return options;
  }

  int type_;
  mode_cube cube_;
  places<T> points_;
  std::vector<T> input_;
  nufft_plan<Context, T, D> plan_;
  array<T, Context> points_there_, input_there_, output_;
};

/// Transforms of type 3.
template <typename Context, typename T, int D>
class target_transform_subject {
 public:
  target_transform_subject(const Context& context, const transform_case& what, const std::string& method)
      : points_{D, random_points<T, D>(what.n, std::numbers::pi, 61)},
        targets_{D, random_points<T, D>(what.n, 0.5 * what.modes, 64)},
        input_(random_points<T, 1>(2 * what.n, 1, 62)),
        plan_(context, what.tolerance, {.method = method}),
        points_there_(to_device(context, points_.coordinates)),
        targets_there_(to_device(context, targets_.coordinates)),
        input_there_(to_device(context, input_)),
        output_(context, 2 * what.n) {}

  void set_points() {
    plan_.set_points(strided_points<D>(points_there_.data(), points_.size()),
                     strided_points<D>(targets_there_.data(), targets_.size()));
  }
  void execute() {
    plan_.type_3_async(reinterpret_cast<const std::complex<T>*>(input_there_.data()),
                       reinterpret_cast<std::complex<T>*>(output_.data()));
  }
  [[nodiscard]] sampled_results sample(const Context& context) const {
    const std::vector<T> found = to_host(context, output_);
    sampled_results results;
    for (std::size_t i = 0; i < samples_checked; ++i) {
      const std::size_t at = random_word(63, i) % targets_.size();
      results.found.emplace_back(found[2 * at], found[2 * at + 1]);
      results.expected.push_back(direct_type_1(points_, input_, 2, targets_.at(at), 1));
    }
    return results;
  }
  void describe(row& out) const {
    out["chosen"] = std::string(plan_.method());
    out["width"] = plan_.width();
    out["mesh"] = plan_.mesh()[0];
  }
  [[nodiscard]] std::size_t bytes() const { return plan_.bytes(); }

 private:
  places<T> points_, targets_;
  std::vector<T> input_;
  nufft_target_plan<Context, T, D> plan_;
  array<T, Context> points_there_, targets_there_, input_there_, output_;
};

/// On the CPU a sample may take seconds.
timing_plan transform_plan(const session& s) {
  timing_plan plan = s.plan();
  if (!s.on_cuda()) plan.least = 5;
  return plan;
}

/// Samples of work that waits and cannot be captured in a graph.
template <typename Context, typename F>
timing time_calls(const session& s, const Context& context, const F& call) {
  stopwatch<Context> watch(context);
  return repeat(transform_plan(s), [&] {
    watch.start();
    call();
    return watch.stop_ms();
  });
}

template <typename Context, typename Subject>
void measure(const session& s, const Context& context, Subject subject, const transform_case& what, row& out) {
  subject.set_points();
  subject.execute();
  const double deviation = subject.sample(context).deviation(what.tolerance, what.modes);
  subject.describe(out);
  out["graph"] = s.on_cuda();
  add_timing(out, time_repeated(context, transform_plan(s), [&] { subject.execute(); }), "points_per_s",
             static_cast<double>(what.n));
  out["set_points_ms"] = time_calls(s, context, [&] { subject.set_points(); }).median_ms;
  out["set_and_execute_ms"] = time_calls(s, context, [&] {
                                subject.set_points();
                                subject.execute();
                              }).median_ms;
  out["deviation"] = deviation;
  out["bytes"] = subject.bytes();
}

template <typename T, int D, typename Context>
void measure_in(const session& s, const Context& context, const transform_case& what, const std::string& method,
                row& out) {
  if (what.type == 3) {
    measure(s, context, target_transform_subject<Context, T, D>(context, what, method), what, out);
  } else {
    measure(s, context, mode_transform_subject<Context, T, D>(context, what, method), what, out);
  }
}

/// The automatic choice; with --method the named methods.
std::vector<std::string> methods_of_spreading(const session& s) {
  std::vector<std::string> names = s.asked().methods;
  std::erase_if(names, [](const std::string& name) {
    const auto methods = spread_methods();
    return std::ranges::any_of(methods, [&](const auto& one) { return one.name == name && one.wrong_results; });
  });
  return s.asked().methods.empty() ? std::vector<std::string>{"auto"} : names;
}

template <int D>
void run_all(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const std::string& method : methods_of_spreading(s)) {
      for (const transform_case& what : transform_cases(s, D)) {
        s.attempt(identity_of(what, method), [&](row& out) {
          what.single ? measure_in<float, D>(s, context, what, method, out)
                      : measure_in<double, D>(s, context, what, method, out);
        });
      }
    }
  });
}

}  // namespace

void run_nufft_1d(const session& s) { run_all<1>(s); }
void run_nufft_2d(const session& s) { run_all<2>(s); }
void run_nufft_3d(const session& s) { run_all<3>(s); }

}  // namespace quadrat::bench
