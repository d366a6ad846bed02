// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "spectral/accuracy.hpp"
#include "spectral/cost.hpp"

// The oversampling and the window of non-uniform transforms go by the constants of the device profile.

namespace quadrat::test {

namespace {

using detail::expected_transform_ms;
using detail::transform_load;

/// On GPUs narrow sums are as fast as the tiles that hold them, and their constant is 0.
[[nodiscard]] device_profile with_factor_of(bool cuda, const std::string& term, double factor) {
  device_profile profile = shipped_profile(cuda);
  constexpr double least = 1e-5;
  double& constant = profile.constants.at("nufft.transform." + term);
  constant = std::max(constant, least) * factor;
  return profile;
}

/// For float transforms.
[[nodiscard]] std::vector<detail::transform_window<float>> windows() {
  return detail::transform_windows<float>({window_shape::prolate, 3, 0, 1e-4, {}});
}

/// The oversampling with the least expected time, for 64^3 modes.
[[nodiscard]] double chosen_by(const device_profile& profile, double points) {
  double best = 0, least = 1e300;
  for (const auto& one : windows()) {
    const double nodes = std::pow(64 * one.oversampling, 3);
    const double ms =
        expected_transform_ms({profile.device.cuda, true, 2, 3, points, nodes, one.window.width, 1}, profile);
    if (ms < least) least = ms, best = one.oversampling;
  }
  return best;
}

TEST(transform_costs, shipped_profiles_have_all_constants) {
  for (const bool cuda : {false, true}) {
    for (const bool single : {false, true}) {
      for (const int width : {5, 8, 9, 16}) {
        EXPECT_TRUE(std::isfinite(expected_transform_ms({cuda, single, 2, 3, 1e6, 1e6, width, 1},  //
                                                        shipped_profile(cuda))));
      }
    }
  }
}

TEST(transform_costs, dear_meshes_are_small_and_dear_sums_have_narrow_windows) {
  const double largest = windows().front().oversampling;
  for (const bool cuda : {false, true}) {
    EXPECT_LT(chosen_by(with_factor_of(cuda, "mesh", 100), 1e5), largest) << cuda;
    EXPECT_EQ(chosen_by(with_factor_of(cuda, "sums", 1e4), 1e7), largest) << cuda;
  }
}

/// In three dimensions on GPUs, where tiles have points, they are those of cubes.
TEST(transform_costs, windows_wider_than_8_have_constants_of_their_own) {
  for (const int dimension : {2, 3}) {
    const device_profile dear = with_factor_of(true, dimension == 2 ? "broad" : "cubes", 10);
    const transform_load narrow{true, true, 2, dimension, 1e7, 1e6, 8, 1},
        broad{true, true, 2, dimension, 1e7, 1e6, 9, 1};
    EXPECT_EQ(expected_transform_ms(narrow, dear), expected_transform_ms(narrow, shipped_profile(true)));
    EXPECT_GT(expected_transform_ms(broad, dear), 2 * expected_transform_ms(broad, shipped_profile(true)));
  }
}

TEST(transform_costs, points_sorted_by_tile_take_as_long_with_all_narrow_windows) {
  const auto ms = [](int width, double points, bool tiled) {
    return expected_transform_ms({true, true, 2, 3, points, 1e6, width, 1, tiled}, shipped_profile(true));
  };
  EXPECT_NEAR(ms(4, 1e6, true), ms(7, 1e6, true), 0.01 * ms(4, 1e6, true));
  EXPECT_GT(ms(7, 1e6, false), 1.5 * ms(4, 1e6, false));
  EXPECT_GT(ms(7, 100, false), ms(4, 100, false)) << "a walk through a footprint";
}

TEST(transform_costs, few_points_under_wide_windows_have_a_way_of_their_own_on_gpus) {
  using detail::few_points_method_of, detail::few_points_method;
  EXPECT_EQ(few_points_method_of({true, false, 2, 2, 1e4, 1e5, 12, 1}), few_points_method::threads);
  EXPECT_EQ(few_points_method_of({true, false, 2, 2, 1e5, 1e5, 12, 1}), few_points_method::none);
  EXPECT_EQ(few_points_method_of({true, false, 2, 3, 300, 1e5, 10, 1}), few_points_method::threads);
  EXPECT_EQ(few_points_method_of({true, false, 2, 3, 3000, 1e5, 10, 1}), few_points_method::tiles);
  EXPECT_EQ(few_points_method_of({true, false, 2, 3, 1e5, 1e5, 10, 1}), few_points_method::none);
  EXPECT_EQ(few_points_method_of({true, false, 2, 3, 300, 1e5, 8, 1}), few_points_method::none) << "narrow";
  EXPECT_EQ(few_points_method_of({false, false, 2, 3, 300, 1e5, 10, 1}), few_points_method::none) << "a CPU";
}

TEST(transform_costs, many_points_are_sorted_by_tile_on_gpus) {
  const device_profile& profile = shipped_profile(true);
  EXPECT_FALSE(detail::sorts_points({true, true, 2, 3, 1e3, 1e6, 6, 1}, profile));
  EXPECT_TRUE(detail::sorts_points({true, true, 2, 3, 1e7, 1e6, 6, 1}, profile));
  EXPECT_FALSE(detail::sorts_points({false, true, 2, 3, 1e7, 1e6, 6, 1}, shipped_profile(false)));
  device_profile dear = profile;
  dear.constants.at("mesh.tiles.points") = 1e3;
  EXPECT_FALSE(detail::sorts_points({true, true, 2, 3, 1e7, 1e6, 6, 1}, dear)) << "by what the profile says";
}

TEST(transform_costs, a_cube_costs_the_same_for_all_windows_that_leave_tiles_as_many_points) {
  const auto ms = [](int width, double nodes) {
    return expected_transform_ms({true, false, 2, 3, 1e7, nodes, width, 1}, shipped_profile(true));
  };
  EXPECT_NEAR(ms(9, 1e6), ms(10, 1e6), 0.2 * ms(9, 1e6));
  EXPECT_GT(ms(14, 7e6), 1.5 * ms(11, 1.7e7)) << "small tiles";
}

TEST(transform_costs, are_explained_by_what_reaches_the_tolerance) {
  const cpu_context context;
  nufft_plan<cpu_context, double, 2> plan(context, {40, 40}, 1e-6);
  const std::vector<double> points(200, 0.5);
  plan.set_points(strided_points<2>(points.data(), 100));
  const explanation why = plan.explanation();
  ASSERT_GE(why.candidates.size(), 2U);
  EXPECT_EQ(why.chosen, why.candidates.front().method);
  EXPECT_EQ(why.chosen, message("oversampling ", plan.oversampling(), ", width ", plan.width()));
  EXPECT_TRUE(std::ranges::is_sorted(why.candidates, {}, &candidate::milliseconds));
  nufft_options options;
  options.oversampling = 1.7;
  const nufft_plan<cpu_context, double, 2> asked(context, {40, 40}, 1e-6, options);
  EXPECT_EQ(asked.explanation().candidates.size(), 1U);
  EXPECT_EQ(asked.explanation().reason, "asked for");
}

}  // namespace

}  // namespace quadrat::test
