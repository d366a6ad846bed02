// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/granular/engine.hpp"
#include "models/granular/force.hpp"
#include "models/granular/sum.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// The kernel bodies of granular_cells_engine, one call per slot.
namespace quadrat::detail {

/// Step 1 of the model without a step 3 before it.
template <typename T>
struct granular_move {
  granular_motion<T> motion;
  grain_records<T> grains;
  const std::uint64_t* step;
  run_fault fault;

  QUADRAT_HD void operator()(std::size_t slot) const {
    vec<T, 3> position = grains.positions[slot].position;
    velocity_record<T> record = grains.velocities[slot];
    if (!motion(position, record.velocity)) fault.raise(*step, record.id);
    grains.positions[slot] = {position, no_particle};
    grains.velocities[slot] = record;
  }
};

/// Step 3 of the model and, if `move` is set, step 1 of the next.
template <typename View, typename T, bool Carried, bool Canonical>
struct granular_step {
  View view;
  granular_law<T> law;
  granular_obstacle<T> obstacle;
  granular_motion<T> motion;
  grain_records<T> from;
  grain_records<T> to;
  step_words words;
  bool move;

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto slot = static_cast<std::uint32_t>(i);
    if (slot == 0) *words.next = *words.now + 1;
    vec<T, 3> position = read_record(from.positions, slot).position;
    velocity_record<T> record = read_record(from.velocities, slot);
    const vec<T, 3> force = contact_force(slot) + obstacle.force(law, position, record.velocity);
    const vec<T, 3> velocity = record.velocity + force;
    const bool finite = is_finite(velocity);
    record.velocity = finite ? velocity : vec<T, 3>{};
    const bool sound = !move || motion(position, record.velocity);
    if (!finite || !sound) words.fault.raise(*words.now + (finite ? 1 : 0), record.id);
    to.positions[slot] = {position, no_particle};
    to.velocities[slot] = record;
  }

 private:
  [[nodiscard]] QUADRAT_HD vec<T, 3> contact_force(std::uint32_t slot) const {
    if constexpr (requires { view.force(law, from, slot); }) {
      return view.force(law, from, slot);
    } else if constexpr (Canonical) {
      return force_in_id_order<Carried>(view, law, from, slot);
    } else {
      return force_in_walking_order<Carried>(view, law, from, slot);
    }
  }
};

/// Copies arrays by particle id to records by slot; `order` is the id of each slot (nullptr: slot = id).
template <typename T>
struct place_grains {
  const vec<T, 3>* positions;
  const vec<T, 3>* velocities;
  const particle_id* order;
  grain_records<T> grains;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = order != nullptr ? order[slot] : static_cast<particle_id>(slot);
    grains.positions[slot] = {positions[id], no_particle};
    grains.velocities[slot] = {velocities[id], id};
  }
};

/// Copies records by slot to arrays by particle id.
template <typename T>
struct gather_grains {
  grain_records<T> grains;
  vec<T, 3>* positions;
  vec<T, 3>* velocities;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const std::size_t id = grains.velocities[slot].id;
    positions[id] = grains.positions[slot].position;
    velocities[id] = grains.velocities[slot].velocity;
  }
};

template <typename T>
struct read_ids {
  const velocity_record<T>* velocities;
  particle_id* ids;

  QUADRAT_HD void operator()(std::size_t slot) const { ids[slot] = velocities[slot].id; }
};

}  // namespace quadrat::detail
