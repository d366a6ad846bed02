// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "mesh/plan_access.hpp"
#include "mesh/random_case.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/mesh/methods.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

#if QUADRAT_BACKEND_CUDA
inline constexpr auto on_this_backend = &spread_method::on_cuda;
#else
inline constexpr auto on_this_backend = &spread_method::on_cpu;
#endif

/// The methods of this backend with correct results that support at least this level of determinism.
/// QUADRAT_TEST_WITHOUT names a method to leave out: the racecheck of script/test-gpu complains about a vendor's
/// kernels.
[[nodiscard]] inline std::vector<std::string> methods_here(determinism level = determinism::none) {
  std::vector<std::string> names;
  const char* without = std::getenv("QUADRAT_TEST_WITHOUT");
  for (const spread_method& method : spread_methods()) {
    if (without != nullptr && method.name == without) continue;
    const bool able = static_cast<int>(method.reproducible) >= static_cast<int>(level);
    if (method.*on_this_backend && able && !method.wrong_results) names.emplace_back(method.name);
  }
  return names;
}

/// The limit on relative l2 errors.
template <typename T>
inline constexpr double spread_tolerance = sizeof(T) == 4 ? 1e-6 : 1e-14;

/// The l2 norm of the errors divided by that of the sums; for terms of both signs, by that of the sums of magnitudes,
/// since cancellation is not an error of the method. 0 if both are zero.
template <typename T>
[[nodiscard]] double relative_error(const std::vector<T>& found, const reference::weighted_sums& wanted) {
  if (found.size() != wanted.value.size()) return std::numeric_limits<double>::infinity();
  long double error = 0, norm = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const long double difference = static_cast<long double>(found[i]) - wanted.value[i];
    error += difference * difference;
    norm += wanted.magnitude[i] * wanted.magnitude[i];
  }
  if (error == 0) return 0;
  return norm > 0 && std::isfinite(error) ? static_cast<double>(std::sqrt(error / norm))
                                          : std::numeric_limits<double>::infinity();
}

/// Values from 1/4 to 5/4, or from -1 to 1.
template <typename T>
[[nodiscard]] std::vector<T> random_values(std::size_t count, std::uint64_t seed, bool signed_values) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    value = signed_values ? 2 * random_unit<T>(random) - T(1) : T(0.25) + random_unit<T>(random);
  }
  return values;
}

template <typename T>
[[nodiscard]] std::vector<long double> exactly(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

/// Points in the memory of a context, surrounded by other data.
template <typename T, int D>
class points_on_device {
 public:
  points_on_device(const backend_context& context, const std::vector<vec<T, D>>& points,
                   point_memory memory = point_memory::packed)
      : count_(points.size()), memory_(memory), row_(memory == point_memory::rows ? D + 2 : D) {
    std::vector<T> words(count_ * row_, std::numeric_limits<T>::quiet_NaN());
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t d = 0; d < D; ++d) {
        words[memory == point_memory::components ? d * count_ + i : i * row_ + d] = points[i][static_cast<int>(d)];
      }
    }
    words_ = to_device(context, words);
  }

  [[nodiscard]] points_view<T, D> view() const {
    if (memory_ != point_memory::components) return strided_points<D>(words_.data(), count_, row_);
    std::array<const T*, D> starts{};
    for (std::size_t d = 0; d < D; ++d) starts[d] = words_.data() + d * count_;
    return component_points(starts, count_);
  }

  /// Overwrites the points.
  void overwrite(const backend_context& context) { fill_bytes(context, words_.data(), 0xff, words_.bytes()); }

 private:
  std::size_t count_;
  point_memory memory_;
  std::size_t row_;
  array<T, backend_context> words_;
};

/// The results of a plan, one component after another.
template <typename T>
struct spread_results {
  std::vector<T> mesh;
  std::vector<T> values;
  std::vector<T> gradients;
  std::vector<T> values_in_pass;  ///< of interpolate_with_gradient
  std::vector<T> gradients_in_pass;
};

/// The input of a case: values of the points and of the mesh, and the previous contents of the results.
template <typename T, int D>
struct spread_input {
  std::vector<T> values;
  std::vector<T> mesh;
  spread_results<T> before;

