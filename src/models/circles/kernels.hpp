// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "models/circles/force.hpp"
#include "models/run_fault.hpp"
#include "models/wide_access.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/neighborhood.hpp"

/// The kernel bodies of circles_cells_engine, one call per slot.
namespace quadrat::detail {

/// The sum for an agent at `here`. Agents are in the order of slots, so that a range of slots is contiguous, with one
/// 16-byte load per agent in float.
template <typename Order, typename View, typename Law, typename T, int D>
[[nodiscard]] QUADRAT_HD auto walk_agents(const View& view, const Law& law, const agent_record<T, D>* agents,
                                          const vec<T, D>& here) {
  typename Law::sum_type sum;
  for_each_range_in_reach<Order>(view, here, law.reach, [&](std::uint32_t first, std::uint32_t last) {
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
    for (std::uint32_t slot = first; slot < last; ++slot) {
      const vec<T, D> r = read_record(agents, slot).position - here;
      law.meet(r, squared_norm(r), sum);
    }
  });
  return sum;
}

/// One step. `neighbors` (nullptr: not requested) receives the number of neighbors by slot.
template <typename Order, typename View, typename Law, typename T, int D>
struct circles_step {
  View view;
  Law law;
  const agent_record<T, D>* from;
  agent_record<T, D>* to;
  std::uint32_t* neighbors;
  step_words words;

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto slot = static_cast<std::uint32_t>(i);
    if (slot == 0) *words.next = *words.now + 1;
    agent_record<T, D> agent = read_record(from, slot);
    const auto sum = walk_agents<Order>(view, law, from, agent.position);
    const vec<T, D> position = law.moved(agent.position, sum);
    if (is_finite(position)) {
      agent.position = position;
    } else {
      words.fault.raise(*words.now, agent.id);
    }
    to[slot] = agent;
    if (neighbors != nullptr) neighbors[slot] = sum.met - 1;
  }
};

/// Sums and maxima over agents.
struct circles_totals {
  std::uint64_t neighbors = 0;
  std::uint64_t squared_neighbors = 0;
  std::uint64_t most_neighbors = 0;
  double displacement = 0;
  double largest_displacement = 0;
};

struct join_circles_totals {
  QUADRAT_HD circles_totals operator()(const circles_totals& a, const circles_totals& b) const {
    return {a.neighbors + b.neighbors, a.squared_neighbors + b.squared_neighbors,
            a.most_neighbors > b.most_neighbors ? a.most_neighbors : b.most_neighbors, a.displacement + b.displacement,
            a.largest_displacement > b.largest_displacement ? a.largest_displacement : b.largest_displacement};
  }
};

/// Means over all agents, without step and time.
[[nodiscard]] circles_record averaged(const circles_totals& totals, std::size_t agents);

/// Maps a slot to its agent's neighbors and displacement.
template <typename T, int D>
struct read_circles_totals {
  const std::uint32_t* neighbors;
  const agent_record<T, D>* from;
  const agent_record<T, D>* to;

  QUADRAT_HD circles_totals operator()(std::size_t slot) const {
    const std::uint64_t met = neighbors[slot];
    const double moved = std::sqrt(
        static_cast<double>(squared_norm(cast<double>(to[slot].position) - cast<double>(from[slot].position))));
    return {met, met * met, met, moved, moved};
  }
};

/// Totals at `canonical`: lengths are added as integers, so they do not depend on the cell list or the number of
/// ranks.
struct circles_fixed_totals {
  std::uint64_t neighbors = 0;
  std::uint64_t squared_neighbors = 0;
  std::uint64_t most_neighbors = 0;
  std::int64_t whole = 0;  ///< of lengths, in units
  std::int64_t rest = 0;   ///< in 2^-30 units
  double largest_displacement = 0;
};

/// The unit in which lengths of moves are counted.
struct circles_length_unit {
  double scale;  ///< 1 / unit: so that the largest possible move is below 2^31 units

