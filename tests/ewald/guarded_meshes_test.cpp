// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ewald/ewald_case.hpp"
#include "hydro/mobility_case.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/mesh/methods.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/spectral/normal_operator.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "quadrat/spectral/nufft_target_plan.hpp"
#include "support/guarded_memory.hpp"
#include "support/random.hpp"

// Every mesh, box and table in pages of its own, over the sizes that follow from tolerances, extents and numbers of
// modes: nothing may be read or written beside them, and no number be used that nobody wrote.

namespace quadrat::test {

namespace {

/// Memory with guards, and arrays in it. Checks at its end that nothing was written beside an array.
class guarded_meshes : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(memory_.damaged(), 0u); }

  [[nodiscard]] cpu_context context() { return memory_.context(); }
  template <typename T>
  [[nodiscard]] array<T, cpu_context> drawn(std::size_t count, double low, double high) {
    std::vector<T> numbers(count);
    for (T& x : numbers) x = static_cast<T>(low + (high - low) * random_unit<double>(random_));
    return to_device(context(), numbers);
  }
  template <typename T, int D>
  [[nodiscard]] array<vec<T, D>, cpu_context> drawn_points(std::size_t count, double half) {
    std::vector<vec<T, D>> points(count);
    for (auto& x : points) {
      x = make_vec<T, D>([&](int) { return static_cast<T>(half * (2 * random_unit<double>(random_) - 1)); });
    }
    return to_device(context(), points);
  }
  template <typename Number>
  void expect_numbers(const array<Number, cpu_context>& found, const std::string& of) {
    using std::abs;
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_TRUE(std::isfinite(abs(found.data()[i]))) << of << ", " << i;
  }

  template <typename T, int D>
  void transform_to_targets(double tolerance, const std::vector<double>& x, const std::vector<double>& s);
  template <typename Number, typename T, int D>
  void transform(const vec<int, D>& modes, double tolerance, int systems);
  template <typename T, int D>
  void apply_normal_operator(const vec<int, D>& modes, double tolerance);
  template <typename T, int D>
  void spread(const vec<int, D>& mesh, int order, bool periodic, std::string_view method);

  guarded_memory memory_;
  std::mt19937_64 random_{7};
};

/// Points and targets within these distances, in all pairs.
template <typename T, int D>
void guarded_meshes::transform_to_targets(double tolerance, const std::vector<double>& x,
                                          const std::vector<double>& s) {
  using number = std::complex<T>;
  nufft_target_plan<cpu_context, T, D> plan(context(), tolerance);
  for (std::size_t i = 0; i < x.size() * s.size(); ++i) {
    const double of_points = x[i / s.size()], of_targets = s[i % s.size()];
    const auto points = drawn_points<T, D>(26, of_points), targets = drawn_points<T, D>(24, of_targets);
    plan.set_points(points_of(points), points_of(targets));
    const auto parts = drawn<T>(2 * 26, -1, 1);
    array<number, cpu_context> results(context(), 24), back(context(), 26);
    plan.type_3(reinterpret_cast<const number*>(parts.data()), results.data());
    plan.type_3_adjoint(results.data(), back.data());
    const std::string text = message("tolerance ", tolerance, ", points ", of_points, ", targets ", of_targets);
    expect_numbers(results, text);
    expect_numbers(back, text);
  }
}

TEST_F(guarded_meshes, hold_transforms_to_targets_at_all_tolerances_and_extents) {
  for (double tolerance = 0.3; tolerance > 1e-12; tolerance /= small_sizes() ? 50 : 4) {
    transform_to_targets<double, 1>(tolerance, {0, 1e-3, 0.3, 1, 5}, {0, 1e-2, 0.5, 1});
    transform_to_targets<double, 2>(tolerance, {1e-3, 0.3, 1}, {1e-2, 0.5, 1});
    transform_to_targets<double, 3>(tolerance, {6e-3, 0.5, 1}, {0.17, 1});
    if (tolerance > 1e-5) transform_to_targets<float, 2>(tolerance, {1e-3, 0.3, 1}, {1e-2, 0.5, 1});
  }
}