  explicit spread_input(const spread_case<T, D>& it) {
    std::size_t nodes = 1;
    for (int d = 0; d < D; ++d) nodes *= static_cast<std::size_t>(it.mesh[d]);
    const std::size_t channels = it.vectors * it.components;
    values = random_values<T>(it.points.size() * channels, 3 * it.seed, it.signed_values);
    mesh = random_values<T>(nodes * channels, 3 * it.seed + 1, it.signed_values);
    const auto old = [&](std::size_t count) {
      return it.accumulate ? random_values<T>(count, 3 * it.seed + 2, it.signed_values)
                           : std::vector<T>(count, std::numeric_limits<T>::quiet_NaN());
    };
    before = {old(mesh.size()), old(values.size()), old(values.size() * D), {}, {}};
  }
};

/// Calls of a plan on values of T, treated as complex if there are two components. They do not wait.
template <typename T, int D>
class plan_calls {
 public:
  using plan_type = spread_plan<backend_context, T, D>;

  plan_calls(plan_type& plan, std::size_t components) : plan_(plan), complex_(components == 2) {}

  void spread(const T* values, T* mesh, const mesh_call& call) const {
    complex_ ? plan_.spread_async(pairs(values), pairs(mesh), call) : plan_.spread_async(values, mesh, call);
  }
  void interpolate(const T* mesh, T* values, const mesh_call& call) const {
    complex_ ? plan_.interpolate_async(pairs(mesh), pairs(values), call) : plan_.interpolate_async(mesh, values, call);
  }
  void gradient(const T* mesh, T* gradients, const mesh_call& call) const {
    complex_ ? plan_.interpolate_gradient_async(pairs(mesh), pairs(gradients), call)
             : plan_.interpolate_gradient_async(mesh, gradients, call);
  }

  void with_gradient(const T* mesh, T* values, T* gradients, const mesh_call& call) const {
    complex_ ? plan_.interpolate_with_gradient_async(pairs(mesh), pairs(values), pairs(gradients), call)
             : plan_.interpolate_with_gradient_async(mesh, values, gradients, call);
  }

 private:
  static std::complex<T>* pairs(T* values) { return reinterpret_cast<std::complex<T>*>(values); }
  static const std::complex<T>* pairs(const T* values) { return reinterpret_cast<const std::complex<T>*>(values); }

  plan_type& plan_;
  bool complex_;
};

/// Everything that a plan with points does for a case.
template <typename T, int D>
[[nodiscard]] spread_results<T> run_plan(const backend_context& context, spread_plan<backend_context, T, D>& plan,
                                         const spread_case<T, D>& it, const spread_input<T, D>& input) {
  const auto values = to_device(context, input.values), mesh = to_device(context, input.mesh);
  auto spread = to_device(context, input.before.mesh), interpolated = to_device(context, input.before.values),
       gradients = to_device(context, input.before.gradients), values_in_pass = to_device(context, input.before.values),
       gradients_in_pass = to_device(context, input.before.gradients);
  const plan_calls<T, D> calls(plan, it.components);
  calls.spread(values.data(), spread.data(), it.call());
  calls.interpolate(mesh.data(), interpolated.data(), it.call());
  calls.gradient(mesh.data(), gradients.data(), it.call());
  calls.with_gradient(mesh.data(), values_in_pass.data(), gradients_in_pass.data(), it.call());
  return {to_host(context, spread), to_host(context, interpolated), to_host(context, gradients),
          to_host(context, values_in_pass), to_host(context, gradients_in_pass)};
}

/// A plan for a case, without points. The window: an order or a mesh_window.
template <typename T, int D, typename Window>
[[nodiscard]] spread_plan<backend_context, T, D> make_plan(const backend_context& context, const spread_case<T, D>& it,
                                                           const std::string& method, const Window& window) {
  spread_options options = it.options;
  options.method = method;
  const auto shape = [&] {
    if constexpr (std::is_same_v<Window, int>)
      return bspline_window<T>(window);
    else
      return window;
  }();
  return detail::plan_access::make(context, it.domain, it.mesh, shape, options, it.details);
}

template <typename T, int D>
void set_points(const backend_context& context, spread_plan<backend_context, T, D>& plan, const spread_case<T, D>& it) {
  points_on_device<T, D> points(context, it.points, it.memory);
  plan.set_points(points.view());
  points.overwrite(context);
}

