// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/contacts/collide.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "contacts/colliding_bodies.hpp"

// The narrow phase for known answers and for degenerate bodies.

namespace quadrat::test {

namespace {

using vec3 = vec<double, 3>;

constexpr double half_root = 0.70710678118654752;

[[nodiscard]] body<double> upright(body_shape shape, const vec3& size) {
  return {shape, {}, size, quaternion<double>::identity()};
}
[[nodiscard]] body<double> turned(body_shape shape, const vec3& size, const vec3& about, double angle) {
  const vec3 part = about * std::sin(angle / 2);
  return {shape, {}, size, {std::cos(angle / 2), part[0], part[1], part[2]}};
}

const body<double> ball = upright(body_shape::sphere, {0.5, 0, 0});
const body<double> cube = upright(body_shape::box, {1, 1, 1});
const body<double> small_cube = upright(body_shape::box, {0.5, 0.5, 0.5});
const body<double> standing = upright(body_shape::capsule, {0.25, 1, 0});
/// Its axis points along x.
const body<double> lying = turned(body_shape::capsule, {0.25, 1, 0}, {0, 1, 0}, std::acos(0.0));

[[nodiscard]] contact_manifold<double> met(const body<double>& a, const body<double>& b, const vec3& offset) {
  contact_manifold<double> manifold;
  EXPECT_EQ(collide(a, b, offset, manifold), manifold.count);
  expect_defined(colliding_bodies<double>{a, b, offset}, manifold);
  return manifold;
}

[[nodiscard]] std::multiset<std::uint32_t> features_of(const contact_manifold<double>& manifold) {
  std::multiset<std::uint32_t> features;
  for (int k = 0; k < manifold.count; ++k) features.insert(manifold.points[k].feature);
  return features;
}

void expect_near(const vec3& one, const vec3& other) {
  for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(one[axis], other[axis], 1e-12) << "axis " << axis;
}

void expect_point(const contact_point<double>& point, const vec3& point_a, const vec3& normal, double depth) {
  expect_near(point.point_a, point_a);
  expect_near(point.normal, normal);
  EXPECT_NEAR(point.depth, depth, 1e-12);
}

}  // namespace

TEST(collide_test, sphere_and_box) {
  const auto above = met(ball, cube, {0.1, 0.2, -1.4});
  ASSERT_EQ(above.count, 1);
  expect_point(above.points[0], {0, 0, -0.5}, {0, 0, -1}, 0.1);
  const auto corner = met(ball, cube, {1.1, 1.2, 1.2});
  ASSERT_EQ(corner.count, 1);
  expect_point(corner.points[0], vec3{1, 2, 2} * (0.5 / 3), vec3{1, 2, 2} * (1.0 / 3), 0.2);
  const auto inside = met(ball, cube, {-0.9, 0.2, 0.1});
  ASSERT_EQ(inside.count, 1);
  expect_point(inside.points[0], {-0.5, 0, 0}, {-1, 0, 0}, 0.6);
  EXPECT_EQ(met(ball, cube, {0, 0, -1.5}).count, 0) << "they touch from outside: no overlap";
  EXPECT_EQ(met(ball, cube, {0, 0, -1.4999999}).count, 1);
}

TEST(collide_test, sphere_and_capsule) {
  const auto side = met(ball, standing, {0.6, 0, 0.3});
  ASSERT_EQ(side.count, 1);
  expect_point(side.points[0], {0.5, 0, 0}, {1, 0, 0}, 0.15);
  const auto cap = met(standing, ball, {0, 0.3, 1.4});
  ASSERT_EQ(cap.count, 1);
  expect_point(cap.points[0], vec3{0, 0.15, 1.2}, {0, 0.6, 0.8}, 0.25);
  const auto on_axis = met(ball, standing, {0, 0, 0.5});
  ASSERT_EQ(on_axis.count, 1);
  EXPECT_NEAR(on_axis.points[0].normal[2], 0, 1e-12) << "across the axis";
  EXPECT_NEAR(on_axis.points[0].depth, 0.75, 1e-12);
  EXPECT_EQ(met(ball, standing, {0.75, 0, 0}).count, 0);
}

TEST(collide_test, capsules_that_cross_have_one_contact_across_both_axes) {
  const auto apart = met(standing, lying, {0.2, 0.4, 0.3});
  ASSERT_EQ(apart.count, 1);
  expect_point(apart.points[0], {0, 0.25, 0.3}, {0, 1, 0}, 0.1);
  const auto crossing = met(standing, lying, {0.2, 0, 0.3});
  ASSERT_EQ(crossing.count, 1);
  EXPECT_NEAR(std::fabs(crossing.points[0].normal[1]), 1, 1e-12);
  EXPECT_NEAR(crossing.points[0].depth, 0.5, 1e-12);
}

TEST(collide_test, capsules_side_by_side_have_two_contacts_whatever_the_rounding) {
  const auto beside = met(standing, standing, {0.4, 0, 0.5});
  ASSERT_EQ(beside.count, 2);
  expect_point(beside.points[0], {0.25, 0, -0.5}, {1, 0, 0}, 0.1);
  expect_point(beside.points[1], {0.25, 0, 1}, {1, 0, 0}, 0.1);
  std::mt19937_64 random(3);
  for (int k = 0; k < 200; ++k) {
    const auto noise = [&] { return 1e-6 * (random_unit<double>(random) - 0.5); };
    const auto other = turned(body_shape::capsule, {0.25, 1, 0}, {half_root, half_root, 0}, noise());
    const auto again = met(standing, other, {0.4 + noise(), noise(), 0.5 + noise()});
    ASSERT_EQ(features_of(again), (std::multiset<std::uint32_t>{0, 1}));
  }
  EXPECT_EQ(met(standing, standing, {0, 0, 2.4}).count, 1) << "end to end";
  EXPECT_EQ(met(standing, turned(body_shape::capsule, {0.25, 1, 0}, {1, 0, 0}, 0.2), {0.4, 0, 0}).count, 1);
}

TEST(collide_test, the_contact_that_is_lost_when_a_capsule_tilts_has_come_to_nothing) {
  double least = 1;
  for (double angle = 0; angle < 0.02; angle += 1e-5) {
    const auto tilted = turned(body_shape::capsule, {0.25, 1, 0}, {0, 1, 0}, angle);
    const auto manifold = met(standing, tilted, {0.498, 0, 0});
    ASSERT_GE(manifold.count, 1);
    if (manifold.count == 1) {
      EXPECT_LT(least, 1e-4);
      EXPECT_GT(angle, 1e-3);
      return;
    }
    least = std::fmin(manifold.points[0].depth, manifold.points[1].depth);
  }
  FAIL() << "both contacts stayed";
}

TEST(collide_test, capsule_and_box) {
  const auto on_face = met(lying, cube, {0.5, 0, -1.2});
  ASSERT_EQ(on_face.count, 2);
  expect_point(on_face.points[0], {-0.5, 0, -0.25}, {0, 0, -1}, 0.05);
  expect_point(on_face.points[1], {1, 0, -0.25}, {0, 0, -1}, 0.05);
  EXPECT_EQ(features_of(on_face), (std::multiset<std::uint32_t>{0, 1}));
  const auto on_end = met(cube, standing, {0.5, 0.5, 2.2});
  ASSERT_EQ(on_end.count, 1);
  expect_point(on_end.points[0], {0.5, 0.5, 1}, {0, 0, 1}, 0.05);
  const auto sunk = met(lying, cube, {0.5, 0, -0.9});
  ASSERT_EQ(sunk.count, 2);
  expect_point(sunk.points[0], {-0.5, 0, -0.25}, {0, 0, -1}, 0.35);
  // Through the edge along y, at 45 degrees: across the edge is the shortest way out.
  const auto across = turned(body_shape::capsule, {0.25, 1, 0}, {0, 1, 0}, -std::acos(0.0) / 2);
  const auto over_edge = met(across, cube, vec3{-1, 0, -1} * 0.95);
  ASSERT_EQ(over_edge.count, 1);
  expect_near(over_edge.points[0].normal, vec3{-1, 0, -1} * half_root);
  EXPECT_NEAR(over_edge.points[0].depth, 0.25 + 0.05 / half_root, 1e-12);
  EXPECT_EQ(met(lying, cube, {0, 0, -1.2500001}).count, 0);
}

TEST(collide_test, box_on_box_has_the_corners_of_the_smaller_face) {
  const auto stacked = met(cube, small_cube, {0.1, 0.2, 1.4});
  ASSERT_EQ(stacked.count, 4);
  std::set<std::pair<int, int>> corners;
  for (int k = 0; k < 4; ++k) {
    const auto& point = stacked.points[k];
    expect_near(point.normal, {0, 0, 1});
    EXPECT_NEAR(point.depth, 0.1, 1e-12);
    EXPECT_NEAR(point.point_a[2], 1, 1e-12);
    EXPECT_NEAR(std::fabs(point.point_a[0] - 0.1), 0.5, 1e-12);
    corners.insert({point.point_a[0] > 0.1, point.point_a[1] > 0.2});
  }
  EXPECT_EQ(corners.size(), 4u);
  EXPECT_EQ(met(cube, small_cube, {0, 0, 1.5}).count, 0);
  const auto octagon = met(cube, turned(body_shape::box, {1, 1, 1}, {0, 0, 1}, std::acos(0.0) / 2), {0, 0, 1.9});
  EXPECT_EQ(octagon.count, 8);
}

TEST(collide_test, boxes_in_a_stack_keep_their_features_whatever_the_rounding) {
  std::mt19937_64 random(4);
  const auto first = features_of(met(cube, cube, {0, 0, 1.999}));
  EXPECT_EQ(first.size(), 4u);
  for (int k = 0; k < 200; ++k) {
    const auto noise = [&] { return 1e-5 * (random_unit<double>(random) - 0.5); };
    const auto other = turned(body_shape::box, {1, 1, 1}, {half_root, 0, half_root}, noise());
    ASSERT_EQ(features_of(met(cube, other, {noise(), noise(), 1.999 + noise()})), first);
  }
}

TEST(collide_test, box_edges_that_cross_have_one_contact) {
  const auto edge_up = turned(body_shape::box, {1, 1, 1}, {1, 0, 0}, std::acos(0.0) / 2);
  const auto edge_down = turned(body_shape::box, {1, 1, 1}, {0, 1, 0}, std::acos(0.0) / 2);
  const auto edges = met(edge_up, edge_down, {0.3, 0.2, 2 / half_root - 0.1});
  ASSERT_EQ(edges.count, 1);
  expect_point(edges.points[0], {0.3, 0, 1 / half_root}, {0, 0, 1}, 0.1);
  EXPECT_EQ(met(edge_up, edge_down, {0.3, 0.2, 2 / half_root}).count, 0);
  EXPECT_GE(edges.points[0].feature, clipped_features);
}

TEST(collide_test, ellipsoid_and_box) {
  const auto egg = upright(body_shape::ellipsoid, {1, 2, 0.5});
  const auto on_face = met(egg, cube, {0.3, 0.4, -1.4});
  ASSERT_EQ(on_face.count, 1);
  expect_point(on_face.points[0], {0, 0, -0.5}, {0, 0, -1}, 0.1);
  const auto corner = met(upright(body_shape::ellipsoid, {0.5, 0.5, 0.5}), cube, {1.1, 1.2, 1.2});
  ASSERT_EQ(corner.count, 1);
  EXPECT_NEAR(corner.points[0].depth, 0.2, 1e-12) << "as a sphere";
  expect_near(corner.points[0].normal, vec3{1, 2, 2} * (1.0 / 3));
  const auto within = met(cube, upright(body_shape::ellipsoid, {0.1, 0.2, 0.3}), {0.5, 0, 0});
  ASSERT_EQ(within.count, 1);
  expect_near(within.points[0].normal, {1, 0, 0});
  EXPECT_NEAR(within.points[0].depth, 0.6, 1e-12);
  EXPECT_EQ(met(egg, cube, {0, 0, -1.5}).count, 0);
}

TEST(collide_test, ellipsoid_and_capsule) {
  const auto egg = upright(body_shape::ellipsoid, {1, 2, 0.5});
  const auto on_top = met(egg, lying, {0.2, 0, 0.7});
  ASSERT_EQ(on_top.count, 1);
  expect_point(on_top.points[0], {0, 0, 0.5}, {0, 0, 1}, 0.05);
  const auto at_end = met(standing, egg, {0, 0, -1.7});
  ASSERT_EQ(at_end.count, 1);
  expect_point(at_end.points[0], {0, 0, -1.25}, {0, 0, -1}, 0.05);
  const auto round = met(upright(body_shape::ellipsoid, {0.5, 0.5, 0.5}), standing, {0.6, 0, 0.3});
  ASSERT_EQ(round.count, 1);
  expect_point(round.points[0], {0.5, 0, 0}, {1, 0, 0}, 0.15);
  EXPECT_EQ(met(egg, lying, {0, 0, 0.75}).count, 0);
}

TEST(collide_test, walls) {
  const plane<double> floor{{0, 0, 1}, -2, 0};
  const auto standing_on = [&](body<double> a, double height) {
    a.center = {5, 6, height - 2};
    contact_manifold<double> manifold;
    EXPECT_EQ(collide_with_plane(a, floor, manifold), manifold.count);
    expect_defined(colliding_bodies<double>{a, a, {}}, manifold);
    return manifold;
  };
  const auto sphere = standing_on(ball, 0.4);
  ASSERT_EQ(sphere.count, 1);
  expect_point(sphere.points[0], {0, 0, -0.5}, {0, 0, -1}, 0.1);
  EXPECT_EQ(standing_on(ball, 0.5).count, 0);
  EXPECT_EQ(standing_on(ball, -3).count, 1) << "a wall is solid all the way down";
  const auto capsule = standing_on(standing, 1.2);
  ASSERT_EQ(capsule.count, 1);
  EXPECT_EQ(capsule.points[0].feature, 0u);
  const auto flat = standing_on(lying, 0.2);
  ASSERT_EQ(flat.count, 2);
  expect_point(flat.points[1], {1, 0, -0.25}, {0, 0, -1}, 0.05);
  EXPECT_EQ(features_of(flat), (std::multiset<std::uint32_t>{0, 1}));
  EXPECT_EQ(features_of(standing_on(cube, 0.9)), (std::multiset<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(standing_on(cube, -0.9).count, 4);
  EXPECT_EQ(standing_on(cube, -2).count, 8);
  EXPECT_EQ(standing_on(cube, 1).count, 0);
  const auto egg = standing_on(upright(body_shape::ellipsoid, {1, 2, 0.5}), 0.4);
  ASSERT_EQ(egg.count, 1);
  expect_point(egg.points[0], {0, 0, -0.5}, {0, 0, -1}, 0.1);
}

TEST(collide_test, a_capsule_without_length_is_a_sphere) {
  const auto short_one = turned(body_shape::capsule, {0.5, 0, 7}, {0, 0, 1}, 1);
  std::mt19937_64 random(5);
  for (const body_shape shape : all_shapes) {
    for (int k = 0; k < 100; ++k) {
      const auto c = random_pair<double>(random, body_shape::sphere, shape, {2, 1, 0.5});
      const auto expected = met(ball, c.b, c.offset), given = met(short_one, c.b, c.offset);
      ASSERT_EQ(given.count, expected.count) << "shape " << static_cast<int>(shape);
      if (given.count == 0) continue;
      ASSERT_NEAR(given.points[0].depth, expected.points[0].depth, 1e-7);
    }
  }
}

TEST(collide_test, degenerate_pairs_have_defined_contacts) {
  std::mt19937_64 random(6);
  const auto make = [&](body_shape shape, double size) { return random_body<double>(random, shape, size, 3); };
  for (const body_shape shape_a : all_shapes) {
    for (const body_shape shape_b : all_shapes) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(shape_a) << " and " << static_cast<int>(shape_b));
      for (const double ratio : {1.0, 1e-3, 1e3}) {
        const auto a = make(shape_a, 1), b = make(shape_b, ratio);
        EXPECT_GE(met(a, b, {}).count, 1) << "concentric";
        EXPECT_GE(met(a, b, {0, 1e-200, 0}).count, 1);
        EXPECT_GE(met(a, b, {1e-9, 0, -1e-9}).count, 1);
        EXPECT_GE(met(a, b, {0, 0.1, 0}).count, 1) << "nested, where sizes differ";
        auto aligned = b;
        aligned.orientation = a.orientation;
        EXPECT_GE(met(a, aligned, {}).count, 1) << "of one orientation";
      }
      const auto same = make(shape_a, 1);
      EXPECT_GE(met(same, same, {}).count, 1) << "identical";
    }
  }
}

TEST(collide_test, flat_boxes) {
  const auto sheet = upright(body_shape::box, {1, 1, 1e-9});
  EXPECT_EQ(met(sheet, sheet, {0.5, 0.5, 1e-9}).count, 4);
  EXPECT_EQ(met(sheet, sheet, {0.5, 0.5, 2e-9}).count, 0);
  EXPECT_GE(met(sheet, turned(body_shape::box, {1, 1, 1e-9}, {1, 0, 0}, 1), {0, 0.1, 0}).count, 1);
  EXPECT_EQ(met(ball, sheet, {0.3, 0.1, 0.4}).count, 1);
  EXPECT_EQ(met(ball, sheet, {0.3, 0.1, 0}).count, 1);
  EXPECT_GE(met(standing, sheet, {0.3, 0.1, 0.4}).count, 1);
}

TEST(collide_test, offsets_that_are_no_numbers_are_no_contacts) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const body_shape shape_a : all_shapes) {
    for (const body_shape shape_b : all_shapes) {
      const auto a = upright(shape_a, {1, 1, 1}), b = upright(shape_b, {1, 1, 1});
      for (const double value : {infinity, -infinity, nan, 1e300}) EXPECT_EQ(met(a, b, {0, value, 0}).count, 0);
    }
  }
}

