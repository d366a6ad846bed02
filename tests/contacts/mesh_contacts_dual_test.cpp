// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/contacts/mesh_contact_detector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "contacts/support.hpp"
#include "contacts/triangle_surfaces.hpp"
#include "reference/mesh_contacts.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

// Spheres touch triangle meshes at the points of the surface that are closest, each found once.

namespace quadrat::test {

namespace {

/// Spheres in the memory of a context.
template <typename T>
struct spheres_on_device {
  spheres_on_device(const backend_context& context, const std::vector<vec<T, 3>>& centers, const std::vector<T>& radii)
      : centers_(to_device(context, centers)), radii_(to_device(context, radii)) {}

  [[nodiscard]] bodies_view<T> view() const {
    bodies_view<T> result;
    result.centers = points_of(centers_.data(), centers_.size());
    result.radii = radii_.data();
    return result;
  }

  array<vec<T, 3>, backend_context> centers_;
  array<T, backend_context> radii_;
};

template <typename T>
[[nodiscard]] std::vector<contact<T>> contacts_on(const triangle_surface& mesh, const std::vector<vec<T, 3>>& centers,
                                                  const std::vector<T>& radii,
                                                  const mesh_contact_options<T>& options = {},
                                                  const backend_context& context = {}) {
  mesh_contact_detector<backend_context, T> detector(context, mesh.view(), options);
  const spheres_on_device<T> spheres(context, centers, radii);
  detector.build(spheres.view());
  return bring_home(context, detector.view());
}

template <typename T>
[[nodiscard]] std::vector<contact<T>> contacts_of_one(const triangle_surface& mesh, const vec<double, 3>& center,
                                                      double radius) {
  return contacts_on<T>(mesh, {cast<T>(center)}, {static_cast<T>(radius)});
}

/// Expects the contacts of the reference, by sphere and place: rounding may choose another part of the surface there.
template <typename T>
void expect_reference(const std::vector<contact<T>>& got, const std::vector<reference::mesh_contact>& wanted,
                      const std::vector<vec<T, 3>>& centers, const std::vector<T>& radii) {
  const double close = sizeof(T) == sizeof(float) ? 2e-5 : 1e-10;
  std::vector<bool> met(wanted.size(), false);
  for (const contact<T>& one : got) {
    std::size_t closest = wanted.size();
    double least = 10 * close * radii[one.a];
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const double away = norm(cast<double>(one.point_b) - wanted[k].point);
      if (wanted[k].sphere != one.a || met[k] || away > least) continue;
      closest = k;
      least = away;
    }
    const bool known = closest < wanted.size();
    if (known) {
      EXPECT_NEAR(one.depth, radii[one.a] - wanted[closest].distance, close);
      met[closest] = true;
    }
    EXPECT_TRUE(known || one.depth < close) << "not in the reference: " << describe(one);
    const vec<T, 3> span = one.point_a - one.point_b - one.normal * one.depth;
    EXPECT_LT(norm(span), close) << describe(one);
    EXPECT_LT(norm(one.point_a - centers[one.a] - one.normal * radii[one.a]), close) << describe(one);
  }
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const double depth = radii[wanted[k].sphere] - wanted[k].distance;
    EXPECT_TRUE(met[k] || depth < close) << "lost sphere " << wanted[k].sphere << " on triangle " << wanted[k].triangle
                                         << " part " << wanted[k].part << " depth " << depth;
  }
}

