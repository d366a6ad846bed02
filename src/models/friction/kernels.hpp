// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "models/arithmetic.hpp"
#include "models/friction/grain.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/atomic.hpp"

/// The kernel bodies of granular_friction, one call per slot (or particle).
namespace quadrat::detail {

/// Steps enqueued between two checks by the host.
inline constexpr std::size_t most_friction_steps = 32;

/// Words shared by the steps of a batch and the host. A step is halted if an earlier one found that the neighbor list
/// is stale or the run has blown up; each step passes this on to the next.
enum friction_word : std::size_t {
  fault_word,    ///< of a run_fault, with steps of the batch
  stale_word,    ///< nonzero: a grain has moved by half of the skin
  done_word,     ///< steps of the batch that were not halted
  halted_words,  ///< by step of the batch, and for the one after the last
  friction_words = halted_words + most_friction_steps + 1
};

/// One time step: forces at the positions, then velocities from half a step before to half a step after, then
/// positions.
template <typename T, typename Materials>
struct friction_step {
  friction_forces<T, Materials> forces;
  moving_grains<T> to;
  const vec<T, 3>* listed;  ///< positions at which the list was made
  std::uint64_t* words;
  std::size_t step;  ///< of the batch
  vec<T, 3> gravity;
  T half_skin;

  /// The largest overlap with a wall, and the largest move, in units of the radius.
  static constexpr T most = T(0.5);

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto slot = static_cast<std::uint32_t>(i);
    const bool halted = words[halted_words + step] != 0;
    if (slot == 0) note(halted);
    if (halted) return;
    const T time_step = forces.materials.time_step();
    const grain_in_work<T> self = forces.grain(slot);
    const grain_load<T> load = forces.template load<true>(self);
    const vec<T, 3> velocity = self.velocity + (load.force * (T(1) / self.mass) + gravity) * time_step;
    const vec<T, 3> spin = self.spin + load.torque * (self.inverse_inertia * time_step);
    const vec<T, 3> move = velocity * time_step;
    const bool sound = is_finite(velocity) && is_finite(spin) && load.deepest_in_wall <= most &&
                       squared_norm(move) <= most * most * self.radius * self.radius;
    if (!sound) {
      run_fault{words + fault_word}.raise(step + 1, self.id);
      halt();
    }
    store(slot, self, sound ? move : vec<T, 3>{}, {sound ? velocity : vec<T, 3>{}, self.id},
          {sound ? spin : vec<T, 3>{}, load.walls});
  }

 private:
  QUADRAT_HD void halt() const { atomic_max(words + halted_words + step + 1, 1); }
  QUADRAT_HD void note(bool halted) const {
    if (halted) {
      halt();
    } else {
      words[done_word] = step + 1;
    }
  }
  QUADRAT_HD void store(std::uint32_t slot, const grain_in_work<T>& self, const vec<T, 3>& move,
                        const grain_velocity<T>& velocity, const grain_spin<T>& spin) const {
    // Moves of slow grains may be below the rounding of their positions.
    const vec<T, 3> whole_move = move + forces.grains.remainders[slot];
    const vec<T, 3> position = self.position + whole_move;
    to.places[slot] = {position, self.radius};
    to.remainders[slot] = whole_move - (position - self.position);
    to.velocities[slot] = velocity;
    to.spins[slot] = spin;
    if (squared_norm(position - listed[slot]) > half_skin * half_skin) {
      atomic_max(words + stale_word, 1);
      halt();
    }
  }
};

/// The contacts of a grain, for statistics.
template <typename T>
struct grain_report {
  T energy;
  T deepest;
  std::uint32_t contacts;
};

/// Velocities part of a step later, by a force pass that changes no history.
template <typename T, typename Materials>
struct friction_kick {
  friction_forces<T, Materials> forces;
  vec<T, 3> gravity;
  T time;
  grain_velocity<T>* velocities;
  grain_spin<T>* spins;
  grain_report<T>* reports;

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto slot = static_cast<std::uint32_t>(i);
    const grain_in_work<T> self = forces.grain(slot);
    const grain_load<T> load = forces.template load<false>(self);
    reports[slot] = {load.energy, load.deepest, load.contacts};
    velocities[slot] = {self.velocity + (load.force * (T(1) / self.mass) + gravity) * time, self.id};
    spins[slot] = {self.spin + load.torque * (self.inverse_inertia * time), self.walls};
  }
};