TEST(sizes_are_sound_test, asks_for_what_a_shape_uses) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto sound = [](body_shape shape, const vec<float, 3>& size, float squared = 1) {
    return sizes_are_sound(shape, size, squared);
  };
  for (const body_shape shape : all_shapes) {
    EXPECT_TRUE(sound(shape, {1, 2, 3}));
    for (const float bad : {0.0f, -1.0f, nan, infinity, 1e-30f, 1e30f}) EXPECT_FALSE(sound(shape, {bad, 2, 3}));
    for (const float squared : {0.0f, nan, infinity, 1e-40f, -1.0f}) EXPECT_FALSE(sound(shape, {1, 2, 3}, squared));
    EXPECT_TRUE(sound(shape, {1, 2, 3}, 1e-20f));
  }
  EXPECT_TRUE(sound(body_shape::sphere, {1, nan, nan}));
  EXPECT_TRUE(sound(body_shape::capsule, {1, 0, nan}));
  EXPECT_FALSE(sound(body_shape::capsule, {1, -1, 1}));
  EXPECT_FALSE(sound(body_shape::capsule, {1, nan, 1}));
  EXPECT_FALSE(sound(body_shape::box, {1, 0, 1}));
  EXPECT_FALSE(sound(body_shape::box, {1, 1, nan}));
  EXPECT_TRUE(sound(body_shape::box, {1, 1e-6f, 1}));
  EXPECT_TRUE(sound(body_shape::ellipsoid, {1, 1.1e-4f, 1}));
  EXPECT_FALSE(sound(body_shape::ellipsoid, {1, 0.9e-4f, 1})) << "too slender";
  for (const int unknown : {4, 7, 255}) EXPECT_FALSE(sound(static_cast<body_shape>(unknown), {1, 2, 3}));
}

}  // namespace quadrat::test