/// Places in a flat floor: of its vertices, middles of sides and of triangles, near them at all distances, and others
/// within `half` of the middle.
[[nodiscard]] std::vector<vec<double, 3>> places_on(const triangle_surface& floor, double half, std::size_t others) {
  std::vector<vec<double, 3>> result = floor.vertices;
  std::mt19937_64 generator(3);
  for (const vec<std::uint32_t, 3>& t : floor.triangles) {
    vec<double, 3> sum{};
    for (int k = 0; k < 3; ++k) {
      const vec<double, 3>& a = floor.vertices[t[k]];
      const vec<double, 3>& b = floor.vertices[t[(k + 1) % 3]];
      result.push_back((a + b) * 0.5);
      result.push_back(a + (b - a) * random_unit<double>(generator));
      sum += a;
    }
    result.push_back(sum * (1.0 / 3));
  }
  const std::size_t exact = result.size();
  for (std::size_t k = 0; k < exact; ++k) {
    vec<double, 3> away = random_place(generator, -1, 1);
    away[2] = 0;
    result.push_back(result[k] + away * std::pow(10.0, -9 * random_unit<double>(generator)));
  }
  for (std::size_t k = 0; k < others; ++k) {
    vec<double, 3> p = random_place(generator, -half, half);
    p[2] = 0;
    result.push_back(p);
  }
  std::erase_if(result, [&](const vec<double, 3>& p) { return std::fabs(p[0]) > half || std::fabs(p[1]) > half; });
  return result;
}

/// Spheres that press into a floor at these places, from both sides, feel the plane and nothing else.
template <typename T>
void expect_plane(const triangle_surface& floor, const std::vector<vec<double, 3>>& places,
                  const quaternion<double>& turn, double radius) {
  const vec<double, 3> move{0.3, -0.2, 0.5};
  const triangle_surface mesh = placed(floor, turn, move);
  const axes<double> frame = axes_of(normalized(turn));
  const vec<double, 3> up = frame.axis[2];
  std::vector<vec<T, 3>> centers;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const double height = radius * (k % 5 == 4 ? 0.2 : 0.9) * (k % 2 == 0 ? 1 : -1);
    centers.push_back(cast<T>(frame.to_space(places[k]) + move + up * height));
  }
  const auto found = contacts_on<T>(mesh, centers, std::vector<T>(centers.size(), static_cast<T>(radius)));
  const double close = 1e-6 * (sizeof(T) == sizeof(float) ? 3 + radius : radius);
  std::vector<int> times(centers.size(), 0);
  for (const contact<T>& one : found) {
    const double height = dot(cast<double>(centers[one.a]) - move, up);
    ++times[one.a];
    EXPECT_NEAR(one.depth, radius - std::fabs(height), close) << describe(one);
    EXPECT_LT(norm(cast<double>(one.normal) + up * std::copysign(1.0, height)), 1e-6) << describe(one);
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i], 1) << "sphere " << i << " over " << places[i][0] << " " << places[i][1];
  }
}

}  // namespace

template <typename T>
class mesh_contacts_of : public backend_test {};
using mesh_contact_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(mesh_contacts_of, mesh_contact_precisions);

TYPED_TEST(mesh_contacts_of, random_triangles_are_those_of_the_reference) {
  using T = TypeParam;
  for (std::uint64_t seed = 1; seed <= size_or(12, 3); ++seed) {
    SCOPED_TRACE(seed);
    triangle_surface mesh = tangle(4 + 6 * seed, 8 * seed, seed);
    for (auto& p : mesh.vertices) p = cast<double>(cast<T>(p));
    std::mt19937_64 generator(seed + 100);
    std::vector<vec<T, 3>> centers;
    std::vector<T> radii;
    for (int k = 0; k < 100; ++k) {
      centers.push_back(cast<T>(random_place(generator, -1.5, 1.5)));
      radii.push_back(static_cast<T>(std::pow(10.0, -1.5 + 2 * random_unit<double>(generator))));
    }
    std::vector<vec<double, 3>> exact;
    for (const auto& center : centers) exact.push_back(cast<double>(center));
    const auto wanted = reference::mesh_contacts(mesh.view(), exact, {radii.begin(), radii.end()});
    const auto got = contacts_on<T>(mesh, centers, radii);
    EXPECT_GT(got.size(), 50u);
    expect_reference(got, wanted, centers, radii);
  }
}