  QUADRAT_HD void add(circles_fixed_totals& totals, double length) const {
    const double scaled = length * scale;
    // Larger only if a run is about to blow up.
    const double fitting = scaled < 0x1p31 ? scaled : 0x1p31;
    const auto whole = static_cast<std::int64_t>(fitting);
    totals.whole += whole;
    totals.rest += static_cast<std::int64_t>((fitting - static_cast<double>(whole)) * 0x1p30);
  }
  [[nodiscard]] QUADRAT_HD circles_totals rounded(const circles_fixed_totals& totals) const {
    const double sum = (static_cast<double>(totals.whole) + static_cast<double>(totals.rest) * 0x1p-30) / scale;
    return {totals.neighbors, totals.squared_neighbors, totals.most_neighbors, sum, totals.largest_displacement};
  }
};

[[nodiscard]] circles_length_unit unit_of_moves(const circles_parameters& parameters, int dimension);

struct join_circles_fixed_totals {
  QUADRAT_HD circles_fixed_totals operator()(const circles_fixed_totals& a, const circles_fixed_totals& b) const {
    return {a.neighbors + b.neighbors,
            a.squared_neighbors + b.squared_neighbors,
            a.most_neighbors > b.most_neighbors ? a.most_neighbors : b.most_neighbors,
            a.whole + b.whole,
            a.rest + b.rest,
            a.largest_displacement > b.largest_displacement ? a.largest_displacement : b.largest_displacement};
  }
};

/// Converts the result of another functor to integers.
template <typename Read>
struct read_circles_fixed_totals {
  Read read;
  circles_length_unit unit;

  QUADRAT_HD circles_fixed_totals operator()(std::size_t slot) const {
    const circles_totals one = read(slot);
    circles_fixed_totals result{one.neighbors,           one.squared_neighbors, one.most_neighbors, 0, 0,
                                one.largest_displacement};
    unit.add(result, one.displacement);
    return result;
  }
};

struct round_circles_totals {
  const circles_fixed_totals* from;
  circles_length_unit unit;
  circles_totals* to;

  QUADRAT_HD void operator()(std::size_t i) const { to[i] = unit.rounded(from[i]); }
};

/// The number of agents that a slot's walk reads.
template <typename Order, typename View, typename T, int D>
struct count_circles_variants {
  View view;
  const agent_record<T, D>* agents;
  T reach;
  std::uint32_t* candidates;

  QUADRAT_HD void operator()(std::size_t slot) const {
    std::uint32_t sum = 0;
    for_each_range_in_reach<Order>(view, agents[slot].position, reach,
                                   [&](std::uint32_t first, std::uint32_t last) { sum += last - first; });
    candidates[slot] = sum;
  }
};

/// Maps a slot to the number stored there.
struct read_number {
  const std::uint32_t* numbers;

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const { return numbers[i]; }
};

/// Copies positions by agent to records by slot; `order` is the agent of each slot (nullptr: slot = agent).
template <typename T, int D>
struct place_agents {
  const vec<T, D>* positions;
  const particle_id* order;
  agent_record<T, D>* agents;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = order != nullptr ? order[slot] : static_cast<particle_id>(slot);
    agents[slot] = {positions[id], id};
  }
};

/// Copies records by slot to positions by agent.
template <typename T, int D>
struct gather_agents {
  const agent_record<T, D>* agents;
  vec<T, D>* positions;

  QUADRAT_HD void operator()(std::size_t slot) const { positions[agents[slot].id] = agents[slot].position; }
};

template <typename T, int D>
struct gather_agent_neighbors {
  const agent_record<T, D>* agents;
  const std::uint32_t* by_slot;
  std::uint32_t* neighbors;

  QUADRAT_HD void operator()(std::size_t slot) const { neighbors[agents[slot].id] = by_slot[slot]; }
};

template <typename T, int D>
struct read_agent_ids {
  const agent_record<T, D>* agents;
  particle_id* ids;

  QUADRAT_HD void operator()(std::size_t slot) const { ids[slot] = agents[slot].id; }
};

}  // namespace quadrat::detail
