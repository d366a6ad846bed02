// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "models/circles_force.hpp"
#include "models/records.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/neighborhood.hpp"

#if defined(__CUDACC__)
#include "quadrat/parallel/cuda_launch.hpp"
#endif

/// The bodies that circles_cells_engine launches, one call a slot.
namespace quadrat::detail {

/// What an agent at `here` meets. The agents stand in the order of the cell list's slots, so that a range of slots is
/// read side by side, each with one 16-byte load in float.
template <typename Order, typename View, typename Law, typename T, int D>
[[nodiscard]] QUADRAT_HD circles_sum<T, D> walk_agents(const View& view, const Law& law,
                                                       const agent_record<T, D>* agents, const vec<T, D>& here) {
  circles_sum<T, D> sum;
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

/// The ranges of one thread's walk. On the device they stand in shared memory, a column a thread: whatever places the
/// threads of a warp look at, no two meet in a bank.
struct range_list {
  static constexpr int capacity = 32;
  static constexpr std::uint32_t longest = 0xffff;

  std::uint32_t* first;
  std::uint16_t* length;
  std::size_t stride;

  QUADRAT_HD void set(int k, std::uint32_t begin, std::uint32_t size) const {
    first[static_cast<std::size_t>(k) * stride] = begin;
    length[static_cast<std::size_t>(k) * stride] = static_cast<std::uint16_t>(size);
  }
};

/// Goes through the ranges in one loop, so that a warp waits for the thread with the most agents, and not for the one
/// with the longest range in each round.
template <typename Law, typename T, int D>
QUADRAT_HD void walk_listed(const range_list& ranges, int count, const Law& law, const agent_record<T, D>* agents,
                            const vec<T, D>& here, circles_sum<T, D>& sum) {
  if (count == 0) return;
  int next = 1;
  std::uint32_t slot = ranges.first[0];
  std::uint32_t last = slot + ranges.length[0];
  for (;;) {
    const vec<T, D> r = read_record(agents, slot).position - here;
    law.meet(r, squared_norm(r), sum);
    if (++slot != last) continue;
    if (next == count) return;
    slot = ranges.first[static_cast<std::size_t>(next) * ranges.stride];
    last = slot + ranges.length[static_cast<std::size_t>(next) * ranges.stride];
    ++next;
  }
}

/// As walk_agents, over ranges that are listed first.
template <typename Order, typename View, typename Law, typename T, int D>
[[nodiscard]] QUADRAT_HD circles_sum<T, D> walk_agents_by_list(const View& view, const Law& law,
                                                               const agent_record<T, D>* agents,
                                                               const vec<T, D>& here) {
#if defined(__CUDA_ARCH__)
  __shared__ std::uint32_t first[range_list::capacity * cuda_launch::block];
  __shared__ std::uint16_t length[range_list::capacity * cuda_launch::block];
  const range_list ranges{first + threadIdx.x, length + threadIdx.x, cuda_launch::block};
#else
  std::uint32_t first[range_list::capacity];
  std::uint16_t length[range_list::capacity];
  const range_list ranges{first, length, 1};
#endif
  circles_sum<T, D> sum;
  int count = 0;
  for_each_range_in_reach<Order>(view, here, law.reach, [&](std::uint32_t begin, std::uint32_t end) {
    while (begin < end) {
      if (count == range_list::capacity) {
        walk_listed(ranges, count, law, agents, here, sum);
        count = 0;
      }
      const std::uint32_t size = end - begin < range_list::longest ? end - begin : range_list::longest;
      ranges.set(count++, begin, size);
      begin += size;
    }
  });
  walk_listed(ranges, count, law, agents, here, sum);
  return sum;
}

/// One step. `neighbors` (nullptr: not asked for) gets the number that each slot's agent met.
template <typename Order, bool Listed, typename View, typename Law, typename T, int D>
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
    const circles_sum<T, D> sum = walk(agent.position);
    const vec<T, D> position = law.moved(agent.position, sum);
    if (is_finite(position)) {
      agent.position = position;
    } else {
      words.fault.raise(*words.now, agent.id);
    }
    to[slot] = agent;
    if (neighbors != nullptr) neighbors[slot] = sum.met - 1;
  }

 private:
  [[nodiscard]] QUADRAT_HD circles_sum<T, D> walk(const vec<T, D>& here) const {
    if constexpr (Listed) {
      return walk_agents_by_list<Order>(view, law, from, here);
    } else {
      return walk_agents<Order>(view, law, from, here);
    }
  }
};

/// Sums over agents, and the largest of some.
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

/// Map of a slot to what a step found there, and how far it moved the agent.
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

/// Map of a slot to the agents that its walk reads.
template <typename Order, typename View, typename T, int D>
struct count_circles_candidates {
  View view;
  const agent_record<T, D>* agents;
  T reach;

  QUADRAT_HD std::uint64_t operator()(std::size_t slot) const {
    std::uint64_t sum = 0;
    for_each_range_in_reach<Order>(view, agents[slot].position, reach,
                                   [&](std::uint32_t first, std::uint32_t last) { sum += last - first; });
    return sum;
  }
};

/// From positions by agent to records by slot; `order` (nullptr: slot = agent) says whose slot it is.
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

/// And back.
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
