// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "quadrat/tune/device_profile.hpp"
#include "tune/cost.hpp"

namespace quadrat::detail {

/// A combination to run the model that is considered where nothing is named: an order over a grid. All over `counting`,
/// and on CUDA without a queue of neighbors (queue.hpp).
struct circles_variant {
  std::string_view name;
  std::string_view order;
  int cells_per_reach;
  int cells_per_reach_x;
};

[[nodiscard]] std::span<const circles_variant> circles_variants(bool cuda);

/// What a choice goes by.
struct circles_load {
  double agents = 0;
  int dimension = 3;
  double company = 0;  ///< expected other agents in a cube of the reach around an agent
  double growth = 3;   ///< with which power of its edge company grows: the dimension of what agents are spread over
  int threads = 1;     ///< of the CPU
  bool cuda = false;
};

/// The volume that a walk reads, in cubes of the reach, averaged over places in a cell.
[[nodiscard]] double walked_volume(const circles_variant& variant, int dimension);

/// Agents that a walk reads, expected for one agent.
[[nodiscard]] double expected_candidates(const circles_variant& variant, const circles_load& load);

/// What a step costs, by variant.
[[nodiscard]] std::vector<named_cost> circles_costs(const circles_load& load);

/// Milliseconds of a step, by variant; by the profile that comes with the library where this one lacks them.
[[nodiscard]] std::vector<double> expected_circles_ms(const circles_load& load, const device_profile& profile);

}  // namespace quadrat::detail