/// Values are of type Number: T, or complex.
template <typename Number, typename T, int D>
void guarded_meshes::transform(const vec<int, D>& modes, double tolerance, int systems) {
  constexpr std::size_t count = 30;
  nufft_options options;
  options.values = std::is_same_v<Number, T> ? nufft_values::real : nufft_values::complex;
  options.systems = systems;
  nufft_plan<cpu_context, T, D> plan(context(), modes, tolerance, options);
  const auto points = drawn_points<T, D>(count, 9);
  std::vector<std::uint32_t> system(count);
  for (auto& s : system) s = static_cast<std::uint32_t>(random_()) % static_cast<std::uint32_t>(systems);
  const auto system_of_point = to_device(context(), system);
  plan.set_points(points_of(points), systems > 1 ? system_of_point.data() : nullptr);
  constexpr std::size_t parts = sizeof(Number) / sizeof(T);
  const auto values = drawn<T>(2 * parts * count, -1, 1);
  array<std::complex<T>, cpu_context> results(context(), 2 * plan.mode_count());
  array<Number, cpu_context> back(context(), 2 * count);
  plan.type_1(reinterpret_cast<const Number*>(values.data()), results.data(), {2, 0});
  plan.type_2(results.data(), back.data(), {2, 0});
  const std::string text = message("tolerance ", tolerance, ", ", modes[0], " modes, ", systems, " systems");
  expect_numbers(results, text);
  expect_numbers(back, text);
}

TEST_F(guarded_meshes, hold_transforms_of_all_tolerances_and_numbers_of_modes) {
  for (const double tolerance : {0.3, 1e-2, 1e-4, 1e-6, 1e-9, 1e-12}) {
    for (const int systems : {1, 2, 5, 19}) {
      if (small_sizes() && systems != 1 && systems != 19) continue;
      for (const int modes : {1, 2, 3, 4, 7, 16, 31, 64, 81}) {
        if (small_sizes() && modes > 4 && modes < 31) continue;
        transform<double, double, 1>({modes}, tolerance, systems);
        transform<std::complex<double>, double, 1>({modes}, tolerance, systems);
        if (modes > 31) continue;
        transform<double, double, 2>({modes, 5}, tolerance, systems);
        transform<std::complex<double>, double, 2>({3, modes}, tolerance, systems);
        if (tolerance > 1e-5) transform<float, float, 2>({modes, modes}, tolerance, systems);
      }
      transform<double, double, 3>({5, 4, 7}, tolerance, systems);
      transform<std::complex<double>, double, 3>({1, 6, 3}, tolerance, systems);
    }
  }
}

template <typename T, int D>
void guarded_meshes::apply_normal_operator(const vec<int, D>& modes, double tolerance) {
  normal_operator<cpu_context, T, D> all(context(), modes, tolerance);
  const auto points = drawn_points<T, D>(40, 3);
  all.set_points(points_of(points));
  const auto parts = drawn<T>(2 * all.mode_count(), -1, 1);
  array<std::complex<T>, cpu_context> result(context(), all.mode_count());
  all.apply(reinterpret_cast<const std::complex<T>*>(parts.data()), result.data());
  expect_numbers(result, message("tolerance ", tolerance, ", ", modes[0], " modes"));
}

TEST_F(guarded_meshes, hold_normal_operators) {
  for (const double tolerance : {1e-1, 1e-4, 1e-8}) {
    for (const int modes : {1, 2, 5, 16, 31}) {
      apply_normal_operator<double, 1>({modes}, tolerance);
      apply_normal_operator<double, 2>({modes, 3}, tolerance);
      apply_normal_operator<double, 3>({2, modes, 4}, tolerance);
    }
  }
}