/// The cell and the slot of each grain, by particle.
template <typename T>
struct friction_sort_key {
  grid<T, 3> space;
  moving_grains<T> grains;
  std::uint32_t* cells;
  std::uint32_t* slots;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = grains.velocities[slot].id;
    cells[id] = row_major_numbering<3>{space.stored}.id(space.cell_of(grains.places[slot].position));
    slots[id] = static_cast<std::uint32_t>(slot);
  }
};

/// Moves grains into the order of `ids`.
template <typename T>
struct friction_gather {
  const std::uint32_t* ids;    ///< by new slot
  const std::uint32_t* slots;  ///< the old ones, by particle
  moving_grains<T> from;
  moving_grains<T> to;
  const contact_memory<T>* from_walls;
  contact_memory<T>* to_walls;
  const std::uint32_t* from_materials;  ///< none for one material
  std::uint32_t* to_materials;
  std::size_t count;
  std::uint32_t wall_count;
  std::uint32_t layers;  ///< of friction_partners
  vec<T, 3>* listed;
  T* radii;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const std::uint32_t old = slots[ids[slot]];
    const grain_place<T> place = from.places[old];
    to.places[slot] = place;
    to.velocities[slot] = from.velocities[old];
    const grain_spin<T> spin = from.spins[old];
    to.spins[slot] = spin;
    to.remainders[slot] = from.remainders[old];
    listed[slot] = place.position;
    radii[slot] = place.radius;
    if (from_materials != nullptr) to_materials[slot] = from_materials[old];
    for (std::uint32_t plane = 0; plane < wall_count * layers; ++plane) {
      if ((spin.walls >> plane % wall_count & 1u) != 0)
        to_walls[plane * count + slot] = from_walls[plane * count + old];
    }
  }
};

/// The two particles of each entry of the list: the keys that identify contacts.
template <typename T>
struct friction_keys {
  const std::uint64_t* offsets;
  const particle_id* neighbors;  ///< slots
  const grain_velocity<T>* grains;
  particle_id* first;
  particle_id* second;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = grains[slot].id;
    const std::uint64_t last = offsets[slot + 1];
    for (std::uint64_t entry = offsets[slot]; entry < last; ++entry) {
      first[entry] = id;
      second[entry] = grains[neighbors[entry]].id;
    }
  }
};

/// Carries histories over to the entries of the new list.
template <typename T>
struct friction_carry {
  const std::uint32_t* previous;  ///< of contact_matcher
  const particle_id* neighbors;
  const std::uint32_t* old_partners;
  const contact_memory<T>* old_memories;
  std::uint32_t* partners;
  contact_memory<T>* memories;
  std::uint32_t layers;  ///< of friction_partners

  QUADRAT_HD void operator()(std::size_t entry) const {
    const std::size_t before = previous[entry];
    const bool known = before != no_particle && (old_partners[before] & remembers) != 0;
    partners[entry] = neighbors[entry] | (known ? remembers : 0u);
    if (!known) return;
    for (std::uint32_t k = 0; k < layers; ++k) memories[entry * layers + k] = old_memories[before * layers + k];
  }
};

/// Grains by particle id, in the memory of the device.
template <typename T>
struct friction_arrays {
  vec<T, 3>* positions;
  vec<T, 3>* remainders;
  vec<T, 3>* velocities;
  vec<T, 3>* spins;
};

/// Copies arrays by particle to slots in the order of particles.
template <typename T>
struct friction_place {
  friction_arrays<T> from;
  const T* radii;
  const std::uint32_t* walls;
  moving_grains<T> to;

  QUADRAT_HD void operator()(std::size_t i) const {
    to.places[i] = {from.positions[i], radii[i]};
    to.remainders[i] = from.remainders[i];
    to.velocities[i] = {from.velocities[i], static_cast<particle_id>(i)};
    to.spins[i] = {from.spins[i], walls[i]};
  }
};

/// Moves grains from their listed positions to the present ones.
template <typename T>
struct friction_displace {
  const vec<T, 3>* positions;  ///< by particle
  moving_grains<T> grains;

  QUADRAT_HD void operator()(std::size_t slot) const {
    grains.places[slot].position = positions[grains.velocities[slot].id];
  }
};

/// Copies slots to arrays by particle.
template <typename T>
struct friction_bring_home {
  moving_grains<T> from;
  const vec<T, 3>* listed;
  friction_arrays<T> to;
  vec<T, 3>* listed_to;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = from.velocities[slot].id;
    to.positions[id] = from.places[slot].position;
    to.remainders[id] = from.remainders[slot];
    to.velocities[id] = from.velocities[slot].velocity;
    to.spins[id] = from.spins[slot].spin;
    listed_to[id] = listed[slot];
  }
};

}  // namespace quadrat::detail