TYPED_TEST(mesh_contacts_of, spheres_on_flat_floors_are_those_with_a_plane) {
  using T = TypeParam;
  const triangle_surface floors[] = {square_floor(2, 1, 1),  square_floor(2, 5, 4), square_floor(2, 6, 7, 0.2),
                                     square_floor(2, 2, 60), fan_floor(3, 7),       fan_floor(3, 200)};
  const quaternion<double> turns[] = {{1, 0, 0, 0}, {1, 1, 0, 0}, {0.3, 0.5, -0.4, 0.7}, {0.9, 0.01, 0.2, -0.4}};
  for (const triangle_surface& floor : floors) {
    const auto places = places_on(floor, 1.4, size_or(300, 30));
    for (const auto& turn : turns) {
      for (const double radius : {0.03, 0.4, 2.0}) {
        SCOPED_TRACE(message(floor.triangles.size(), " triangles, radius ", radius, ", turned by ", turn.w));
        // Beyond the rim the surface ends: a large sphere is still closest to the floor below its center.
        expect_plane<T>(floor, places, turn, radius);
      }
    }
  }
}

TYPED_TEST(mesh_contacts_of, corners_of_a_box_touch_each_face_from_inside_and_once_from_outside) {
  using T = TypeParam;
  for (const std::uint32_t n : {1u, 3u, 10u}) {
    const triangle_surface box = closed_box(1, n);
    EXPECT_EQ(contacts_of_one<T>(box, {0.7, 0.1, 0.2}, 0.4).size(), 1u);
    EXPECT_EQ(contacts_of_one<T>(box, {0.7, -0.7, 0.2}, 0.4).size(), 2u);
    EXPECT_EQ(contacts_of_one<T>(box, {0.7, -0.7, 0.7}, 0.4).size(), 3u);
    EXPECT_EQ(contacts_of_one<T>(box, {0, 0, 0}, 1.1).size(), 6u);
    EXPECT_EQ(contacts_of_one<T>(box, {1.2, 0.1, 0.2}, 0.3).size(), 1u);
    for (const vec<double, 3>& out : {vec<double, 3>{1.1, 1.1, 0.1}, {1.1, 1.1, 1.1}, {1.1, 1, 1}, {1, 1, 1.1}}) {
      const auto found = contacts_of_one<T>(box, out, 0.3);
      ASSERT_EQ(found.size(), 1u) << out[0] << " " << out[1] << " " << out[2];
      const vec<double, 3> nearest = make_vec<double, 3>([&](int k) { return std::min(out[k], 1.0); });
      EXPECT_NEAR(found[0].depth, 0.3 - norm(nearest - out), 1e-6);
    }
  }
}

TYPED_TEST(mesh_contacts_of, one_triangle_are_at_its_parts_and_on_both_sides) {
  using T = TypeParam;
  const triangle_surface one{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0u, 1u, 2u}}};
  struct {
    vec<double, 3> center;
    std::uint32_t part;
    vec<double, 3> normal;
  } const cases[] = {
      {{0.2, 0.2, 0.1}, 0, {0, 0, -1}}, {{0.2, 0.2, -0.1}, 0, {0, 0, 1}},   {{0.2, 0.2, 0}, 0, {0, 0, -1}},
      {{0.5, -0.1, 0}, 1, {0, 1, 0}},   {{-0.1, 0.5, 0}, 3, {1, 0, 0}},     {{-0.1, -0.1, 0}, 4, {1, 1, 0}},
      {{1.1, -0.05, 0}, 5, {-2, 1, 0}}, {{0.6, 0.6, 0.1}, 2, {-1, -1, -1}}, {{-0.05, 1.1, 0}, 6, {1, -2, 0}}};
  for (const auto& [center, part, normal] : cases) {
    const auto found = contacts_of_one<T>(one, center, 0.5);
    ASSERT_EQ(found.size(), 1u) << part;
    EXPECT_EQ(found[0].feature, part);
    EXPECT_EQ(found[0].b, first_plane);
    EXPECT_LT(norm(cast<double>(found[0].normal) - normal * (1 / norm(normal))), 2e-6) << part;
    EXPECT_EQ(contacts_of_one<T>(one, center, 0.01).size(), center[2] == 0 && part == 0 ? 1u : 0u);
  }
  // On a side or a corner: from the front, by the radius.
  for (const vec<double, 3>& center : {vec<double, 3>{0.5, 0, 0}, {0, 0, 0}, {0.5, 0.5, 0}}) {
    const auto found = contacts_of_one<T>(one, center, 0.25);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(found[0].depth, 0.25, 1e-7);
    EXPECT_EQ(found[0].normal, (vec<T, 3>{0, 0, -1}));
  }
}

