// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/hydro/mobility.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "harness/stopwatch.hpp"
#include "hydro/operations.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::bench {

namespace {

/// Spheres of radius 1 at random places, which may overlap, under random forces.
struct suspension {
  double edge = 0;
  std::vector<vec<double, 3>> points{};
  std::vector<vec<double, 3>> forces{};
};

suspension random_suspension(std::size_t count, double volume_fraction) {
  suspension of;
  of.edge = std::cbrt(static_cast<double>(count) * 4 * std::numbers::pi / 3 / volume_fraction);
  std::mt19937_64 generator(1);
  const auto unit = [&] { return static_cast<double>(generator() >> 11) * 0x1p-53; };
  for (std::size_t i = 0; i < count; ++i) {
    of.points.push_back(make_vec<double, 3>([&](int) { return of.edge * unit(); }));
    of.forces.push_back(make_vec<double, 3>([&](int) { return std::sqrt(12.0) * (unit() - 0.5); }));
  }
  return of;
}

template <typename T>
std::vector<vec<T, 3>> rounded(const std::vector<vec<double, 3>>& from) {
  std::vector<vec<T, 3>> result;
  result.reserve(from.size());
  for (const auto& value : from) result.push_back(cast<T>(value));
  return result;
}

/// An operator, spheres and results in the memory of a context.
template <typename Context, typename T>
class spheres_under_test {
 public:
  spheres_under_test(const Context& context, const suspension& of, const mobility_options& options)
      : operator_(context, vec<T, 3>::filled(static_cast<T>(of.edge)), options),
        points_(to_device(context, rounded<T>(of.points))),
        forces_(to_device(context, rounded<T>(of.forces))),
        velocities_(context, of.points.size()) {
    operator_.prepare(of.points.size());
    place();
  }
  void place() { operator_.set_points(points_of(points_.data(), points_.size())); }
  void multiply() { operator_.multiply_async(forces_.data(), velocities_.data()); }
  void move() { operator_.velocities(forces_.data(), {1, step_++, 1}, velocities_.data()); }
  [[nodiscard]] std::vector<vec<T, 3>> product(const Context& context) {
    multiply();
    return to_host(context, velocities_);
  }
  [[nodiscard]] const mobility<Context, T>& operation() const { return operator_; }

 private:
  mobility<Context, T> operator_;
  array<vec<T, 3>, Context> points_, forces_, velocities_;
  std::uint64_t step_ = 0;
};

/// The error of products, relative to the velocities of free spheres.
template <typename Context, typename T>
double error_of_product(const Context& context, const suspension& of, const mobility_options& options,
                        const std::vector<vec<T, 3>>& found) {
  mobility_options exact = options;
  exact.method = "split";
  exact.accuracy = options.accuracy / 300;
  exact.parameters = {};
  const auto expected = spheres_under_test<Context, double>(context, of, exact).product(context);
  double difference = 0, free = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    difference += squared_norm(cast<double>(found[i]) - expected[i]);
    free += squared_norm(of.forces[i]);
  }
  return std::sqrt(difference / free) * 6 * std::numbers::pi;
}

/// Times some consecutive calls, launches and waiting included.
template <typename Context, typename F>
timing time_calls(const session& s, const Context& context, F&& call) {
  timing_plan plan = s.plan();
  if (!s.on_cuda()) plan.least = 3;
  call();
  stopwatch<Context> watch(context);
  return repeat(plan, [&] {
    watch.start();
    call();
    return watch.stop_ms();
  });
}

template <typename T>
void run_spheres(const session& s, const std::string& op, const std::string& method, std::size_t count,
                 double accuracy) {
  row identity{{"op", op}, {"method", method}, {"precision", sizeof(T) == 4 ? "float" : "double"}, {"n", count}};
  identity["volume_fraction"] = 0.1;
  identity["accuracy"] = accuracy;
  if (!s.wants_method(method)) return;
  s.attempt(identity, [&](row& out) {
    with_context(s, [&](const auto& context) {
      using context_type = std::remove_cvref_t<decltype(context)>;
      const suspension of = random_suspension(count, 0.1);
      mobility_options options;
      options.method = method;
      options.accuracy = accuracy;
      spheres_under_test<context_type, T> it(context, of, options);
      out["relative_error"] = error_of_product(context, of, options, it.product(context));
      out["set_points_ms"] = time_calls(s, context, [&] { it.place(); }).median_ms;
      out["product_ms"] = time_calls(s, context, [&] { it.multiply(); }).median_ms;
      out["velocities_ms"] = time_calls(s, context, [&] { it.move(); }).median_ms;
      const timing whole = time_calls(s, context, [&] {
        it.place();
        it.move();
      });
      const mobility_report& report = it.operation().report();
      out["predicted_error"] = report.error;
      out["iterations"] = report.iterations;
      out["noise_error"] = report.noise_error;
      out["splitting"] = report.parameters.splitting;
      out["cutoff"] = report.parameters.cutoff;
      out["neighbors"] = report.neighbors;
      out["modes"] = report.parameters.modes[0];
      add_timing(out, whole, "spheres_per_s", static_cast<double>(count));
      out["bytes"] = it.operation().bytes();
    });
  });
}

}  // namespace

void run_brownian_step(const session& s) {
  run_spheres<float>(s, "step", "split", 10'000, 1e-3);
  if (!s.full()) return;
  run_spheres<float>(s, "step", "split", s.on_cuda() ? 1'000'000 : 100'000, 1e-3);
  run_spheres<double>(s, "step", "split", 10'000, 1e-6);
}

void run_brownian_methods(const session& s) {
  const std::size_t count = s.full() && s.on_cuda() ? 100'000 : 2'000;
  for (const char* method : {"split", "krylov"}) run_spheres<float>(s, "methods", method, count, 1e-3);
}

}  // namespace quadrat::bench
