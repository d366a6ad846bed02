// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "contacts/bodies/place.hpp"
#include "contacts/triangles/search.hpp"
#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/parallel/fault.hpp"

namespace quadrat::detail {

/// The images of a sphere that may touch triangles.
template <typename T>
struct sphere_images {
  vec<T, 3> center;  ///< wrapped
  vec<int, 3> first;
  vec<int, 3> last;
};

/// Searches a row of contacts for each sphere.
template <typename T>
struct triangle_rows {
  place_body<T> spheres;
  triangle_store<T> mesh;
  group_filter groups;
  std::uint32_t group;  ///< of the mesh

  /// Calls f(contact_point, triangle, center of the image) for the contacts of a sphere.
  template <typename F>
  QUADRAT_HD void visit(std::size_t i, F&& f) const {
    const bodies_view<T>& bodies = spheres.bodies;
    if (mesh.count == 0 || !groups.meet(bodies.groups != nullptr ? bodies.groups[i] : 0, group)) return;
    const T radius = bodies.size_of(i)[0];
    const sphere_images<T> images = images_of(bodies.centers[i], radius);
    for (int z = images.first[2]; z <= images.last[2]; ++z) {
      for (int y = images.first[1]; y <= images.last[1]; ++y) {
        for (int x = images.first[0]; x <= images.last[0]; ++x) {
          const vec<T, 3> center = image(images.center, {x, y, z});
          const sphere_on_triangles<T> search(mesh, center, radius);
          search.for_each_contact(
              [&](std::uint32_t t, const nearest_on_triangle<T>& found) { f(search.contact_at(t, found), t, center); });
        }
      }
    }
  }

  [[nodiscard]] QUADRAT_HD vec<T, 3> image(vec<T, 3> center, const vec<int, 3>& boxes) const {
    for (int axis = 0; axis < 3; ++axis) {
      if (boxes[axis] != 0) center[axis] += static_cast<T>(boxes[axis]) * spheres.domains.all.length[axis];
    }
    return center;
  }

 private:
  [[nodiscard]] QUADRAT_HD sphere_images<T> images_of(const vec<T, 3>& center, T radius) const {
    const box<T, 3>& domain = spheres.domains.all;
    sphere_images<T> result{domain.wrap(center), {}, {}};
    for (int axis = 0; axis < 3; ++axis) {
      if (!domain.periodic[axis]) continue;
      const T margin = widened(radius) + T(8) * rounding_unit<T> * (mesh.reach + domain.length[axis]);
      const T low = mesh.nodes[1].lower[axis] - margin - result.center[axis];
      const T high = mesh.nodes[1].upper[axis] + margin - result.center[axis];
      result.first[axis] = static_cast<int>(std::ceil(low / domain.length[axis]));
      result.last[axis] = static_cast<int>(std::floor(high / domain.length[axis]));
    }
    return result;
  }
};

/// Index: sphere. Checks it, and counts its contacts; returns their number.
template <typename T>
struct count_on_mesh {
  triangle_rows<T> rows;
  fault_flag faults;
  std::uint32_t* counts;

  QUADRAT_HD std::uint32_t operator()(std::size_t i) const {
    std::uint32_t found = 0;
    if (rows.spheres.fault_of(i) == body_fault::none) {
      rows.visit(i, [&](const contact_point<T>&, std::uint32_t, const vec<T, 3>&) { ++found; });
    } else {
      faults.raise(fault_kind::value_range, i);
    }
    counts[i] = found;
    return found;
  }
};

/// Index: sphere. Rows that do not fit write nothing.
template <typename T>
struct fill_on_mesh {
  triangle_rows<T> rows;
  contact<T>* records;
  std::uint64_t capacity;
  const std::uint64_t* offsets;

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint64_t at = offsets[i];
    const std::uint64_t end = offsets[i + 1];
    if (at == end || end > capacity) return;
    const box<T, 3>& domain = rows.spheres.domains.all;
    const vec<T, 3> given = rows.spheres.bodies.centers[i];
    rows.visit(i, [&](const contact_point<T>& point, std::uint32_t t, const vec<T, 3>& center) {
      if (at == end) return;
      vec<int, 3> shift{};
      for (int axis = 0; axis < 3; ++axis) {
        if (domain.periodic[axis])
          shift[axis] = static_cast<int>(std::rint((given[axis] - center[axis]) / domain.length[axis]));
      }
      records[at++] = make_contact(given, point, static_cast<particle_id>(i), first_plane + t, shift);
    });
  }
};

}  // namespace quadrat::detail
