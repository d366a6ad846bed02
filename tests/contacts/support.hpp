// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "contacts/random_bodies.hpp"
#include "quadrat/core/array.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

/// The arrays of a scene in the memory of a context.
template <typename T>
class bodies_on_device {
 public:
  bodies_on_device(const backend_context& context, const body_scene<T>& scene)
      : scene_(&scene),
        centers_(to_device(context, scene.centers)),
        shapes_(to_device(context, scene.shapes)),
        radii_(to_device(context, scene.radii)),
        sizes_(to_device(context, scene.sizes)),
        orientations_(to_device(context, scene.orientations)),
        groups_(to_device(context, scene.groups)),
        ids_(to_device(context, scene.ids)),
        systems_(to_device(context, scene.systems)) {}

  [[nodiscard]] bodies_view<T> view() const {
    bodies_view<T> result = scene_->view();
    result.centers = points_of(centers_.data(), centers_.size());
    result.shapes = shapes_.data();
    result.radii = radii_.data();
    result.sizes = sizes_.data();
    result.orientations = orientations_.data();
    result.groups = groups_.data();
    result.ids = scene_->ids.empty() ? nullptr : ids_.data();
    result.system_of_body = scene_->systems.empty() ? nullptr : systems_.data();
    return result;
  }
  [[nodiscard]] array<vec<T, 3>, backend_context>& centers() { return centers_; }

 private:
  const body_scene<T>* scene_;
  array<vec<T, 3>, backend_context> centers_;
  array<body_shape, backend_context> shapes_;
  array<T, backend_context> radii_;
  array<vec<T, 3>, backend_context> sizes_;
  array<quaternion<T>, backend_context> orientations_;
  array<std::uint32_t, backend_context> groups_, ids_, systems_;
};

template <typename T>
[[nodiscard]] std::vector<contact<T>> bring_home(const backend_context& context, const contacts_view<T>& found) {
  return to_host(context, found.records, found.count);
}

template <typename T>
[[nodiscard]] auto key_of(const contact<T>& c) {
  return std::tuple(c.a, c.b, c.feature);
}

template <typename T>
[[nodiscard]] std::string describe(const contact<T>& c) {
  return message(c.a, " ", c.b, " feature ", c.feature, " shift ", c.shift[0], " ", c.shift[1], " ", c.shift[2],
                 " depth ", c.depth, " normal ", c.normal[0], " ", c.normal[1], " ", c.normal[2], " at ", c.point_a[0],
                 " ", c.point_a[1], " ", c.point_a[2]);
}

/// Expects bitwise equal contacts in the same order; contacts of each pair in the narrow phase's order.
template <typename T>
void expect_same_bits(const std::vector<contact<T>>& got, const std::vector<contact<T>>& wanted) {
  const std::size_t common = std::min(got.size(), wanted.size());
  for (std::size_t k = 0; k < common; ++k) {
    ASSERT_EQ(std::memcmp(&got[k], &wanted[k], sizeof(contact<T>)), 0)
        << "contact " << k << " is " << describe(got[k]) << "; expected " << describe(wanted[k]);
  }
  ASSERT_EQ(got.size(), wanted.size());
}

/// The deepest contact of each pair.
template <typename T>
[[nodiscard]] std::map<std::pair<particle_id, particle_id>, T> depths_of(const std::vector<contact<T>>& entries) {
  std::map<std::pair<particle_id, particle_id>, T> result;
  for (const auto& entry : entries) {
    T& depth = result[{entry.a, entry.b}];
    depth = std::max(depth, entry.depth);
  }
  return result;
}

/// Expects the same pairs with about the same depth, to allow for another compiler's rounding; a pair found by only one
/// must barely touch.
template <typename T>
void expect_about_same(const std::vector<contact<T>>& got, const std::vector<contact<T>>& wanted, T tolerance) {
  auto depths = depths_of(wanted);
  std::vector<std::tuple<particle_id, particle_id, std::uint32_t>> keys;
  for (const auto& entry : got) keys.push_back(key_of(entry));
  std::sort(keys.begin(), keys.end());
  ASSERT_TRUE(std::adjacent_find(keys.begin(), keys.end()) == keys.end()) << "a contact was found twice";
  for (const auto& [pair, depth] : depths_of(got)) {
    const auto same = depths.find(pair);
    const T expected = same == depths.end() ? T(0) : same->second;
    ASSERT_NEAR(depth, expected, tolerance) << "pair " << pair.first << " " << pair.second;
    if (same != depths.end()) depths.erase(same);
  }
  for (const auto& [pair, depth] : depths) ASSERT_LE(depth, tolerance) << "lost " << pair.first << " " << pair.second;
}

/// Compares the result of a search with the reference: bitwise on the CPU.
template <typename T>
void expect_contacts(std::vector<contact<T>> got, std::vector<contact<T>> wanted, T scale, bool sorted) {
#if QUADRAT_BACKEND_CUDA
  static_cast<void>(sorted);
  expect_about_same(got, wanted, scale * (sizeof(T) == sizeof(float) ? T(1e-4) : T(1e-8)));
#else
  static_cast<void>(scale);
  // Contacts of a pair are contiguous even if pairs are unsorted.
  const auto by_pair = [](const auto& x, const auto& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); };
  for (auto* contacts : {&got, &wanted}) {
    if (!sorted) std::stable_sort(contacts->begin(), contacts->end(), by_pair);
  }
  expect_same_bits(got, wanted);
#endif
}

/// The length scale of the scene, for tolerances.
template <typename T>
[[nodiscard]] T scale_of(const body_scene<T>& scene) {
  T scale = T(1);
  for (const auto& center : scene.centers) {
    for (int axis = 0; axis < 3; ++axis) scale = std::max(scale, std::fabs(center[axis]));
  }
  return scale;
}

/// Finds contacts with one method (empty: the library's choice) and compares.
template <typename T>
void check_method(const backend_context& context, body_scene<T> scene, const std::vector<contact<T>>& wanted,
                  const std::string& method, bool sorted) {
  SCOPED_TRACE(method.empty() ? "method chosen" : "method " + method);
  scene.options.method = method;
  scene.options.sorted = sorted;
  const bodies_on_device<T> stored(context, scene);
  contact_detector<backend_context, T> detector(context, scene.options);
  detector.build(stored.view());
  if (!method.empty()) {
    EXPECT_EQ(detector.method(), method);
  }
  EXPECT_FALSE(detector.reason().empty());
  expect_contacts(bring_home(context, detector.view()), wanted, scale_of(scene), sorted);
}

/// Checks every method and the automatic choice; returns the number of contacts.
template <typename T>
std::size_t check_all_methods(const backend_context& context, const body_scene<T>& scene, bool sorted = false) {
  SCOPED_TRACE(describe(scene));
  const auto wanted = reference::contacts(scene);
  check_method(context, scene, wanted, "", sorted);
  for (const contact_method& method : contact_methods()) {
    check_method(context, scene, wanted, std::string(method.name), sorted);
    if (testing::Test::HasFatalFailure()) break;
  }
  return wanted.size();
}

}  // namespace quadrat::test
