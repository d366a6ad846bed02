// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "quadrat/core/types.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "tune/cost.hpp"

namespace quadrat::detail {

/// A combination considered if the options name neither method nor cells: a method over the finest grid or a coarser
/// one.
struct granular_variant {
  std::string_view name;
  std::string_view method;
  double edge;  ///< approximate edge of cells, in diameters of a grain
  determinism reproducible;
};

[[nodiscard]] std::span<const granular_variant> granular_variants(bool cuda);

/// The input of a choice.
struct granular_load {
  double grains = 0;
  double occupancy = 0;  ///< expected other grains in a cube of a grain's diameter around a grain
  double remade = 0;     ///< fraction of the steps in which `listed` rebuilds its rows
  int threads = 1;       ///< of the CPU
  bool cuda = false;
  double cells = 0;  ///< of the finest grid
};

/// The edge of the cubes in which occupancy is counted, in diameters. On CUDA the edge of a walk: a sample of a million
/// grains rarely has two in a cube of one diameter.
[[nodiscard]] constexpr double occupancy_edge(bool cuda) { return cuda ? 3 : 1; }

/// granular_load::remade if the fastest grain moves by this many diameters per step.
[[nodiscard]] double share_remade(double diameters_a_step);

/// The cells of a variant, from those of the finest grid.
[[nodiscard]] std::array<int, 3> cells_of(const granular_variant& variant, const std::array<int, 3>& finest);

[[nodiscard]] constexpr double cells_in_all(const std::array<int, 3>& cells) {
  return static_cast<double>(cells[0]) * cells[1] * cells[2];
}

/// The cost of a step, by variant.
[[nodiscard]] std::vector<named_cost> granular_costs(const granular_load& load);

/// Milliseconds of a step, by variant. If the profile lacks constants, the library's default profile is used.
[[nodiscard]] std::vector<double> expected_granular_ms(const granular_load& load, const device_profile& profile);

}  // namespace quadrat::detail
