// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "models/granular/force.hpp"
#include "models/granular/sum.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/atomic.hpp"

/// The kernel bodies of distributed_granular: the equations and the order of operations of granular_cells_engine, for
/// the first grains of arrays that ghosts follow. The ids of grains are in their records.
namespace quadrat::detail {

template <typename T>
[[nodiscard]] QUADRAT_HD T distance_between(const vec<T, 3>& a, const vec<T, 3>& b) {
  return std::sqrt(squared_norm(a - b));
}

/// Step 1 of the model without a step 3 before it, to be called once for each grain. Returns the distance it has moved.
template <typename T>
struct move_own_grains {
  granular_motion<T> motion;
  grain_records<T> grains;
  std::uint64_t step;
  run_fault fault;

  QUADRAT_HD T operator()(std::size_t i) const {
    const vec<T, 3> before = grains.positions[i].position;
    vec<T, 3> position = before;
    velocity_record<T> record = grains.velocities[i];
    if (!motion(position, record.velocity)) fault.raise(step, record.id);
    grains.positions[i] = {position, no_particle};
    grains.velocities[i] = record;
    return distance_between(position, before);
  }
};

/// *largest = max(*largest, value) for nonnegative floats, which compare like their bits.
template <typename T>
QUADRAT_HD void raise_largest(T* largest, T value) {
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  auto* const target = reinterpret_cast<word*>(largest);
  word bits;
  memcpy(&bits, &value, sizeof(bits));
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  // One thread per warp, to avoid a queue at one address.
  const auto leading = static_cast<unsigned>(bits >> (8 * sizeof(word) - 32));
  if (leading < __reduce_max_sync(__activemask(), leading)) return;
#endif
  // The stored value is rarely smaller, and reading it is much faster.
  if (bits <= *static_cast<volatile const word*>(target)) return;
  atomic_max(target, bits);
}

/// The words of faults: one for forces, and one for moves, which are made ahead of their step.
enum granular_fault : std::size_t { fault_of_force, fault_of_move, granular_faults };

/// Clears the faults of a step's forces before they are computed again.
struct forget_faults {
  std::uint64_t* words;
  std::uint64_t step;

  QUADRAT_HD void operator()(std::size_t which) const {
    const std::uint64_t first = which == fault_of_move ? step + 1 : step;
    if (words[which] >> 32 >= first) words[which] = no_run_fault;
  }
};

/// Step 3 of the model and, if `move` is set, step 1 of the next. Grains are written to other arrays, so that neighbors
/// read the old ones.
template <typename View, typename T, bool Canonical>
struct push_own_grains {
  View view;
  granular_law<T> law;
  granular_obstacle<T> obstacle;
  granular_motion<T> motion;
  grain_records<T> grains;
  grain_records<T> next;
  bool move;
  std::uint64_t step;
  std::uint64_t* faults;
  T* largest;  ///< receives the largest move of a grain

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto slot = static_cast<std::uint32_t>(i);
    velocity_record<T> record = read_record(grains.velocities, slot);
    const vec<T, 3> before = read_record(grains.positions, slot).position;
    const vec<T, 3> force = contact_force(slot) + obstacle.force(law, before, record.velocity);
    const vec<T, 3> velocity = record.velocity + force;
    const bool finite = is_finite(velocity);
    record.velocity = finite ? velocity : vec<T, 3>{};
    if (!finite) run_fault{faults + fault_of_force}.raise(step, record.id);
    vec<T, 3> position = before;
    if (move && !motion(position, record.velocity)) run_fault{faults + fault_of_move}.raise(step + 1, record.id);
    next.positions[slot] = {position, no_particle};
    next.velocities[slot] = record;
    if (move) raise_largest(largest, distance_between(position, before));
  }

 private:
  [[nodiscard]] QUADRAT_HD vec<T, 3> contact_force(std::uint32_t slot) const {
    if constexpr (requires { view.force(law, grains, slot); }) {
      return view.force(law, grains, slot);
    } else if constexpr (Canonical) {
      return force_in_id_order<false, true>(view, law, grains, slot);
    } else {
      return force_in_walking_order<false>(view, law, grains, slot);
    }
  }
};

/// The distance of a grain from its position when the ghosts were chosen.
template <typename T>
struct distance_moved {
  const packed_record<T, 3>* positions;
  const packed_record<T, 3>* before;

  QUADRAT_HD T operator()(std::size_t i) const { return distance_between(positions[i].position, before[i].position); }
};

}  // namespace quadrat::detail
