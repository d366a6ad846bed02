// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/friction/grain.hpp"
#include "quadrat/contacts/contact_matcher.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"

/// The kernel bodies of distributed_granular_friction for what happens between steps. Steps are those of
/// granular_friction.
namespace quadrat::detail {

/// The history of a contact on its way to the owner of its first grain.
template <typename T>
struct traveling_memory {
  vec<T, 3> displacement;
  T scale;
  particle_id first;
  particle_id second;
  vec<T, 3> rolling;
};

/// Counts the contacts of an own grain that have a history.
template <typename T>
struct count_memories {
  friction_partners<T> near;
  std::uint32_t* counts;

  QUADRAT_HD void operator()(std::size_t slot) const {
    std::uint32_t count = 0;
    for (std::uint64_t entry = near.offsets[slot]; entry < near.offsets[slot + 1]; ++entry) {
      if ((near.partners[entry] & remembers) != 0) ++count;
    }
    counts[slot] = count;
  }
};

/// Writes them one after the other, with the destination rank of each.
template <typename T>
struct pack_memories {
  friction_partners<T> near;
  const grain_velocity<T>* grains;
  const std::uint32_t* owners;  ///< by slot
  const std::uint32_t* places;  ///< of the first of a slot
  traveling_memory<T>* memories;
  std::uint32_t* destinations;

  QUADRAT_HD void operator()(std::size_t slot) const {
    std::uint32_t place = places[slot];
    for (std::uint64_t entry = near.offsets[slot]; entry < near.offsets[slot + 1]; ++entry) {
      const std::uint32_t word = near.partners[entry];
      if ((word & remembers) == 0) continue;
      const contact_memory<T>* const memory = near.memories + entry * near.layers;
      const vec<T, 3> rolling = near.layers > 1 ? memory[1].displacement : vec<T, 3>{};
      memories[place] = {memory->displacement, memory->scale, grains[slot].id, grains[word & ~remembers].id, rolling};
      destinations[place++] = owners[slot];
    }
  }
};

/// The destination rank of each history of a restored state, whose grains are in the order of their ids.
template <typename T>
struct send_memories {
  const traveling_memory<T>* memories;
  const std::uint32_t* owners;
  std::uint32_t* destinations;

  QUADRAT_HD void operator()(std::size_t i) const { destinations[i] = owners[memories[i].first]; }
};

/// The positions of grains when the list is built, and their place in the order in which one rank would sort them: by
/// cell, then by id.
template <typename T>
struct list_grains {
  grid<T, 3> cells;
  moving_grains<T> grains;
  vec<T, 3>* listed;
  T* radii;
  std::uint64_t* ranks_in_order;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const grain_place<T> place = grains.places[slot];
    listed[slot] = place.position;
    radii[slot] = place.radius;
    const cell_id cell = row_major_numbering<3>{cells.stored}.id(cells.cell_of(place.position));
    ranks_in_order[slot] = static_cast<std::uint64_t>(cell) << 32 | grains.velocities[slot].id;
  }
};

/// The row of an own grain in that order, and the keys that identify its contacts.
template <typename T>
struct sort_partners {
  const std::uint64_t* offsets;
  const particle_id* neighbors;  ///< slots
  const grain_velocity<T>* grains;
  const std::uint64_t* ranks_in_order;
  std::uint32_t* partners;
  particle_id* first;
  particle_id* second;

  /// Sorts by insertion, because rows are short, and nearly sorted per source rank.
  QUADRAT_HD void operator()(std::size_t slot) const {
    const std::uint64_t begin = offsets[slot], end = offsets[slot + 1];
    for (std::uint64_t entry = begin; entry < end; ++entry) {
      const particle_id one = neighbors[entry];
      std::uint64_t at = entry;
      for (; at > begin && ranks_in_order[partners[at - 1]] > ranks_in_order[one]; --at) {
        partners[at] = partners[at - 1];
      }
      partners[at] = one;
    }
    for (std::uint64_t entry = begin; entry < end; ++entry) {
      first[entry] = grains[slot].id;
      second[entry] = grains[partners[entry]].id;
    }
  }
};

/// Copies the arrived histories to the entries of the list.
template <typename T>
struct recall_memories {
  const std::uint32_t* previous;  ///< of contact_matcher
  const traveling_memory<T>* arrived;
  std::uint32_t* partners;
  contact_memory<T>* memories;
  std::uint32_t layers;  ///< of friction_partners

  QUADRAT_HD void operator()(std::size_t entry) const {
    const std::uint32_t before = previous[entry];
    if (before == no_contact) return;
    partners[entry] |= remembers;
    memories[entry * layers] = {arrived[before].displacement, arrived[before].scale};
    if (layers > 1) memories[entry * layers + 1] = {arrived[before].rolling, T(0)};
  }
};

/// Moves own grains from their listed positions to the present ones.
template <typename T>
struct displace_own {
  const vec<T, 3>* positions;
  grain_place<T>* places;

  QUADRAT_HD void operator()(std::size_t slot) const { places[slot].position = positions[slot]; }
};

}  // namespace quadrat::detail
