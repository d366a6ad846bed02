// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/models/granular.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

constexpr std::array<double, 3> lower{-1, -1, -1};
constexpr std::array<double, 3> upper{1, 1, 1};
constexpr double start_radius = 1.0 / 64;

std::string start_error(granular_start start, std::size_t count, const std::array<double, 3>& top) {
  return error_of<argument_error>(
      [&] { static_cast<void>(granular_initial_positions(start, count, start_radius, lower, top)); });
}

TEST(granular_start, lattice_fills_x_first_with_touching_grains) {
  const auto points = granular_initial_positions(granular_start::lattice, 20, start_radius, lower, upper, 0);
  ASSERT_EQ(points.size(), 20u);  // side 3
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::array<std::size_t, 3> at{i % 3, i / 3 % 3, i / 9};
    for (int axis = 0; axis < 3; ++axis) {
      const auto k = static_cast<double>(at[static_cast<std::size_t>(axis)]);
      EXPECT_DOUBLE_EQ(points[i][axis], -1 + start_radius + k * 2 * start_radius);
    }
  }
}

TEST(granular_start, jitter_is_a_hundredth_of_a_radius_and_uniform) {
  const auto plain = granular_initial_positions(granular_start::lattice, 4096, start_radius, lower, upper, 0);
  const auto moved = granular_initial_positions(granular_start::lattice, 4096, start_radius, lower, upper);
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const double shift = (moved[i][axis] - plain[i][axis]) / (0.01 * start_radius);
      EXPECT_LE(std::fabs(shift), 1 + 1e-9);
      sum += shift;
      squares += shift * shift;
    }
  }
  EXPECT_NEAR(sum / (3 * 4096), 0, 0.03);
  EXPECT_NEAR(squares / (3 * 4096), 1.0 / 3, 0.02);
}

TEST(granular_start, numbers_are_the_same_on_every_platform) {
  const auto points =
      granular_initial_positions(granular_start::uniform_random, 2, start_radius, lower, upper, 0.01, 7);
  EXPECT_DOUBLE_EQ(points[0][0], 0.43609423056603513);
  EXPECT_DOUBLE_EQ(points[1][2], 0.92746209397049229);
  const auto other = granular_initial_positions(granular_start::uniform_random, 2, start_radius, lower, upper, 0.01, 8);
  EXPECT_NE(points[0][0], other[0][0]);
}

TEST(granular_start, lattice_takes_exactly_as_many_as_the_box_holds) {
  EXPECT_EQ(granular_initial_positions(granular_start::lattice, 262144, start_radius, lower, upper).size(), 262144u);
  const std::string error = start_error(granular_start::lattice, 262145, upper);
  EXPECT_NE(error.find("64 x 64 x 64 = 262144"), std::string::npos) << error;
}

TEST(granular_start, lattice_in_a_flat_box_uses_its_length) {
  const std::array<double, 3> flat{7, -0.5, 1};  // 8 x 0.5 x 2: 256 x 16 x 64 grains
  const auto points = granular_initial_positions(granular_start::lattice, 30000, start_radius, lower, flat, 0);
  for (const auto& point : points) {
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_GE(point[axis], -1 + start_radius - 1e-12);
      EXPECT_LE(point[axis], flat[static_cast<std::size_t>(axis)] - start_radius + 1e-12);
    }
  }
  EXPECT_DOUBLE_EQ(points[255][0], 7 - start_radius);
}

TEST(granular_start, box_smaller_than_a_grain_is_refused) {
  const std::array<double, 3> thin{1, -0.99, 1};
  for (const granular_start start :
       {granular_start::lattice, granular_start::left_half, granular_start::uniform_random}) {
    const std::string error = start_error(start, 1, thin);
    EXPECT_NE(error.find("along axis 1"), std::string::npos) << error;
  }
  for (const double wrong : {-1.0, double{NAN}}) {
    EXPECT_THROW(static_cast<void>(granular_initial_positions(granular_start::lattice, 1, wrong, lower, upper)),
                 argument_error);
  }
}

TEST(granular_start, left_half_is_even_at_every_density) {
  for (const std::size_t count : {1u, 7u, 1000u, 65536u, 600000u}) {
    const auto points = granular_initial_positions(granular_start::left_half, count, start_radius, lower, upper);
    ASSERT_EQ(points.size(), count);
    std::array<std::size_t, 8> octant{};
    for (const auto& point : points) {
      EXPECT_GE(point[0], -1 + start_radius * 0.98);
      EXPECT_LE(point[0], 0.02 * start_radius);
      for (int axis = 1; axis < 3; ++axis) EXPECT_LE(std::fabs(point[axis]), 1 - start_radius * 0.98);
      octant[(point[0] > -0.5 + start_radius / 2 ? 1u : 0u) + (point[1] > 0 ? 2u : 0u) + (point[2] > 0 ? 4u : 0u)]++;
    }
    if (count < 1000) continue;
    for (const std::size_t inside : octant) {
      EXPECT_NEAR(static_cast<double>(inside), static_cast<double>(count) / 8, 0.1 * static_cast<double>(count));
    }
  }
}

TEST(granular_start, uniform_random_stays_inside) {
  const auto points = granular_initial_positions(granular_start::uniform_random, 10000, start_radius, lower, upper);
  vec<double, 3> sum{};
  for (const auto& point : points) {
    for (int axis = 0; axis < 3; ++axis) EXPECT_LE(std::fabs(point[axis]), 1 - start_radius);
    sum += point;
  }
  for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(sum[axis] / 10000, 0, 0.02);
}

TEST(granular_start, no_grains_are_no_points) {
  EXPECT_TRUE(granular_initial_positions(granular_start::left_half, 0, start_radius, lower, upper).empty());
}

TEST(granular_parameters, impossible_values_are_named) {
  const auto complaint = [](auto change) -> std::string {
    granular_parameters parameters;
    change(parameters);
    try {
      check(parameters);
    } catch (const argument_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(complaint([](auto&) {}), "");
  EXPECT_NE(complaint([](auto& p) { p.radius = 0; }).find("radius"), std::string::npos);
  EXPECT_NE(complaint([](auto& p) { p.time_step = INFINITY; }).find("time step"), std::string::npos);
  EXPECT_NE(complaint([](auto& p) { p.gravity[2] = NAN; }).find("gravity"), std::string::npos);
  EXPECT_NE(complaint([](auto& p) { p.spring = NAN; }).find("spring"), std::string::npos);
  EXPECT_NE(complaint([](auto& p) { p.collider = {{0, 0, 0}, -1}; }).find("collider"), std::string::npos);
}

TEST(granular_methods, the_default_is_counting_on_the_cpu_at_every_level) {
  for (const determinism level : {determinism::none, determinism::run_to_run, determinism::canonical}) {
    cpu_context::options options;
    options.reproducibility = level;
    EXPECT_EQ(granular_default_method(cpu_context(options)), "counting");
  }
}

TEST(granular_methods, every_name_is_once_there_with_a_summary) {
  std::vector<std::string_view> names;
  for (const granular_method& method : granular_methods()) {
    EXPECT_FALSE(method.summary.empty()) << method.name;
    for (const std::string_view name : names) EXPECT_NE(name, method.name);
    names.push_back(method.name);
  }
  for (const std::string_view name : {"fixed", "counting", "sorted", "linked_loose", "linked_packed", "linked_tight"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

}  // namespace

}  // namespace quadrat::test
