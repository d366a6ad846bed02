// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "models/granular/force.hpp"
#include "models/wide_access.hpp"
#include "quadrat/cells/concepts.hpp"
#include "quadrat/cells/linked_packed.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/neighborhood.hpp"

namespace quadrat::detail {

/// A velocity with the grain's id in the padding, for engines that reorder grains. As wide as a position's record, so
/// that one load reads both.
template <typename T>
struct alignas(4 * sizeof(T)) velocity_record {
  vec<T, 3> velocity;
  particle_id id;
};

/// The grains in device memory, by slot: in cell order if they are carried along, otherwise slot = id.
template <typename T>
struct grain_records {
  packed_record<T, 3>* positions;
  velocity_record<T>* velocities;
};

/// Calls f(slot, position) once for each grain that may be closer than `distance` to `here`, itself included.
/// `Carried`: records are in the order of the cell list's slots, so that no id is looked up.
template <bool Carried, typename View, typename T, typename F>
QUADRAT_HD void for_each_near(const View& view, const packed_record<T, 3>* positions, const vec<T, 3>& here, T distance,
                              F&& f) {
  if constexpr (Carried) {
    for_each_range_in_reach(view, here, distance, [&](std::uint32_t first, std::uint32_t last) {
      for (std::uint32_t slot = first; slot < last; ++slot) f(slot, read_record(positions, slot).position);
    });
  } else if constexpr (tight_cell_list<View>) {
    for_each_tight_candidate(view, here, [&](particle_id j) { f(j, read_record(positions, j).position); });
  } else if constexpr (record_cell_list<View>) {
    for_each_candidate_record(view, here, distance,
                              [&](particle_id j, const packed_record<T, 3>& record) { f(j, record.position); });
  } else {
    for_each_candidate(view, here, distance, [&](particle_id j) { f(j, read_record(positions, j).position); });
  }
}

/// The contact forces on one grain, summed in the order of the cell list.
template <bool Carried, typename View, typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> force_in_walking_order(const View& view, const granular_law<T>& law,
                                                          const grain_records<T>& grains, std::uint32_t self) {
  const vec<T, 3> here = read_record(grains.positions, self).position;
  const vec<T, 3> velocity = read_record(grains.velocities, self).velocity;
  vec<T, 3> force{};
  for_each_near<Carried>(view, grains.positions, here, law.diameter, [&](std::uint32_t other, const vec<T, 3>& there) {
    const vec<T, 3> r = there - here;
    const T squared_distance = squared_norm(r);
    if (!law.touches(squared_distance) || other == self) return;
    force += law(r, squared_distance, read_record(grains.velocities, other).velocity - velocity, law.diameter);
  });
  return force;
}

/// The smallest ids offered so far, in increasing order, with their slots.
struct smallest_ids {
  /// A grain of a settled heap has 7 to 11 contacts; more than this many cost another walk.
  static constexpr int capacity = 24;

  particle_id id[capacity];
  std::uint32_t slot[capacity];
  int count = 0;
  bool complete = true;  ///< no id was dropped

  QUADRAT_HD void offer(particle_id candidate, std::uint32_t where) {
    if (count == capacity) {
      complete = false;
      if (candidate > id[count - 1]) return;
    } else {
      ++count;
    }
    int k = count - 1;
    for (; k > 0 && id[k - 1] > candidate; --k) {
      id[k] = id[k - 1];
      slot[k] = slot[k - 1];
    }
    id[k] = candidate;
    slot[k] = where;
  }
};

/// The same sum in increasing order of the other grain's id, for any cell list, walk and order in memory: the level
/// `canonical`. `Named`: the ids are those of the records; otherwise a grain's slot is its id.
template <bool Carried, bool Named = Carried, typename View, typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> force_in_id_order(const View& view, const granular_law<T>& law,
                                                     const grain_records<T>& grains, std::uint32_t self) {
  const vec<T, 3> here = read_record(grains.positions, self).position;
  const vec<T, 3> velocity = read_record(grains.velocities, self).velocity;
  vec<T, 3> force{};
  std::int64_t last_id = -1;
  for (bool complete = false; !complete;) {
    smallest_ids next;
    const auto offer = [&](std::uint32_t other, const vec<T, 3>& there) {
      if (!law.touches(squared_norm(there - here)) || other == self) return;
      const particle_id id = Named ? grains.velocities[other].id : other;
      if (static_cast<std::int64_t>(id) > last_id) next.offer(id, other);
    };
    for_each_near<Carried>(view, grains.positions, here, law.diameter, offer);
    for (int k = 0; k < next.count; ++k) {
      const vec<T, 3> r = read_record(grains.positions, next.slot[k]).position - here;
      const vec<T, 3> u = read_record(grains.velocities, next.slot[k]).velocity - velocity;
      force += law(r, squared_norm(r), u, law.diameter);
    }
    complete = next.complete;
    if (!complete) last_id = next.id[next.count - 1];
  }
  return force;
}

}  // namespace quadrat::detail
