// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/variants.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/chosen_engine.hpp"
#include "models/granular/fused.hpp"
#include "models/granular/kept_rows.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/cells/sorted.hpp"
#include "quadrat/core/folding.hpp"

namespace quadrat::detail {

namespace {

constexpr double wide = 4.0 / 3;
constexpr std::array<granular_variant, 4> grains_on_cpu{{
    {"listed", granular_listed_method::name, 1, determinism::canonical},
    {"counting", cell_methods::counting::name, 1, determinism::canonical},
    {"counting_wide", cell_methods::counting::name, wide, determinism::canonical},
    {"sorted", cell_methods::sorted::name, 1, determinism::canonical},
}};
constexpr std::array<granular_variant, 4> grains_on_cuda{{
    {"fused", granular_fused_method::name, 1, granular_fused_method::reproducible},
    {"fused_wide", granular_fused_method::name, wide, granular_fused_method::reproducible},
    {"counting", cell_methods::counting::name, 1, determinism::canonical},
    {"counting_wide", cell_methods::counting::name, wide, determinism::canonical},
}};

struct stored_cells {
  double cells;
  bool folded;
};

/// The approximate number of cells stored by the grid of a variant (folding.hpp).
[[nodiscard]] stored_cells stored_cells_of(const granular_load& load, const granular_variant& variant) {
  const double all = load.cells / std::pow(variant.edge, 3), some = stored_cells_a_point * load.grains;
  const bool folds = all > std::max(stored_cells_at_least, 4 * some);
  return {folds ? std::max(stored_cells_at_least, some) : all, folds};
}

}  // namespace

std::span<const granular_variant> granular_variants(bool cuda) {
  if (cuda) return grains_on_cuda;
  return grains_on_cpu;
}

std::array<int, 3> cells_of(const granular_variant& variant, const std::array<int, 3>& finest) {
  std::array<int, 3> cells = finest;
  for (int& along : cells) along = std::max(1, static_cast<int>(std::floor(along / variant.edge)));
  return cells;
}

double share_remade(double diameters_a_step) {
  return std::min(1.0, diameters_a_step / (0.5 * kept_rows<float>::skin));
}

std::vector<named_cost> granular_costs(const granular_load& load) {
  // Amounts are millions, for constants of nanoseconds.
  const double grains = 1e-6 * load.grains / load.threads;
  std::vector<named_cost> costs;
  for (const granular_variant& variant : granular_variants(load.cuda)) {
    method_cost cost;
    cost.each("start", cost_unit::launch, 1);
    cost.each("grains", cost_unit::step, grains);
    if (variant.method == granular_listed_method::name) {
      const double reach = std::pow(1 + kept_rows<float>::skin, 3), ball = 4.19;
      cost.each("tests", cost_unit::step, grains * load.occupancy * ball * reach);
      cost.each("made", cost_unit::step, grains * load.remade);
      cost.each("made_tests", cost_unit::step, grains * load.remade * load.occupancy * 27 * reach);
    } else {
      const double candidates = load.occupancy * std::pow(3 * variant.edge, 3);
      cost.each("tests", cost_unit::step, grains * candidates);
      if (load.cuda) {
        // The threads of a warp wait for the longest walk, which is longer by the spread of their numbers.
        cost.each("uneven", cost_unit::step, grains * std::sqrt(candidates));
        const stored_cells stored = stored_cells_of(load, variant);
        cost.each("cells", cost_unit::step, 1e-6 * stored.cells);
        if (stored.folded) cost.each("folded", cost_unit::step, grains);
      }
    }
    costs.push_back({variant.name, variant.reproducible, true, cost});
  }
  return costs;
}

std::vector<double> expected_granular_ms(const granular_load& load, const device_profile& profile) {
  return expected_step_ms("granular", granular_costs(load), profile, load.cuda);
}

}  // namespace quadrat::detail
