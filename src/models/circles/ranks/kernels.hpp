// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/finite.hpp"
#include "models/circles/force.hpp"
#include "models/circles/kernels.hpp"
#include "models/run_fault.hpp"
#include "models/wide_access.hpp"
#include "quadrat/core/macros.hpp"

/// The kernel bodies of distributed_circles. Own agents are the first of their array, ghosts follow.
namespace quadrat::detail {

/// The subset of the own agents.
enum class circles_part { all, with_copies, without_copies };

/// One step, for a slot of the cell list of own agents and ghosts: the walk reads agents in the order of cells.
template <typename Order, typename View, typename Law, typename T, int D>
struct circles_step_of_own {
  View view;
  Law law;
  const agent_record<T, D>* from;  ///< by slot
  agent_record<T, D>* to;          ///< in the order before the list was built
  std::uint32_t* neighbors;        ///< likewise; nullptr: not requested
  std::uint32_t own;
  std::uint64_t step;
  run_fault fault;
  const std::uint32_t* copies;  ///< of own agents, on other ranks
  circles_part part;

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto slot = static_cast<std::uint32_t>(i);
    const particle_id place = view.particle(slot);
    if (place >= own) return;
    if (part != circles_part::all && (copies[place] > 0) != (part == circles_part::with_copies)) return;
    agent_record<T, D> agent = read_record(from, slot);
    const auto sum = walk_agents<Order>(view, law, from, agent.position);
    const vec<T, D> position = law.moved(agent.position, sum);
    if (is_finite(position)) {
      agent.position = position;
    } else {
      fault.raise(step, agent.id);
    }
    to[place] = agent;
    if (neighbors != nullptr) neighbors[place] = sum.met - 1;
  }
};

}  // namespace quadrat::detail
