// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "support/errors.hpp"

// Guarantees of the methods that take particles one by one, apart from correct sums.

namespace quadrat::test {

namespace {

class spread_particle : public backend_test {};

/// Those of particle, particle_threads and gather that this backend has.
[[nodiscard]] std::vector<std::string> particle_methods() {
  std::vector<std::string> names;
  for (const std::string& name : methods_here()) {
    if (name.starts_with("particle") || name == "gather") names.push_back(name);
  }
  return names;
}

/// A mesh that can be read in units of several mesh points.
template <typename T>
[[nodiscard]] spread_case<T, 3> aligned_case(std::uint64_t seed, std::size_t count, std::size_t components) {
  auto it = uniform_case<T, 3>(seed, count, 16);
  it.components = components;
  return it;
}

/// Whether point i contributes to mesh point `node`, according to the reference.
template <typename T>
[[nodiscard]] std::vector<bool> footprint_of(spread_case<T, 3> it, std::size_t i) {
  it.points = {it.points[i]};
  it.components = 1;
  spread_input<T, 3> input(it);
  input.values = {T(1)};
  const auto wanted = wanted_of(it, input, problem_of(it));
  std::vector<bool> inside;
  for (const long double magnitude : wanted.mesh.magnitude) inside.push_back(magnitude > 0);
  return inside;
}

template <typename T>
void expect_infinity_to_stay(const backend_context& context, const std::string& method, std::uint64_t seed,
                             std::size_t components) {
  const auto it = aligned_case<T>(seed, 40, components);
  SCOPED_TRACE(method + ", " + describe(it));
  spread_input<T, 3> input(it);
  for (std::size_t c = 0; c < components; ++c) input.values[c] = std::numeric_limits<T>::infinity();
  const auto found = run_method(context, it, input, method);
  const auto inside = footprint_of(it, 0);
  for (std::size_t i = 0; i < found.mesh.size(); ++i) {
    ASSERT_EQ(std::isfinite(found.mesh[i]), !inside[i / components]) << "mesh value " << i;
  }
}

TEST_F(spread_particle, values_that_are_not_finite_stay_in_their_footprint) {
  const backend_context context;
  for (const std::string& method : particle_methods()) {
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      expect_infinity_to_stay<float>(context, method, seed, 1 + seed / 8);
      expect_infinity_to_stay<double>(context, method, seed, 1 + seed / 8);
    }
  }
}

template <typename T>
void expect_no_part_of_the_rest(const backend_context& context, std::uint64_t seed, std::size_t components) {
  const auto it = aligned_case<T>(seed, 1, components);
  SCOPED_TRACE(describe(it));
  spread_input<T, 3> input(it);
  const auto before = run_method(context, it, input, "particle");
  const auto inside = footprint_of(it, 0);
  for (std::size_t i = 0; i < input.mesh.size(); ++i) {
    if (!inside[i / components]) input.mesh[i] = std::numeric_limits<T>::quiet_NaN();
  }
  const auto found = run_method(context, it, input, "particle");
  EXPECT_EQ(found.values, before.values);
  EXPECT_EQ(found.gradients, before.gradients);
}

TEST_F(spread_particle, interpolation_ignores_what_stands_beside_the_footprint) {
  const backend_context context;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    expect_no_part_of_the_rest<float>(context, seed, 1 + seed / 16);
    expect_no_part_of_the_rest<double>(context, seed, 1 + seed / 16);
  }
}

TEST_F(spread_particle, without_atomic_operations_a_single_point_is_right) {
  const backend_context context;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const auto it = aligned_case<float>(seed, 1, 1 + seed / 8);
    const spread_input<float, 3> input(it);
#if QUADRAT_BACKEND_CUDA
    const auto wanted = wanted_of(it, input, problem_of(it));
    EXPECT_LT(relative_error(run_method(context, it, input, "particle_racing").mesh, wanted.mesh),
              spread_tolerance<float>);
#else
    const auto message =
        error_of<argument_error>([&] { static_cast<void>(run_method(context, it, input, "particle_racing")); });
    EXPECT_NE(message.find("does not run on the CPU"), std::string::npos) << message;
#endif
  }
}

/// The memory computed in advance equals what is held afterwards.
TEST_F(spread_particle, plans_hold_what_they_said_they_would) {
  const backend_context context;
  for (const std::string& method : particle_methods()) {
    auto it = uniform_case<float, 2>(5, 1000, 40);
    auto plan = make_plan(context, it, method, it.order);
    set_points(context, plan, it);
    it.options.most_bytes = plan.bytes();
    auto same = make_plan(context, it, method, it.order);
    EXPECT_NO_THROW(set_points(context, same, it)) << method;
    it.options.most_bytes -= 1;
    auto less = make_plan(context, it, method, it.order);
    EXPECT_THROW(set_points(context, less, it), argument_error) << method;
  }
}

/// Many more points than mesh points, so that most are in gather's overflow list; then one point, without leftovers of
/// the others.
TEST_F(spread_particle, overflow_lists_are_made_anew) {
  const backend_context context;
  for (const std::string& method : particle_methods()) {
    const auto many = uniform_case<double, 2>(3, 3000, 6);
    const auto one = uniform_case<double, 2>(3, 1, 6);
    auto plan = make_plan(context, many, method, many.order);
    for (const auto& it : {many, one}) {
      set_points(context, plan, it);
      const spread_input<double, 2> input(it);
      const auto wanted = wanted_of(it, input, problem_of(it));
      EXPECT_LT(relative_error(run_plan(context, plan, it, input).mesh, wanted.mesh), spread_tolerance<double>)
          << method;
    }
  }
}

}  // namespace

}  // namespace quadrat::test
