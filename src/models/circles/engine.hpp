// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/circles/force.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/models/circles.hpp"

namespace quadrat {

namespace detail {

/// The constants of a run, in its precision.
template <typename T, int D>
struct circles_setup {
  grid<T, D> space;
  circles_parameters parameters;
  std::size_t count;             ///< of agents
  bool queue_neighbors;          ///< see circles_options
  std::optional<bool> queues{};  ///< whether the kernels of queue.hpp queue neighbors; else the mean density decides
};

/// Agents in the memory of the context, as one engine hands them to another.
template <typename T, int D>
struct placed_agents {
  const vec<T, D>* positions;  ///< by id
  const particle_id* order;    ///< the id of the agent in each slot; nullptr: slot = id
  std::uint64_t step;          ///< steps so far
  const std::uint64_t* fault;  ///< the word of a run_fault; nullptr: none
};

}  // namespace detail

/// One order of walking over one cell list: owns the agents on the device and moves them.
///
/// Calls come from one host thread at a time and, unless their comment says so, do not wait for the device.
template <typename Context, typename T, int D>
class circles_engine {
 public:
  virtual ~circles_engine() = default;

  /// Sets the agents (host memory, by id), the id of the agent in each slot of memory (empty: slot = id) and the number
  /// of steps so far; forgets faults. Synchronizes.
  virtual void set(std::span<const vec<T, D>> positions, std::span<const particle_id> storage_order,
                   std::uint64_t step) = 0;

  /// Enqueues the same for agents in the memory of the context, with their fault.
  virtual void place(const detail::placed_agents<T, D>& agents) = 0;
  /// The word of the run_fault, in the memory of the context.
  [[nodiscard]] virtual const std::uint64_t* fault() const = 0;

  /// Enqueues steps. Faults are recorded on the device until `set`.
  virtual void advance(std::size_t steps) = 0;

  /// Takes steps one by one and records times and neighbors; numbers them from 1. Synchronizes.
  virtual void record(std::size_t steps, std::vector<circles_record>& records) = 0;

  /// Synchronizes. Throws data_error for the first position that became not finite, at every call until `set`.
  virtual void check() = 0;

  /// All statistics except the step. Synchronizes.
  [[nodiscard]] virtual circles_statistics measure() = 0;

  /// Writes positions by agent to device memory.
  virtual void gather(vec<T, D>* positions) = 0;
  /// Writes numbers of neighbors by agent to device memory.
  virtual void gather_neighbors(std::uint32_t* neighbors) = 0;

  /// Writes the agent in each slot to device memory.
  virtual void gather_order(particle_id* ids) = 0;
  /// The agent in each slot. Synchronizes.
  [[nodiscard]] virtual std::vector<particle_id> storage_order() = 0;

  /// Bytes of device memory held.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

namespace detail {

/// Throws data_error for the word of a run_fault, unless it is no_run_fault.
void throw_circles_fault(std::uint64_t fault);

/// Makes the engine for an order and a cell list. Throws argument_error for unknown names and an order that cannot walk
/// the cell list.
template <typename Context, typename T, int D>
[[nodiscard]] std::unique_ptr<circles_engine<Context, T, D>> make_circles_engine(std::string_view order,
                                                                                 std::string_view cell_list,
                                                                                 const Context& context,
                                                                                 const circles_setup<T, D>& setup);

}  // namespace detail

}  // namespace quadrat
