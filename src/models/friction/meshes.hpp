// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/triangles/search.hpp"
#include "models/friction/entry.hpp"
#include "models/friction/force.hpp"
#include "models/friction/materials.hpp"
#include "quadrat/core/macros.hpp"

/// Triangles near grains.
namespace quadrat::detail {

/// The triangles near each grain, and the histories of contacts with them.
template <typename T>
struct friction_meshes {
  triangle_store<T> store;
  const std::uint32_t* materials;  ///< by triangle
  const std::uint64_t* offsets;    ///< of rows, by slot; one more entry
  std::uint32_t* partners;         ///< triangles, with the bits of entry.hpp
  contact_memory<T>* memories;     ///< layers of each entry, one after the other

  [[nodiscard]] QUADRAT_HD std::uint32_t triangle(std::uint64_t entry) const {
    return partners[entry] & ~(remembers | touches_now);
  }

  /// The entry whose history a contact continues, the end of the row if it is new: its own, or that of the contact
  /// which has ended in this step with the normal most like this one.
  [[nodiscard]] QUADRAT_HD std::uint64_t previous(std::uint64_t entry, const grain_in_work<T>& self,
                                                  const vec<T, 3>& normal, T time_step) const {
    if ((partners[entry] & remembers) != 0) return entry;
    const sphere_on_triangles<T> now(store, self.position, self.radius);
    const sphere_on_triangles<T> before(store, self.position - self.velocity * time_step, self.radius);
    const std::uint64_t last = offsets[self.slot + 1];
    std::uint64_t best = last;
    T most = T(0.9);  // cosine of the angle between the normals
    for (std::uint64_t other = offsets[self.slot]; other < last; ++other) {
      if ((partners[other] & remembers) == 0) continue;
      const std::uint32_t t = triangle(other);
      const T alike = dot(before.contact_at(t, before.closest(t)).normal, normal);
      if (!(alike > most) || now.reports(t, now.closest(t))) continue;
      most = alike;
      best = other;
    }
    return best;
  }
};

/// Any materials, and meshes.
template <typename T>
struct mesh_table : material_table<T> {
  friction_meshes<T> meshes;
};

/// Index: slot. Visits the triangles near a grain.
template <typename T>
struct friction_near_triangles {
  triangle_store<T> store;
  const vec<T, 3>* positions;
  const T* radii;
  T skin;

  template <typename F>
  QUADRAT_HD void visit(std::size_t slot, F&& f) const {
    const sphere_on_triangles<T> reach(store, positions[slot], radii[slot] + skin);
    reach.for_each_close([&](std::uint32_t t, const nearest_on_triangle<T>&) { f(t); });
  }
};

template <typename T>
struct count_near_triangles {
  friction_near_triangles<T> near;
  std::uint32_t* counts;

  QUADRAT_HD void operator()(std::size_t slot) const {
    std::uint32_t found = 0;
    near.visit(slot, [&](std::uint32_t) { ++found; });
    counts[slot] = found;
  }
};

/// Writes rows, with the histories that the grain's old row has.
template <typename T>
struct list_near_triangles {
  friction_near_triangles<T> near;
  const std::uint32_t* ids;    ///< by slot
  const std::uint32_t* slots;  ///< the old ones, by particle
  friction_meshes<T> from;
  friction_meshes<T> to;
  std::uint32_t layers;

  QUADRAT_HD void operator()(std::size_t slot) const {
    std::uint64_t at = to.offsets[slot];
    const std::uint32_t old = slots[ids[slot]];
    near.visit(slot, [&](std::uint32_t t) {
      to.partners[at] = t;
      for (std::uint64_t entry = from.offsets[old]; entry < from.offsets[old + 1]; ++entry) {
        if (from.partners[entry] != (t | remembers)) continue;
        to.partners[at] = t | remembers;
        for (std::uint32_t k = 0; k < layers; ++k) to.memories[at * layers + k] = from.memories[entry * layers + k];
      }
      ++at;
    });
  }
};

}  // namespace quadrat::detail