TYPED_TEST(mesh_contacts_of, periodic_floors_have_no_seam) {
  using T = TypeParam;
  const auto domain = make_box<T, 3>({-1, -1, -1}, {1, 1, 3}, {true, true, false});
  for (const std::uint32_t n : {1u, 2u, 5u}) {
    const triangle_surface floor = square_floor(1, n, n);
    std::vector<vec<T, 3>> centers;
    std::mt19937_64 generator(5);
    for (const double x : {-1.0, 1.0, 0.0, -0.999, 0.999, 0.3, 3.0, -7.01}) {
      for (const double y : {-1.0, 0.5, 0.9, 1.0, 5.0}) {
        centers.push_back({static_cast<T>(x), static_cast<T>(y), static_cast<T>(0.2)});
      }
    }
    const std::vector<T> radii(centers.size(), T(0.3));
    const auto found = contacts_on<T>(floor, centers, radii, {.domain = domain});
    ASSERT_EQ(found.size(), centers.size()) << n;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].a, i);
      EXPECT_NEAR(found[i].depth, 0.1, 2e-6);
      EXPECT_NEAR(found[i].normal[2], -1, 1e-6);
      // The contact lies in the image of its triangle.
      for (int axis = 0; axis < 2; ++axis) {
        const T at = found[i].point_b[axis] - static_cast<T>(found[i].shift[axis]) * domain.length[axis];
        EXPECT_LT(std::fabs(at), 1 + 1e-5) << describe(found[i]);
      }
    }
  }
}

TYPED_TEST(mesh_contacts_of, no_triangles_or_no_spheres_are_none) {
  using T = TypeParam;
  EXPECT_TRUE(contacts_of_one<T>({}, {0, 0, 0}, 1).empty());
  EXPECT_TRUE(contacts_on<T>(closed_box(1, 2), {}, {}).empty());
}

TYPED_TEST(mesh_contacts_of, groups_that_do_not_meet_are_none) {
  using T = TypeParam;
  const backend_context context;
  const triangle_surface floor = square_floor(1, 2, 2);
  const spheres_on_device<T> spheres(context, {{0, 0, 0}, {0, 0, 0}}, {T(0.1), T(0.1)});
  const auto groups = to_device(context, std::vector<std::uint32_t>{3, 4});
  bodies_view<T> bodies = spheres.view();
  bodies.groups = groups.data();
  mesh_contact_options<T> options;
  options.masks[3] &= ~(1u << 7);
  options.masks[7] &= ~(1u << 3);
  triangles_view mesh = floor.view();
  mesh.group = 7;
  mesh_contact_detector<backend_context, T> detector(context, mesh, options);
  detector.build(bodies);
  const auto found = bring_home(context, detector.view());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].a, 1u);
}

TYPED_TEST(mesh_contacts_of, every_context_and_call_are_the_same_bits) {
  using T = TypeParam;
  const triangle_surface mesh = tangle(60, 300, 9);
  std::mt19937_64 generator(4);
  std::vector<vec<T, 3>> centers;
  std::vector<T> radii;
  for (std::size_t k = 0; k < size_or(5000, 300); ++k) {
    centers.push_back(cast<T>(random_place(generator, -1, 1)));
    radii.push_back(static_cast<T>(0.2 * random_unit<double>(generator) + 0.01));
  }
  const auto wanted = contacts_on<T>(mesh, centers, radii);
  for (const backend_context& context : all_contexts()) {
    const spheres_on_device<T> spheres(context, centers, radii);
    mesh_contact_detector<backend_context, T> detector(context, mesh.view());
    detector.build(spheres.view());
    expect_same_bits(bring_home(context, detector.view()), wanted);
    detector.build_async(spheres.view());
    expect_same_bits(bring_home(context, detector.view()), wanted);
    EXPECT_EQ(to_host(context, detector.view_async().count, 1)[0], wanted.size());
  }
}

