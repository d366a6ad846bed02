// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "quadrat/tune/device_profile.hpp"
#include "tune/cost.hpp"

namespace quadrat::detail {

/// A combination considered if the options name nothing: an order over a grid. All use `counting` and, on CUDA, no
/// queue of neighbors (queue.hpp).
struct circles_variant {
  std::string_view name;
  std::string_view order;
  int cells_per_reach;
  int cells_per_reach_x;
};

[[nodiscard]] std::span<const circles_variant> circles_variants(bool cuda);

/// The input of a choice.
struct circles_load {
  double agents = 0;
  int dimension = 3;
  double occupancy = 0;  ///< expected other agents in a cube of the reach around an agent
  double growth = 3;     ///< the power of the edge with which occupancy grows: the dimension of the distribution
  int threads = 1;       ///< of the CPU
  bool cuda = false;
};

/// The volume that a walk reads, in cubes of the reach, averaged over places in a cell.
[[nodiscard]] double walked_volume(const circles_variant& variant, int dimension);

/// The expected number of agents that a walk reads for one agent.
[[nodiscard]] double expected_candidates(const circles_variant& variant, const circles_load& load);

/// The cost of a step, by variant.
[[nodiscard]] std::vector<named_cost> circles_costs(const circles_load& load);

/// Milliseconds of a step, by variant. If the profile lacks constants, the library's default profile is used.
[[nodiscard]] std::vector<double> expected_circles_ms(const circles_load& load, const device_profile& profile);

}  // namespace quadrat::detail
