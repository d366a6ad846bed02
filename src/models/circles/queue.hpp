// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/circles/force.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/search/lattice/system.hpp"

/// A step of the Circles model on a GPU, over trimmed rows of cells. If cells hold few agents, a thread first tests its
/// candidates, which takes few operations, and keeps one bit per candidate in a queue in shared memory; then it visits
/// only the neighbors, in one loop, so that a warp waits once for the agent with the most neighbors instead of for the
/// longest of each row. If cells hold many agents, the queue would cost more than it saves, and candidates are
/// processed directly.
namespace quadrat::detail {

/// Records that are read beyond the last one of `from`, but not used.
inline constexpr std::size_t circles_padding = 3;

template <typename T, int D>
struct circles_queue_step {
  search_system<T, D> system;
  const std::uint32_t* offsets;  ///< first slot of each cell, and the end
  const agent_record<T, D>* from;
  agent_record<T, D>* to;
  std::uint32_t* neighbors;  ///< nullptr: not requested
  step_words words;
  std::size_t count;
  bool dense;  ///< no queue
};

/// Number of agents per cube (square) with the reach as edge from which on there is no queue: at 8 it costs a tenth
/// more than it saves.
inline constexpr double circles_dense_from = 6;

#if QUADRAT_HAS_CUDA
/// Asynchronous.
template <typename Law, typename T, int D>
void enqueue_circles_queue_step(const cuda_context& context, const circles_queue_step<T, D>& step, const Law& law);
#else
template <typename Law, typename T, int D>
void enqueue_circles_queue_step(const cuda_context& context, const circles_queue_step<T, D>&, const Law&) {
  context.activate();
}
#endif

}  // namespace quadrat::detail
