// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/run_fault.hpp"
#include "models/srd/accumulate.hpp"
#include "models/srd/collision.hpp"
#include "models/srd/setup.hpp"
#include "models/srd/streaming.hpp"
#include "models/wide_access.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// The velocity after the last collision. Velocities in memory may still lack it (the collision is pending).
template <typename T, int D>
struct srd_present {
  srd_setup<T, D> setup;
  srd_slots<T, D> slots;
  const srd_turn<T, D>* turns;
  const srd_clock<T, D>* clock;

  [[nodiscard]] QUADRAT_HD vec<T, D> velocity(std::size_t slot, const vec<T, D>& position) const {
    const vec<T, D> before = slots.velocity_of(slot);
    if (clock->pending == 0) return before;
    return srd_collided(setup, wide_load(turns + setup.shifted_cell(position, clock->last_shift)), before);
  }
};

/// The pass over particles: completes the collision of the last step, streams, and adds to the cells of the next
/// collision. A particle that moves too far, or whose velocity is not finite, stays in place at rest and raises the
/// fault.
template <typename T, int D, typename Sums>
struct srd_move {
  srd_present<T, D> present;
  Sums sums;
  std::uint64_t* turn_step;  ///< passes the number of the step to the pass over cells
  run_fault fault;

  QUADRAT_HD void operator()(std::size_t slot) const {
    if (slot == 0) *turn_step = present.clock->step;
    const srd_setup<T, D>& setup = present.setup;
    if (slot >= setup.particles) return;
    vec<T, D> position = present.slots.position_of(slot);
    vec<T, D> velocity = present.velocity(slot, position);
    if (srd_too_fast(setup, velocity)) {
      fault.raise(present.clock->step + 1, present.slots.id_of(setup, slot));
      velocity = vec<T, D>{};
    } else {
      srd_stream(setup, position, velocity);
    }
    present.slots.set_position(slot, position);
    present.slots.set_velocity(slot, velocity);
    sums.add(setup.shifted_cell(position, present.clock->next_shift), velocity, present.slots.mass_of(setup, slot));
  }
};

/// The pass over cells: turns their sums into collisions, resets the sums, and advances the clock.
template <typename T, int D, typename Sums>
struct srd_decide {
  srd_setup<T, D> setup;
  Sums sums;
  srd_turn<T, D>* turns;
  const std::uint64_t* turn_step;
  srd_clock<T, D>* clock;
  double room;  ///< particles that a cell can hold
  run_fault fault;

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto cell = static_cast<cell_id>(i);
    const std::uint64_t step = *turn_step;
    const auto totals = sums.read(cell);
    if (static_cast<double>(totals.count) > room) fault.raise(step + 1, cell | srd_cell_mark);
    wide_store(turns + cell, srd_make_turn(setup, {setup.seed, step, cell}, totals));
    sums.reset(cell);
    if (i == 0) *clock = {step + 1, 1, clock->next_shift, srd_shift(setup, step + 1)};
  }
};

/// Starts the clock at a step, with no pending collision.
template <typename T, int D>
struct srd_start_clock {
  srd_setup<T, D> setup;
  srd_clock<T, D>* clock;
  std::uint64_t step;

  QUADRAT_HD void operator()(std::size_t /*i*/) const { *clock = {step, 0, vec<T, D>{}, srd_shift(setup, step)}; }
};

/// Completes the pending collision in memory.
template <typename T, int D>
struct srd_finish {
  srd_present<T, D> present;

  QUADRAT_HD void operator()(std::size_t slot) const {
    present.slots.set_velocity(slot, present.velocity(slot, present.slots.position_of(slot)));
  }
};

/// Writes positions and velocities by id. Each array may be null.
template <typename T, int D>
struct srd_bring_home {
  srd_present<T, D> present;
  vec<T, D>* positions;
  vec<T, D>* velocities;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const std::uint32_t id = present.slots.id_of(present.setup, slot);
    const vec<T, D> position = present.slots.position_of(slot);
    if (positions != nullptr) positions[id] = position;
    if (velocities != nullptr) velocities[id] = present.velocity(slot, position);
  }
};

/// Fills slots from arrays by id; slot = first + index.
template <typename T, int D>
struct srd_place {
  srd_slots<T, D> slots;
  const vec<T, D>* positions;
  const vec<T, D>* velocities;
  std::size_t first;

  QUADRAT_HD void operator()(std::size_t i) const {
    slots.set_position(first + i, positions[i]);
    slots.set_velocity(first + i, velocities[i]);
  }
};

/// Numbers the slots by id.
struct srd_count_up {
  std::uint32_t* ids;
  QUADRAT_HD void operator()(std::size_t i) const { ids[i] = static_cast<std::uint32_t>(i); }
};

template <typename T, int D>
struct srd_sort_key {
  srd_setup<T, D> setup;
  srd_slots<T, D> slots;
  std::uint32_t* keys;

  QUADRAT_HD void operator()(std::size_t slot) const { keys[slot] = setup.home_cell(slots.position_of(slot)); }
};

template <typename V>
struct srd_gather {
  const std::uint32_t* order;
  const V* from;
  V* to;

  QUADRAT_HD void operator()(std::size_t slot) const { to[slot] = from[order[slot]]; }
};

}  // namespace quadrat::detail