/// With gradients.
template <typename T, int D>
void guarded_meshes::spread(const vec<int, D>& mesh, int order, bool periodic, std::string_view method) {
  spread_options options;
  options.method = std::string(method);
  options.clip = true;
  const box<T, D> domain{vec<T, D>::filled(T(-1)), vec<T, D>::filled(T(2)), vec<bool, D>::filled(periodic)};
  spread_plan<cpu_context, T, D> plan(context(), domain, mesh, order, options);
  constexpr std::size_t count = 50;
  const auto points = drawn_points<T, D>(count, 1);
  plan.set_points(points_of(points));
  const auto values = drawn<T>(2 * count, -1, 1);
  array<T, cpu_context> nodes(context(), 2 * plan.mesh_size()), back(context(), 2 * count);
  array<T, cpu_context> gradients(context(), 2 * D * count);
  plan.spread(values.data(), nodes.data(), {2, false});
  plan.interpolate(nodes.data(), back.data(), {2, false});
  plan.interpolate_gradient(nodes.data(), gradients.data(), {2, false});
  const std::string text = message(method, ", order ", order, ", ", mesh[D - 1], " mesh points");
  expect_numbers(nodes, text);
  expect_numbers(back, text);
  expect_numbers(gradients, text);
}

TEST_F(guarded_meshes, hold_what_every_method_spreads) {
  for (const spread_method& method : spread_methods()) {
    if (!method.on_cpu || method.wrong_results) continue;
    for (const bool periodic : {true, false}) {
      for (int order = 1; order <= 8; ++order) {
        for (const int mesh : {1, 2, 5, 8, 17, 40}) {
          spread<double, 1>({mesh}, order, periodic, method.name);
          spread<float, 2>({3, mesh}, order, periodic, method.name);
          spread<double, 3>({mesh, 1, 9}, order, periodic, method.name);
        }
      }
    }
  }
}

/// Cells that are long along each axis in turn; one system, and several.
TEST_F(guarded_meshes, hold_sums_over_charges) {
  constexpr std::size_t count = 60;
  for (const char* method : {"spme", "esp"}) {
    for (double accuracy = 0.2; accuracy > 1e-7; accuracy /= 7) {
      for (int longest = 0; longest < 3; ++longest) {
        ewald_case<double> of;
        vec<vec<double, 3>, 3> vectors{};
        for (int axis = 0; axis < 3; ++axis) vectors[axis][axis] = axis == longest ? 9 : 2.5;
        of.cells.assign(longest == 1 ? 3 : 1, cell_of(vectors[0], vectors[1], vectors[2]));
        for (std::size_t i = 0; i < count; ++i) {
          of.points.push_back(
              make_vec<double, 3>([&](int axis) { return vectors[axis][axis] * random_unit<double>(random_); }));
          of.charges.push_back(i % 2 == 0 ? 1 : -1);
          if (of.cells.size() > 1) of.system_of_point.push_back(static_cast<std::uint32_t>(i / 2 % of.cells.size()));
        }
        electrostatics_options options;
        options.method = method;
        options.accuracy = accuracy;
        const auto found = compute_ewald(of, options, context());
        for (const auto& force : found.forces) {
          ASSERT_TRUE(std::isfinite(squared_norm(force))) << method << " " << accuracy << " " << longest;
        }
      }
    }
  }
}

TEST_F(guarded_meshes, hold_velocities_of_spheres) {
  for (double accuracy = 0.1; accuracy > 1e-6; accuracy /= 6) {
    for (const auto& box : {vec<double, 3>{8, 8, 8}, vec<double, 3>{20, 7, 9}}) {
      mobility_options options;
      options.accuracy = accuracy;
      options.method = "split";
      const mobility_case of = random_spheres(12, box, 3);
      mobility_subject<double> spheres(of, options, context());
      for (const auto& velocity : spheres.product(of.forces)) ASSERT_TRUE(std::isfinite(squared_norm(velocity)));
    }
  }
}

}  // namespace

}  // namespace quadrat::test
