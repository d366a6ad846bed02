// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/contacts/ellipsoid_contact.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "contacts/random_ellipsoids.hpp"

namespace quadrat::test {

namespace {

using reference::solid;
using reference::vector3;

/// Rounding, relative to the longest half-axis.
template <typename T>
constexpr double accuracy = sizeof(T) == 4 ? 4e-6 : 4e-14;

template <typename T>
double longest_of(const ellipsoid_case<T>& c) {
  return std::max(solid(c.a).longest(), solid(c.b).longest());
}

double flatness_of(const solid& s) { return s.shortest() / s.longest(); }

/// Invariants of every contact, however degenerate: a unit normal, and points `depth` apart along it.
template <typename T>
void expect_defined(const ellipsoid_case<T>& c, const contact_point<T>& point) {
  const vector3 offset = cast<double>(c.offset), normal = cast<double>(point.normal);
  const vector3 gap = cast<double>(point.point_a) - cast<double>(point.point_b);
  const double tolerance = accuracy<T> * longest_of(c);
  ASSERT_GT(point.depth, T(0));
  ASSERT_NEAR(std::sqrt(squared_norm(normal)), 1, accuracy<T>);
  ASSERT_LT(std::sqrt(squared_norm(gap - normal * static_cast<double>(point.depth))), tolerance);
  ASSERT_NEAR(point.depth, reference::separation_depth(solid(c.a), solid(c.b), offset, normal), tolerance);
}

/// Expects the points on both surfaces, with a common normal.
template <typename T>
void expect_sound(const ellipsoid_case<T>& c, const contact_point<T>& point) {
  ASSERT_NO_FATAL_FAILURE(expect_defined(c, point));
  const solid a(c.a), b(c.b);
  const vector3 offset = cast<double>(c.offset), normal = cast<double>(point.normal);
  const vector3 point_a = cast<double>(point.point_a), point_b = cast<double>(point.point_b);
  const double tolerance = accuracy<T> * longest_of(c);
  ASSERT_LT(std::fabs(a.distance(point_a)), tolerance);
  ASSERT_LT(std::fabs(b.distance(point_b - offset)), tolerance);
  // Points shift along flat surfaces by the rounding of the normal times the radius of curvature.
  const double flatness = std::min(flatness_of(a), flatness_of(b));
  ASSERT_LT(std::sqrt(squared_norm(point_a - a.support(normal))), 2 * tolerance / flatness);
  ASSERT_LT(std::sqrt(squared_norm(point_b - offset + b.support(normal))), 2 * tolerance / flatness);
}

/// No nearby direction has less depth: descent from the normal gains nothing.
template <typename T>
void expect_least_nearby(const ellipsoid_case<T>& c, const contact_point<T>& point) {
  const solid a(c.a), b(c.b);
  const vector3 offset = cast<double>(c.offset), normal = cast<double>(point.normal);
  const double nearby = 0.01 * std::min(flatness_of(a), flatness_of(b));
  ASSERT_NEAR(reference::walk_downhill(a, b, offset, normal, nearby), point.depth, accuracy<T> * longest_of(c));
}

const ellipsoid_mix ellipsoid_mixes[] = {{3, 1, 0.3, 1.2},  {3, 1, 0.95, 1.0},   {3, 1, 0, 0.5},
                                         {30, 1, 0.2, 1.1}, {100, 1, 0, 0.3},    {100, 1, 0.3, 1.1},
                                         {3, 1000, 0, 1.1}, {100, 1000, 0, 1.1}, {1.001, 1, 0, 1.1}};

}  // namespace

template <typename T>
class ellipsoid_contact : public testing::Test {};
using scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(ellipsoid_contact, scalars);

TYPED_TEST(ellipsoid_contact, is_found_exactly_where_the_contact_function_is_below_one) {
  using T = TypeParam;
  for (const ellipsoid_mix& mix : ellipsoid_mixes) {
    int touching = 0;
    const auto cases = random_ellipsoids<T>(mix, 1000, 1);
    for (const ellipsoid_case<T>& c : cases) {
      const double grown = std::sqrt(reference::contact_value(solid(c.a), solid(c.b), cast<double>(c.offset)));
      const bool touch = ellipsoids_touch(c.a, c.b, c.offset);
      touching += touch;
      // The bodies grow by their reaches in that ratio; cases within the accuracy of the depth are undecided.
      const double shortest = std::min(solid(c.a).shortest(), solid(c.b).shortest());
      if (std::fabs(grown - 1) * shortest > accuracy<T> * longest_of(c)) {
        ASSERT_EQ(touch, grown < 1) << grown;
      }
    }
    EXPECT_GT(touching, 100);
  }
}

TYPED_TEST(ellipsoid_contact, lies_on_both_surfaces_with_a_common_normal_where_depth_is_least_nearby) {
  using T = TypeParam;
  for (const ellipsoid_mix& mix : ellipsoid_mixes) {
    for (const ellipsoid_case<T>& c : random_ellipsoids<T>(mix, 1000, 2)) {
      contact_point<T> point{};
      const bool contact = ellipsoids_contact(c.a, c.b, c.offset, point);
      ASSERT_EQ(contact, ellipsoids_touch(c.a, c.b, c.offset));
      if (!contact) continue;
      ASSERT_NO_FATAL_FAILURE(expect_sound(c, point)) << "aspect " << mix.aspect << " ratio " << mix.size_ratio;
      ASSERT_NO_FATAL_FAILURE(expect_least_nearby(c, point)) << "aspect " << mix.aspect;
    }
  }
}

TYPED_TEST(ellipsoid_contact, has_the_least_depth_of_all_directions_where_bodies_are_round_and_overlap_little) {
  using T = TypeParam;
  for (const ellipsoid_case<T>& c : random_ellipsoids<T>({3, 2, 0.85, 1.0}, 300, 3)) {
    contact_point<T> point{};
    if (!ellipsoids_contact(c.a, c.b, c.offset, point)) continue;
    ASSERT_NEAR(reference::least_depth(solid(c.a), solid(c.b), cast<double>(c.offset), 1000), point.depth,
                accuracy<T> * longest_of(c));
  }
}

TYPED_TEST(ellipsoid_contact, is_mirrored_when_bodies_are_swapped) {
  using T = TypeParam;
  for (const ellipsoid_mix& mix : {ellipsoid_mixes[0], ellipsoid_mixes[1], ellipsoid_mixes[6]}) {
    for (const ellipsoid_case<T>& c : random_ellipsoids<T>(mix, 1000, 4)) {
      contact_point<T> point{}, mirrored{};
      const bool contact = ellipsoids_contact(c.a, c.b, c.offset, point);
      ASSERT_EQ(ellipsoids_contact(c.b, c.a, c.offset * T(-1), mirrored), contact);
      if (!contact) continue;
      ASSERT_NEAR(point.depth, mirrored.depth, accuracy<T> * longest_of(c));
    }
  }
}

TYPED_TEST(ellipsoid_contact, depth_goes_to_zero_where_the_overlap_ends) {
  using T = TypeParam;
  // Needles and disks that barely touch have other local minima, far from 0.
  for (const auto& [mix, margin] :
       {std::pair{ellipsoid_mix{3, 1, 1, 1}, 0.001}, {ellipsoid_mix{1000, 1000, 1, 1}, 0.01}}) {
    for (ellipsoid_case<T>& c : random_ellipsoids<T>(mix, 3000, 5)) {
      const double grown = std::sqrt(reference::contact_value(solid(c.a), solid(c.b), cast<double>(c.offset)));
      c.offset = c.offset * static_cast<T>((1 - margin) / grown);
      contact_point<T> point{};
      ASSERT_TRUE(ellipsoids_contact(c.a, c.b, c.offset, point));
      // Shrinking both by the margin ends the contact, and changes no reach by more than that.
      ASSERT_LT(point.depth, 1.1 * margin * (solid(c.a).longest() + solid(c.b).longest()));
      c.offset = c.offset * static_cast<T>((1 + margin) / (1 - margin));
      ASSERT_FALSE(ellipsoids_contact(c.a, c.b, c.offset, point));
    }
  }
}

TYPED_TEST(ellipsoid_contact, along_common_axes_is_what_is_left_between_the_centers) {
  using T = TypeParam;
  const body<T> a{body_shape::ellipsoid, {}, {T(1), T(2), T(3)}, quaternion<T>::identity()};
  const body<T> b{body_shape::ellipsoid, {}, {T(2), T(1), T(1)}, quaternion<T>::identity()};
  const body<T> ball{body_shape::sphere, {}, {T(0.5)}, quaternion<T>{T(0.5), T(0.5), T(0.5), T(0.5)}};
  for (int axis = 0; axis < 3; ++axis) {
    for (const T sign : {T(-1), T(1)}) {
      for (const auto& [first, second, size] :
           {std::tuple{a, b, a.size[axis] + b.size[axis]}, std::tuple{a, ball, a.size[axis] + T(0.5)},
            std::tuple{ball, a, a.size[axis] + T(0.5)}}) {
        vec<T, 3> offset{}, normal{};
        normal[axis] = sign;
        contact_point<T> point{};
        offset[axis] = sign * size;
        EXPECT_FALSE(ellipsoids_touch(first, second, offset)) << "bodies that only touch are not in contact";
        EXPECT_FALSE(ellipsoids_contact(first, second, offset, point));
        offset[axis] = sign * (size - T(0.0625));
        ASSERT_TRUE(ellipsoids_contact(first, second, offset, point));
        EXPECT_EQ(point.normal, normal);
        EXPECT_EQ(point.depth, T(0.0625));
        EXPECT_EQ(point.point_a[axis], sign * first.size[first.shape == body_shape::sphere ? 0 : axis]);
        EXPECT_EQ(point.point_b[axis], point.point_a[axis] - sign * T(0.0625));
      }
    }
  }
}

TYPED_TEST(ellipsoid_contact, of_spheres_is_sphere_contact_and_of_equal_half_axes_nearly_so) {
  using T = TypeParam;
  const body<T> ball{body_shape::sphere, {}, {T(1.5)}, quaternion<T>::identity()};
  body<T> round{body_shape::ellipsoid, {}, {T(1.5), T(1.5), T(1.5)}, {T(0.8), T(0), T(0.6), T(0)}};
  const vec<T, 3> offset{T(0.7), T(-1.9), T(1.1)};
  contact_point<T> exact{}, near{};
  ASSERT_TRUE(ellipsoids_contact(ball, ball, offset, exact));
  const contact_point<T> expected = sphere_contact(offset, T(1.5), T(1.5));
  EXPECT_EQ(exact.normal, expected.normal);
  EXPECT_EQ(exact.depth, expected.depth);
  ASSERT_TRUE(ellipsoids_contact(ball, round, offset, near));
  EXPECT_NEAR(near.depth, expected.depth, accuracy<T>);
  ASSERT_TRUE(ellipsoids_contact(round, round, offset, near));
  EXPECT_NEAR(near.depth, expected.depth, accuracy<T>);
  for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(near.normal[axis], expected.normal[axis], accuracy<T>);
}

TYPED_TEST(ellipsoid_contact, has_an_answer_for_concentric_identical_and_nested_bodies) {
  using T = TypeParam;
  const auto tiny = static_cast<T>(sizeof(T) == 4 ? 1e-30 : 1e-200);
  const vec<T, 3> sizes[] = {{T(1), T(1), T(1)},    {T(1), T(2), T(3)},          {T(3), T(1), T(2)},
                             {T(100), T(1), T(1)},  {T(1), T(100), T(100)},      {T(1e-3), T(1e-3), T(1e-3)},
                             {T(1), T(2e-2), T(1)}, {T(1e-3), T(2e-3), T(3e-3)}, {T(1000), T(1000), T(900)}};
  const quaternion<T> turns[] = {quaternion<T>::identity(), normalized(quaternion<T>{T(1), T(2), T(3), T(4)}),
                                 normalized(quaternion<T>{T(1), T(1), T(0), T(0)})};
  const vec<T, 3> offsets[] = {{T(0), T(0), T(0)}, {tiny, T(0), tiny}, {T(0), T(0), T(1e-6)}, {T(1e-4), T(2e-4), T(0)}};
  for (const vec<T, 3>& size_a : sizes) {
    for (const vec<T, 3>& size_b : sizes) {
      for (const quaternion<T>& turn_a : turns) {
        for (const quaternion<T>& turn_b : turns) {
          for (const vec<T, 3>& offset : offsets) {
            const ellipsoid_case<T> c{
                {body_shape::ellipsoid, {}, size_a, turn_a}, {body_shape::ellipsoid, {}, size_b, turn_b}, offset};
            contact_point<T> point{};
            ASSERT_TRUE(ellipsoids_touch(c.a, c.b, offset));
            ASSERT_TRUE(ellipsoids_contact(c.a, c.b, offset, point));
            ASSERT_NO_FATAL_FAILURE(expect_defined(c, point));
            if (std::min(flatness_of(solid(c.a)), flatness_of(solid(c.b))) < 0.1) continue;
            ASSERT_NO_FATAL_FAILURE(expect_sound(c, point));
            ASSERT_NO_FATAL_FAILURE(expect_least_nearby(c, point));
          }
        }
      }
    }
  }
}

TYPED_TEST(ellipsoid_contact, leaves_the_axis_of_needles_that_overlap_by_more_than_their_tips) {
  using T = TypeParam;
  const body<T> needle{body_shape::ellipsoid, {}, {T(10), T(1), T(0.9)}, quaternion<T>::identity()};
  contact_point<T> point{};
  ASSERT_TRUE(ellipsoids_contact(needle, needle, {T(10), T(0), T(0)}, point));
  EXPECT_LT(point.depth, T(1.8)) << "sideways, not by 10 along the axis";
  EXPECT_NEAR(point.depth, reference::least_depth(solid(needle), solid(needle), {10, 0, 0}, 4000), 10 * accuracy<T>);
}

TYPED_TEST(ellipsoid_contact, scales_with_the_unit_of_length) {
  using T = TypeParam;
  for (const double unit : {1e-9, 1e-6, 1e6, 1e8}) {
    for (ellipsoid_case<T>& c : random_ellipsoids<T>({3, 1, 0.3, 1.1}, 200, 6)) {
      contact_point<T> point{}, scaled{};
      const bool contact = ellipsoids_contact(c.a, c.b, c.offset, point);
      if (contact && point.depth < T(1e-5)) continue;
      c.a.size = c.a.size * static_cast<T>(unit);
      c.b.size = c.b.size * static_cast<T>(unit);
      c.offset = c.offset * static_cast<T>(unit);
      ASSERT_EQ(ellipsoids_contact(c.a, c.b, c.offset, scaled), contact) << unit;
      if (contact) {
        ASSERT_NEAR(scaled.depth / unit, point.depth, 3 * accuracy<T>) << unit;
      }
    }
  }
}

TYPED_TEST(ellipsoid_contact, has_an_answer_for_all_sizes_that_are_sound) {
  using T = TypeParam;
  std::mt19937_64 generator(9);
  const auto power = [&](double low, double high) {
    return std::pow(10.0, low + (high - low) * random_unit<double>(generator));
  };
  const double least = std::log10(smallest_length<T>), most = std::log10(largest_length<T> / most_slender<T>);
  for (int k = 0; k < 20'000; ++k) {
    ellipsoid_case<T> c{};
    c.a = random_ellipsoid<T>(generator, most_slender<T>, power(least, most));
    c.b = random_ellipsoid<T>(generator, most_slender<T>, power(least, most));
    const double distance = (k % 2 == 0 ? solid(c.a) : solid(c.b)).longest() * power(-3, 1);
    for (int axis = 0; axis < 3; ++axis) c.offset[axis] = static_cast<T>(distance * random_normal(generator));
    contact_point<T> point{};
    const bool contact = ellipsoids_contact(c.a, c.b, c.offset, point);
    ASSERT_EQ(contact, ellipsoids_touch(c.a, c.b, c.offset));
    if (!contact) continue;
    ASSERT_GT(point.depth, T(0));
    ASSERT_NEAR(squared_norm(point.normal), T(1), accuracy<T>);
    const vec<T, 3> error = point.point_a - point.point_b - point.normal * point.depth;
    ASSERT_LT(std::sqrt(squared_norm(error)), accuracy<T> * longest_of(c));
  }
}

TYPED_TEST(ellipsoid_contact, with_a_wall_is_at_the_deepest_point) {
  using T = TypeParam;
  for (const ellipsoid_case<T>& c : random_ellipsoids<T>({30, 1, 0, 1}, 1000, 7)) {
    const solid a(c.a);
    const T length = std::sqrt(squared_norm(c.offset));
    if (!(length > T(0))) continue;
    const plane<T> wall{c.offset * (T(1) / length), T(0.3)};
    const vector3 normal = cast<double>(wall.normal);
    body<T> body_a = c.a;
    body_a.center = c.b.size;  // anywhere
    body_a.center = body_a.center + wall.normal * (T(0.3) + length - dot(wall.normal, body_a.center));
    contact_point<T> point{};
    const double depth = a.reach(normal) - (dot(normal, cast<double>(body_a.center)) - T(0.3));
    const double tolerance = accuracy<T> * (a.longest() + std::sqrt(squared_norm(cast<double>(body_a.center))));
    const bool contact = ellipsoid_plane_contact(body_a, wall, point);
    if (std::fabs(depth) > tolerance) {
      ASSERT_EQ(contact, depth > 0);
    }
    if (!contact) continue;
    ASSERT_NEAR(point.depth, depth, tolerance);
    ASSERT_EQ(point.normal, wall.normal * T(-1));
    ASSERT_LT(std::fabs(a.distance(cast<double>(point.point_a))), tolerance);
    ASSERT_NEAR(dot(normal, cast<double>(body_a.center + point.point_b)), T(0.3), tolerance) << "on the wall";
    ASSERT_LT(std::sqrt(squared_norm(point.point_a - point.point_b - point.normal * point.depth)), tolerance);
  }
  const body<T> resting{body_shape::sphere, {T(1), T(2), T(3)}, {T(3)}, quaternion<T>::identity()};
  contact_point<T> point{};
  EXPECT_FALSE(ellipsoid_plane_contact(resting, {{T(0), T(0), T(1)}, T(0)}, point));
  ASSERT_TRUE(ellipsoid_plane_contact(resting, {{T(0), T(0), T(1)}, T(0.5)}, point));
  EXPECT_EQ(point.depth, T(0.5));
}

}  // namespace quadrat::test
