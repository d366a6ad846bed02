// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>

#include "mesh/request.hpp"
#include "mesh/support.hpp"

// What a choice for a mesh is told of the points.

namespace quadrat::test {

namespace {

class mesh_sample : public backend_test {};

/// Of points in a part of the box, the first of them in its corner, for a mesh of 43 x 40 x 40 points.
[[nodiscard]] detail::spread_request sampled(std::size_t count, float part, int width) {
  spread_case<float, 3> it = uniform_case<float, 3>(3, count, 40);
  for (auto& point : it.points) {
    for (int axis = 0; axis < 3; ++axis) point[axis] = -1.5F + part * (point[axis] + 1.5F);
  }
  const backend_context context;
  const points_on_device<float, 3> points(context, it.points);
  workspace<backend_context> scratch;
  detail::spread_request request{};
  request.width = width;
  detail::sample_for(request, context, points.view(), it.domain, it.mesh, scratch);
  return request;
}

TEST_F(mesh_sample, tells_how_many_points_reach_one_mesh_point) {
  EXPECT_NEAR(sampled(1500, 0.04F, 4).reached, 1500, 1) << "in one place";
  EXPECT_NEAR(sampled(30'000, 0.04F, 4).reached, 30'000, 300) << "in one place";
  EXPECT_LT(sampled(1500, 1, 4).reached, 15) << "everywhere";
  // All are in one tile of the sample, but a footprint of two mesh points along an axis reaches an eighth of that.
  const detail::spread_request half = sampled(2000, 0.09F, 2);
  EXPECT_NEAR(half.sample.fullest, 2000, 20);
  EXPECT_LT(half.reached, 0.4 * half.sample.fullest);
}

}  // namespace

}  // namespace quadrat::test
