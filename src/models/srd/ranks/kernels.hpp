// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/run_fault.hpp"
#include "models/srd/accumulate.hpp"
#include "models/srd/collision.hpp"
#include "models/srd/ranks/cell_window.hpp"
#include "models/srd/ranks/shared_cells.hpp"
#include "models/srd/setup.hpp"
#include "models/srd/streaming.hpp"
#include "models/wide_access.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// The kernel bodies of distributed_srd: the passes of srd, over the particles and cells of one rank.
namespace quadrat::detail {

/// The particles of a rank in any order, solutes included.
template <typename T, int D>
struct srd_own_particles : srd_slots<T, D> {
  [[nodiscard]] QUADRAT_HD T mass_of(const srd_setup<T, D>& setup, std::size_t i) const {
    if (!setup.solutes()) return T(1);
    const std::uint32_t id = this->ids[i];
    return id < setup.fluid ? T(1) : this->solute_masses[id - setup.fluid];
  }
};

/// Velocities after the last collision. Velocities in memory may still lack it.
template <typename T, int D>
struct srd_own_present {
  srd_setup<T, D> setup;
  cell_window<D> window;
  srd_own_particles<T, D> particles;
  const srd_turn<T, D>* turns;  ///< of the cells of the window
  vec<T, D> last_shift;
  bool pending;

  [[nodiscard]] QUADRAT_HD vec<T, D> velocity(std::size_t i, const vec<T, D>& position) const {
    const vec<T, D> before = particles.velocity_of(i);
    if (!pending) return before;
    const int cell = window.index(setup.shifted_indices(position, last_shift));
    return srd_collided(setup, wide_load(turns + cell), before);
  }
};

/// The particles that have left the window.
struct srd_stray_list {
  static constexpr std::size_t most = 1024;

  std::uint64_t* number;
  std::uint32_t* particles;  ///< the first `most` of them

  QUADRAT_HD void add(std::size_t i) const {
    const std::uint64_t k = atomic_add(number, std::uint64_t{1});
    if (k < most) particles[k] = static_cast<std::uint32_t>(i);
  }
};

/// Adds particles to the cells of the window, and lists those that have left it.
template <typename T, int D, typename Sums>
struct srd_window_sums {
  Sums sums;
  vec<T, D> shift;
  srd_stray_list strays;

  QUADRAT_HD void add(const srd_own_present<T, D>& present, std::size_t i, const vec<T, D>& position,
                      const vec<T, D>& velocity) const {
    const int cell = present.window.index(present.setup.shifted_indices(position, shift));
    if (cell < 0) {
      strays.add(i);
    } else {
      sums.add(static_cast<cell_id>(cell), velocity, present.particles.mass_of(present.setup, i));
    }
  }
};

/// Completes the collision of the last step, streams, and adds to the cells of the next collision.
template <typename T, int D, typename Sums>
struct srd_move_own {
  srd_own_present<T, D> present;
  srd_window_sums<T, D, Sums> next;
  srd_step_words words;
  std::uint64_t step;
  run_fault fault;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (words.halted_before(step)) return;
    const srd_own_particles<T, D>& particles = present.particles;
    vec<T, D> position = particles.position_of(i);
    vec<T, D> velocity = present.velocity(i, position);
    if (srd_too_fast(present.setup, velocity)) {
      fault.raise(step + 1, particles.ids[i]);
      velocity = vec<T, D>{};
    } else {
      srd_stream(present.setup, position, velocity);
    }
    particles.set_position(i, position);
    particles.set_velocity(i, velocity);
    next.add(present, i, position, velocity);
  }
};

/// Only adds to cells: after particles have changed ranks.
template <typename T, int D, typename Sums>
struct srd_add_own {
  srd_own_present<T, D> present;
  srd_window_sums<T, D, Sums> next;

  QUADRAT_HD void operator()(std::size_t i) const {
    next.add(present, i, present.particles.position_of(i), present.particles.velocity_of(i));
  }
};

/// Turns the sums of a cell into its collision, and resets the sums.
template <typename T, int D, typename Sums>
struct srd_decide_own {
  srd_setup<T, D> setup;
  cell_window<D> window;
  Sums sums;
  srd_turn<T, D>* turns;
  std::uint64_t step;
  double room;
  run_fault fault;

  /// `place`: the number of the cell in the window; `totals`: its sums.
  template <typename Totals>
  QUADRAT_HD void operator()(std::uint32_t place, const Totals& totals) const {
    const cell_id number = window.whole() ? place : srd_setup<T, D>::number_of(window.cell(place), setup.shifted_cells);
    if (static_cast<double>(totals.count) > room) fault.raise(step + 1, number | srd_cell_mark);
    wide_store(turns + place, srd_make_turn(setup, {setup.seed, step, number}, totals));
    sums.reset(place);
  }
};

/// For cells that no other rank has in its window or reaches. All loads come before the first branch. The turn of an
/// empty cell is never read.
template <typename T, int D, typename Sums>
struct srd_decide_inner {
  srd_decide_own<T, D, Sums> decide;
  const std::uint8_t* shared;  ///< by cell of the window
  srd_step_words words;

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto place = static_cast<std::uint32_t>(i);
    const auto totals = decide.sums.read(place);
    const std::uint8_t elsewhere = shared[i];
    const bool halted = words.halted_before(decide.step);
    if (static_cast<int>(elsewhere != 0) | static_cast<int>(halted) | static_cast<int>(!(totals.count > 0))) return;
    decide(place, totals);
  }
};

/// For the other cells: adds up the parts of all ranks first.
template <typename T, int D, typename Sums, typename V>
struct srd_decide_shared {
  srd_decide_own<T, D, Sums> decide;
  const std::uint32_t* places;
  std::size_t count;
  cell_parts<V> parts;
  srd_step_flags flags;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (flags.halts(decide.step, i) || i >= count) return;
    const std::uint32_t place = places[i];
    parts.add_up(i, place);
    decide(place, decide.sums.read(place));
  }
};

/// Writes the velocities after the last collision.
template <typename T, int D>
struct srd_finish_own {
  srd_own_present<T, D> present;
  vec<T, D>* velocities;

  QUADRAT_HD void operator()(std::size_t i) const {
    velocities[i] = present.velocity(i, present.particles.position_of(i));
  }
};

}  // namespace quadrat::detail
