// SPDX-License-Identifier: BSD-3-Clause
#include "models/circles/variants.hpp"

#include <array>
#include <cmath>

#include "models/chosen_engine.hpp"
#include "quadrat/search/orders.hpp"

namespace quadrat::detail {

namespace {

constexpr std::array<circles_variant, 4> considered_on_cpu{{
    {"strips_1", search_orders::strips::name, 1, 1},
    {"hybrid_1", search_orders::hybrid::name, 1, 1},
    {"trimmed_1x4", search_orders::trimmed::name, 1, 4},
    {"trimmed_2x4", search_orders::trimmed::name, 2, 4},
}};
constexpr std::array<circles_variant, 5> considered_on_cuda{{
    {"trimmed_2x2", search_orders::trimmed::name, 2, 2},
    {"trimmed_1x4", search_orders::trimmed::name, 1, 4},
    {"trimmed_2x4", search_orders::trimmed::name, 2, 4},
    {"trimmed_3x3", search_orders::trimmed::name, 3, 3},
    {"strips_1", search_orders::strips::name, 1, 1},
}};

/// Distance of row `offset` from a point that lies at `u`, in [0, 1), of row 0, in widths of rows.
[[nodiscard]] double distance_of_row(int offset, double u) {
  return offset < 0 ? u - (offset + 1) : (offset > 0 ? offset - u : 0);
}

}  // namespace

std::span<const circles_variant> circles_variants(bool cuda) {
  if (cuda) return considered_on_cuda;
  return considered_on_cpu;
}

double walked_volume(const circles_variant& variant, int dimension) {
  const double n = variant.cells_per_reach;
  if (variant.order != search_orders::trimmed::name) return std::pow((2 * n + 1) / n, dimension);
  constexpr int places = 8;
  double sum = 0;
  const int beside = dimension == 3 ? places : 1;
  for (int a = 0; a < places; ++a) {
    for (int b = 0; b < beside; ++b) {
      for (int j = -variant.cells_per_reach; j <= variant.cells_per_reach; ++j) {
        for (int k = -variant.cells_per_reach; k <= variant.cells_per_reach; ++k) {
          if (dimension == 2 && k != 0) continue;
          const double y = distance_of_row(j, (a + 0.5) / places) / n;
          const double z = dimension == 3 ? distance_of_row(k, (b + 0.5) / places) / n : 0;
          const double rest = 1 - y * y - z * z;
          // Whole cells along x: one more than the chord, on average.
          if (rest > 0) sum += 2 * std::sqrt(rest) + 1.0 / variant.cells_per_reach_x;
        }
      }
    }
  }
  return sum / (places * beside) / std::pow(n, dimension - 1);
}

double expected_candidates(const circles_variant& variant, const circles_load& load) {
  const double edge = std::pow(walked_volume(variant, load.dimension), 1.0 / load.dimension);
  return load.occupancy * std::pow(edge, load.growth);
}

std::vector<named_cost> circles_costs(const circles_load& load) {
  const bool flat = load.dimension == 2;
  // Amounts are millions, for constants of nanoseconds.
  const double agents = 1e-6 * load.agents / load.threads;
  std::vector<named_cost> costs;
  for (const circles_variant& variant : circles_variants(load.cuda)) {
    const double candidates = expected_candidates(variant, load);
    method_cost cost;
    cost.each("start", cost_unit::launch, 1);
    cost.each(flat ? "agents_2d" : "agents_3d", cost_unit::step, agents);
    cost.each(flat ? "tests_2d" : "tests_3d", cost_unit::step, agents * (1 + candidates));
    // One thread walks for an agent, even if there are few agents.
    if (load.cuda) cost.each(flat ? "walk_2d" : "walk_3d", cost_unit::step, 1e-3 * candidates);
    costs.push_back({variant.name, determinism::run_to_run, true, cost});
  }
  return costs;
}

std::vector<double> expected_circles_ms(const circles_load& load, const device_profile& profile) {
  return expected_step_ms("circles", circles_costs(load), profile, load.cuda);
}

}  // namespace quadrat::detail