TYPED_TEST(mesh_contacts_of, bad_input_are_named) {
  using T = TypeParam;
  const backend_context context;
  using detector_type = mesh_contact_detector<backend_context, T>;
  triangle_surface floor = square_floor(1, 2, 2);
  const auto complaint = [&] { return error_of<data_error>([&] { detector_type(context, floor.view()); }); };
  floor.triangles[5][1] = 9;
  expect_words(complaint(), {"triangle 5 has the vertex 9", "there are 9"});
  floor.triangles[5] = {0u, 1u, 2u};
  expect_words(complaint(), {"triangle 5 has no area", "not on one line"});
  floor.vertices[8][1] = std::numeric_limits<double>::quiet_NaN();
  floor.triangles[5] = {0u, 1u, 4u};
  expect_words(complaint(), {"triangle 7 has a corner at", "finite"});
  floor = square_floor(1, 2, 2);
  triangles_view grouped = floor.view();
  grouped.group = 32;
  expect_words(error_of<argument_error>([&] { detector_type(context, grouped); }), {"group 32", "below 32"});

  detector_type detector(context, floor.view());
  expect_words(error_of<argument_error>([&] { static_cast<void>(detector.view()); }), {"call build first"});
  const spheres_on_device<T> spheres(context, {{0, 0, 0}, {0, 0, 0}}, {T(0.1), T(-1)});
  expect_words(error_of<data_error>([&] { detector.build(spheres.view()); }), {"sphere 1", "radius -1"});
  expect_words(error_of<argument_error>([&] { static_cast<void>(detector.view()); }), {"has failed"});
  bodies_view<T> bodies = spheres.view();
  bodies.radii = nullptr;
  bodies.radius = T(0.1);
  expect_words(error_of<argument_error>([&] { detector.build_async(bodies); }), {"call build"});
  bodies.shape = body_shape::capsule;
  bodies.sizes = spheres.centers_.data();
  expect_words(error_of<argument_error>([&] { detector.build(bodies); }), {"not all spheres"});
  bodies.shape = body_shape::sphere;
  bodies.sizes = nullptr;
  const plane<T> wall{{0, 0, 1}, 0};
  bodies.planes = {&wall, 1};
  expect_words(error_of<argument_error>([&] { detector.build(bodies); }), {"1 planes", "contact_detector"});
}

TYPED_TEST(mesh_contacts_of, more_spheres_than_there_is_room_for_are_reported) {
  using T = TypeParam;
  const backend_context context;
  const triangle_surface floor = square_floor(1, 2, 2);
  mesh_contact_detector<backend_context, T> detector(context, floor.view());
  std::vector<vec<T, 3>> centers(40, {0, 0, 5});
  const std::vector<T> radii(centers.size(), T(0.1));
  const spheres_on_device<T> away(context, centers, radii);
  detector.build(away.view());
  EXPECT_EQ(detector.size(), 0u);
  for (auto& center : centers) center[2] = 0;
  const spheres_on_device<T> touching(context, centers, radii);
  detector.build_async(touching.view());
  expect_words(error_of<overflow_error>([&] { detector.check(); }), {"40 contacts", "reserve(40)"});
  detector.reserve(40);
  detector.build_async(touching.view());
  EXPECT_EQ(detector.size(), 40u);
}

TYPED_TEST(mesh_contacts_of, a_fan_of_many_triangles_is_a_plane_at_its_apex) {
  using T = TypeParam;
  const triangle_surface fan = fan_floor(3, 20'000);
  std::vector<vec<T, 3>> centers;
  for (int k = 0; k < 20; ++k) centers.push_back(cast<T>(vec<double, 3>{0.1, -0.2 + 1e-8 * k, 0.1}));
  const auto found = contacts_on<T>(fan, centers, std::vector<T>(centers.size(), T(0.2)));
  EXPECT_EQ(found.size(), centers.size());
}

}  // namespace quadrat::test
