// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "mesh/support.hpp"
#include "mesh/tiles/cuda/plan.hpp"
#include "quadrat/mesh/spread_plan.hpp"

// Where there are millions of points, `tiles` on GPUs writes results slice by slice.

namespace quadrat::test {

namespace {

[[nodiscard]] detail::mesh_shape shape_of(int first_axis, int extent, int width) {
  detail::mesh_shape shape{{1, 1, 1}, {1, 1, 1}, {true, true, true}, first_axis};
  for (int axis = first_axis; axis < 3; ++axis) shape.extent[axis] = extent, shape.width[axis] = width;
  return shape;
}

TEST(tile_slices, are_for_more_results_than_a_cache_holds_and_full_tiles) {
  const auto slices = [](const detail::mesh_shape& shape, std::size_t count) {
    return detail::plan_tiles(shape, false, count, false).grid.slices;
  };
  EXPECT_EQ(slices(shape_of(1, 2048, 7), 10'000'000), 3);
  EXPECT_EQ(slices(shape_of(1, 2048, 7), 3'000'000), 1);
  EXPECT_EQ(slices(shape_of(1, 8192, 7), 10'000'000), 1);
  EXPECT_EQ(slices(shape_of(0, 64, 6), 10'000'000), 3);
  EXPECT_EQ(slices(shape_of(0, 128, 6), 10'000'000), 1);
  EXPECT_EQ(slices(shape_of(0, 256, 6), 10'000'000), 1);
  const auto grid = detail::plan_tiles(shape_of(1, 2048, 7), false, 10'000'000, false).grid;
  EXPECT_EQ(9'999'999 / grid.slice_points, 2u);
  EXPECT_EQ(grid.tile_count(), 3 * grid.segment_count());
}

#if QUADRAT_BACKEND_CUDA

class spread_in_slices : public backend_test {};

[[nodiscard]] double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
  }
  return difference / largest;
}

template <int D>
void expect_results_of_another_method(int extent, std::size_t components) {
  auto it = uniform_case<float, D>(3, 4'000'001, extent);
  it.order = 6;
  it.components = components;
  const spread_input<float, D> input(it);
  const auto wanted = run_method(context_at(determinism::none), it, input, "particle");
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    const auto found = run_method(context_at(level), it, input, "tiles");
    EXPECT_LE(largest_difference(found.mesh, wanted.mesh), 1e-4);
    EXPECT_LE(largest_difference(found.values, wanted.values), 1e-5);
    EXPECT_LE(largest_difference(found.gradients, wanted.gradients), 1e-5);
  }
}

TEST_F(spread_in_slices, gives_the_results_of_another_method) {
  if (small_sizes()) {
    GTEST_SKIP() << "slices are for millions of points";
  }
  for (const std::size_t components : {1u, 2u}) {
    expect_results_of_another_method<2>(60, components);
    expect_results_of_another_method<3>(20, components);
  }
}

#endif

}  // namespace

}  // namespace quadrat::test
