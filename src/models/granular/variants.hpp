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

/// A combination to run the model that is considered where neither method nor cells are named: a method over the finest
/// grid, or a coarser one.
struct granular_variant {
  std::string_view name;
  std::string_view method;
  double edge;  ///< of cells, in diameters of a grain, about
  determinism reproducible;
};

[[nodiscard]] std::span<const granular_variant> granular_variants(bool cuda);

/// What a choice goes by.
struct granular_load {
  double grains = 0;
  double company = 0;  ///< expected other grains in a cube of a grain's diameter around a grain
  double remade = 0;   ///< share of the steps in which `listed` makes its rows anew
  int threads = 1;     ///< of the CPU
  bool cuda = false;
  double cells = 0;  ///< of the finest grid
};

/// The edge of the cubes in which company is counted, in diameters. On CUDA what a walk reads: of a million grains a
/// sample has hardly two in a cube of one.
[[nodiscard]] constexpr double company_edge(bool cuda) { return cuda ? 3 : 1; }

/// granular_load::remade for grains whose fastest moves by so many diameters a step.
[[nodiscard]] double share_remade(double diameters_a_step);

/// The cells of a variant, from those of the finest grid.
[[nodiscard]] std::array<int, 3> cells_of(const granular_variant& variant, const std::array<int, 3>& finest);

[[nodiscard]] constexpr double cells_in_all(const std::array<int, 3>& cells) {
  return static_cast<double>(cells[0]) * cells[1] * cells[2];
}

/// What a step costs, by variant.
[[nodiscard]] std::vector<named_cost> granular_costs(const granular_load& load);

/// Milliseconds of a step, by variant; by the profile that comes with the library where this one lacks them.
[[nodiscard]] std::vector<double> expected_granular_ms(const granular_load& load, const device_profile& profile);

}  // namespace quadrat::detail
