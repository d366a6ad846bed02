// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "quadrat/contacts/collide.hpp"
#include "quadrat/contacts/contact_detector.hpp"
#include "quadrat/contacts/shapes.hpp"

/// Contacts by brute force: every pair, then every plane, serially on the host.
namespace quadrat::reference {

/// Bodies and search options, on the host.
template <typename T>
struct body_scene {
  contact_options<T> options;
  std::vector<vec<T, 3>> centers;
  body_shape shape = body_shape::sphere;
  std::vector<body_shape> shapes;  ///< empty: all of one shape; likewise below
  T radius = T(0);
  std::vector<T> radii;
  std::vector<vec<T, 3>> sizes;
  std::vector<quaternion<T>> orientations;
  std::vector<std::uint32_t> groups;
  std::vector<particle_id> ids;
  std::vector<std::uint32_t> systems;
  std::vector<plane<T>> planes;

  [[nodiscard]] bodies_view<T> view() const {
    const auto data = [](const auto& values) { return values.empty() ? nullptr : values.data(); };
    bodies_view<T> result;
    result.centers = points_of(centers.data(), centers.size());
    result.shape = shape;
    result.shapes = data(shapes);
    result.radius = radius;
    result.radii = data(radii);
    result.sizes = data(sizes);
    result.orientations = data(orientations);
    result.groups = data(groups);
    result.ids = data(ids);
    result.system_of_body = data(systems);
    result.planes = planes;
    return result;
  }
};

/// The shift, in boxes, from b as given to its image at `offset` from a.
template <typename T>
[[nodiscard]] vec<int, 3> shift_of(const box<T, 3>& domain, const vec<T, 3>& a, const vec<T, 3>& b,
                                   const vec<T, 3>& offset) {
  vec<int, 3> shift{};
  for (int axis = 0; axis < 3; ++axis) {
    const auto way = static_cast<long double>(offset[axis]) + a[axis] - b[axis];
    if (domain.periodic[axis]) shift[axis] = static_cast<int>(std::lround(way / domain.length[axis]));
  }
  return shift;
}

/// The contacts of a pair, by feature.
template <typename T>
void append_contacts(std::vector<contact<T>>& to, contact_manifold<T> manifold, int found, const vec<T, 3>& center,
                     std::size_t a, std::size_t b, const vec<int, 3>& shift) {
  std::sort(manifold.points, manifold.points + found,
            [](const auto& x, const auto& y) { return x.feature < y.feature; });
  for (int k = 0; k < found; ++k) {
    to.push_back(
        make_contact(center, manifold.points[k], static_cast<particle_id>(a), static_cast<particle_id>(b), shift));
  }
}

/// All contacts by (a, b, feature), where bodies count by their ids. Those of different systems do not meet.
template <typename T>
[[nodiscard]] std::vector<contact<T>> contacts(const body_scene<T>& scene) {
  std::vector<contact<T>> result;
  const bodies_view<T> bodies = scene.view();
  const box<T, 3> domain_of_all = scene.options.domain.value_or(box<T, 3>{{}, {{1, 1, 1}}, {}});
  const auto system = [&](std::size_t i) { return scene.systems.empty() ? 0 : scene.systems[i]; };
  const auto group = [&](std::size_t i) { return scene.groups.empty() ? 0 : scene.groups[i]; };
  const auto meet = [&](std::uint32_t g, std::uint32_t h) { return (scene.options.masks[g] >> h & 1u) != 0; };
  std::vector<std::size_t> order(bodies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!scene.ids.empty()) std::ranges::sort(order, {}, [&](std::size_t i) { return scene.ids[i]; });
  for (std::size_t place = 0; place < bodies.size(); ++place) {
    const std::size_t j = order[place];
    const box<T, 3> domain = scene.options.domains.empty() ? domain_of_all : scene.options.domains[system(j)];
    body<T> a = bodies[j];
    a.center = domain.wrap(a.center);
    contact_manifold<T> manifold;
    for (std::size_t later = place + 1; later < bodies.size(); ++later) {
      const std::size_t k = order[later];
      if (system(j) != system(k) || !meet(group(j), group(k))) continue;
      const vec<T, 3> offset = domain.separation(a.center, domain.wrap(bodies.centers[k]));
      const vec<int, 3> shift = shift_of(domain, bodies.centers[j], bodies.centers[k], offset);
      append_contacts(result, manifold, collide(a, bodies[k], offset, manifold), bodies.centers[j], j, k, shift);
    }
    for (std::size_t k = 0; k < scene.planes.size(); ++k) {
      if (!meet(group(j), scene.planes[k].group)) continue;
      const int found = collide_with_plane(a, scene.planes[k], manifold);
      append_contacts(result, manifold, found, bodies.centers[j], j, first_plane + k, {});
    }
  }
  return result;
}

}  // namespace quadrat::reference
