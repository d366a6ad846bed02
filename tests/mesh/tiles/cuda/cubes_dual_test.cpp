// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "mesh/exact_window.hpp"
#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"

// Long footprints of many points in three dimensions, which `tiles` on a GPU spreads to and reads from cubes of the
// mesh.

namespace quadrat::test {

namespace {

template <typename T>
class long_footprints : public backend_test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(long_footprints, precisions);

template <typename T>
void expect_long_footprints(std::uint64_t seed, int width, const vec<int, 3>& mesh, std::size_t count) {
  spread_case<T, 3> it = uniform_case<T, 3>(seed, count, 24);
  it.mesh = mesh;
  it.domain.periodic = {seed % 2 == 0, seed % 3 != 0, seed % 5 != 0};
  it.options.clip = true;
  it.components = 1 + seed % 2;
  it.vectors = 1 + seed % 3;
  it.accumulate = seed % 4 == 1;
  it.signed_values = true;
  const auto window = named_window<T>(window_shape::prolate, width);
  const spread_input<T, 3> input(it);
  const auto wanted = wanted_of(it, input, problem_of(it, exact_window(window)));
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    SCOPED_TRACE(message("width ", width, ", ", describe(it)));
    const backend_context context = context_at(level);
    const auto found = run_method(context, it, input, "tiles", window);
    expect_agreement(found, wanted, 5 * spread_tolerance<T>);
    if (level == determinism::none) continue;
    EXPECT_TRUE(same_bits(run_method(context, it, input, "tiles", window).mesh, found.mesh));
  }
}

TYPED_TEST(long_footprints, of_all_widths_agree_with_the_reference) {
  std::uint64_t seed = 0;
  for (const int width : {8, 9, 10, 11, 12, 13, 14, 15, 16}) {
    expect_long_footprints<TypeParam>(++seed, width, {20, 23, 26}, gpu_size_or(2500, 900));
  }
}

TYPED_TEST(long_footprints, wrap_around_meshes_that_are_shorter_than_cubes) {
  std::uint64_t seed = 40;
  for (const int width : {9, 11, 14, 16}) {
    expect_long_footprints<TypeParam>(++seed, width, {7, 30, 5}, gpu_size_or(1200, 500));
    expect_long_footprints<TypeParam>(++seed, width, {33, 3, 18}, gpu_size_or(1200, 500));
  }
}

/// More tiles than a segment has, and units that end within a tile.
TYPED_TEST(long_footprints, of_long_meshes_pass_from_tile_to_tile) {
  std::uint64_t seed = 80;
  for (const int width : {10, 13, 15}) {
    expect_long_footprints<TypeParam>(++seed, width, {150, 17, 16}, gpu_size_or(5000, 2000));
  }
}

}  // namespace

}  // namespace quadrat::test