/// All operations of a case, with a new plan.
template <typename T, int D, typename Window>
[[nodiscard]] spread_results<T> run_method(const backend_context& context, const spread_case<T, D>& it,
                                           const spread_input<T, D>& input, const std::string& method,
                                           const Window& window) {
  auto plan = make_plan(context, it, method, window);
  set_points(context, plan, it);
  return run_plan(context, plan, it, input);
}
template <typename T, int D>
[[nodiscard]] spread_results<T> run_method(const backend_context& context, const spread_case<T, D>& it,
                                           const spread_input<T, D>& input, const std::string& method) {
  return run_method(context, it, input, method, it.order);
}

/// Uniform points in a periodic box, with a mesh of `extent` mesh points along each axis, but three more along the
/// first.
template <typename T, int D>
[[nodiscard]] spread_case<T, D> uniform_case(std::uint64_t seed, std::size_t count, int extent) {
  spread_case<T, D> it;
  std::mt19937_64 random(seed);
  it.seed = seed;
  it.order = 1 + static_cast<int>(seed % 8);
  it.domain = {vec<T, D>::filled(T(-1.5)), vec<T, D>::filled(T(3.7)), vec<bool, D>::filled(true)};
  it.mesh = vec<int, D>::filled(extent);
  it.mesh[0] += 3;
  for (std::size_t i = 0; i < count; ++i) {
    it.points.push_back(make_vec<T, D>([&](int) { return T(3.7) * random_unit<T>(random) - T(1.5); }));
  }
  return it;
}

/// The expected results of a case.
struct wanted_results {
  reference::weighted_sums mesh;
  reference::weighted_sums values;
  reference::weighted_sums gradients;
};

template <typename T, int D>
[[nodiscard]] wanted_results wanted_of(const spread_case<T, D>& it, const spread_input<T, D>& input,
                                       const reference::mesh_problem& problem) {
  auto at_points = reference::interpolate(problem, exactly(input.mesh), it.vectors, it.components);
  wanted_results wanted{reference::spread(problem, exactly(input.values), it.vectors, it.components),
                        std::move(at_points.values), std::move(at_points.gradients)};
  const auto add_before = [&](reference::weighted_sums& sums, const std::vector<T>& before) {
    for (std::size_t i = 0; it.accumulate && i < before.size(); ++i) sums.add(i, static_cast<long double>(before[i]));
  };
  add_before(wanted.mesh, input.before.mesh);
  add_before(wanted.values, input.before.values);
  add_before(wanted.gradients, input.before.gradients);
  return wanted;
}

template <typename T>
void expect_agreement(const spread_results<T>& found, const wanted_results& wanted,
                      double tolerance = spread_tolerance<T>) {
  EXPECT_LT(relative_error(found.mesh, wanted.mesh), tolerance) << "spread";
  EXPECT_LT(relative_error(found.values, wanted.values), tolerance) << "interpolate";
  EXPECT_LT(relative_error(found.gradients, wanted.gradients), tolerance) << "interpolate_gradient";
  EXPECT_LT(relative_error(found.values_in_pass, wanted.values), tolerance) << "interpolate_with_gradient, values";
  EXPECT_LT(relative_error(found.gradients_in_pass, wanted.gradients), tolerance) << "interpolate_with_gradient";
}

/// Checks a plan whose points have been set to those of this case.
template <typename T, int D>
void expect_right(const backend_context& context, spread_plan<backend_context, T, D>& plan,
                  const spread_case<T, D>& it) {
  const spread_input<T, D> input(it);
  expect_agreement(run_plan(context, plan, it, input), wanted_of(it, input, problem_of(it)));
}

template <typename T>
[[nodiscard]] testing::AssertionResult same_bits(const std::vector<T>& found, const std::vector<T>& wanted) {
  if (found.size() != wanted.size()) {
    return testing::AssertionFailure() << found.size() << " numbers; expected " << wanted.size();
  }
  std::size_t different = 0, first = 0;
  for (std::size_t i = found.size(); i-- > 0;) {
    if (std::memcmp(&found[i], &wanted[i], sizeof(T)) == 0) continue;
    ++different;
    first = i;
  }
  if (different == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << different << " of " << found.size() << " numbers are different; number "
                                     << first << " is " << found[first] << "; expected " << wanted[first];
}

}  // namespace quadrat::test
