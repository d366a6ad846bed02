// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/granular/force.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat {

namespace detail {

/// The constants of a run, in its precision.
template <typename T>
struct granular_setup {
  grid<T, 3> space;  ///< not folded; engines fold it for the grains
  T radius;
  granular_motion<T> motion;
  granular_law<T> law;
  granular_obstacle<T> obstacle;
  std::size_t count;       ///< of grains
  std::uint32_t capacity;  ///< of a cell, for fixed cells; 0: default
};

/// Grains in the memory of the context, as one engine hands them to another.
template <typename T>
struct placed_grains {
  const vec<T, 3>* positions;   ///< by id
  const vec<T, 3>* velocities;  ///< by id
  const particle_id* order;     ///< the id of the grain in each slot; nullptr: the engine's choice
  std::uint64_t step;           ///< steps so far
  const std::uint64_t* fault;   ///< the word of a run_fault; nullptr: none
};

/// Throws data_error for the word of a run_fault, unless it is no_run_fault.
void throw_if_blown_up(std::uint64_t word);

}  // namespace detail

/// A method of the model: owns the grains on the device and moves them. A new engine derives from this class and has a
/// line in methods.hpp. All engines use the equations of force.hpp, so that a pair has the same bits in all.
///
/// Calls come from one host thread at a time and, unless their comment says so, do not wait for the device.
template <typename Context, typename T>
class granular_engine {
 public:
  virtual ~granular_engine() = default;

  /// Sets the grains (host memory, by particle id), the id of the grain in each slot of memory (empty: the engine's
  /// choice) and the number of steps so far; forgets faults. Synchronizes.
  virtual void set(std::span<const vec<T, 3>> positions, std::span<const vec<T, 3>> velocities,
                   std::span<const particle_id> storage_order, std::uint64_t step) = 0;

  /// Enqueues the same for grains in the memory of the context, including their fault.
  virtual void place(const detail::placed_grains<T>& grains) = 0;
  /// The word of the run_fault, in the memory of the context.
  [[nodiscard]] virtual const std::uint64_t* fault() const = 0;

  /// Enqueues time steps. Faults are recorded on the device until `set`.
  virtual void advance(std::size_t steps) = 0;

  /// Synchronizes. Throws what throw_if_blown_up or the cell list throws, at every call until `set`.
  virtual void check() = 0;

  /// Writes positions and velocities by particle id to device memory.
  virtual void gather(vec<T, 3>* positions, vec<T, 3>* velocities) = 0;

  /// Writes the id of the grain in each slot to device memory; false, and nothing is written, if the engine does not
  /// reorder grains.
  [[nodiscard]] virtual bool gather_order(particle_id* ids) = 0;
  /// The id of the grain in each slot; empty if the engine does not reorder grains. Synchronizes.
  [[nodiscard]] virtual std::vector<particle_id> storage_order() = 0;

  /// Bytes of device memory held.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

namespace detail {

/// Makes the engine of a method of quadrat::papers: see core/paper_methods.hpp.
template <typename Context, typename T>
using granular_engine_maker = std::unique_ptr<granular_engine<Context, T>>(const Context&, const granular_setup<T>&);

}  // namespace detail

}  // namespace quadrat
