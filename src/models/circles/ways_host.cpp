// SPDX-License-Identifier: BSD-3-Clause
#include "models/circles/ways.hpp"

#include <array>
#include <cmath>

#include "models/ways.hpp"
#include "quadrat/search/orders.hpp"

namespace quadrat::detail {

namespace {

constexpr std::array<circles_way, 4> considered{{
    {"strips_1", search_orders::strips::name, 1, 1},
    {"hybrid_1", search_orders::hybrid::name, 1, 1},
    {"trimmed_1x4", search_orders::trimmed::name, 1, 4},
    {"trimmed_2x4", search_orders::trimmed::name, 2, 4},
}};

/// Distance of row `offset` from a point that lies at `u`, in [0, 1), of row 0, in widths of rows.
[[nodiscard]] double distance_of_row(int offset, double u) {
  return offset < 0 ? u - (offset + 1) : (offset > 0 ? offset - u : 0);
}

}  // namespace

std::span<const circles_way> circles_ways() { return considered; }

double walked_volume(const circles_way& way, int dimension) {
  const double n = way.cells_per_reach;
  if (way.order != search_orders::trimmed::name) return std::pow((2 * n + 1) / n, dimension);
  constexpr int places = 8;
  double sum = 0;
  const int beside = dimension == 3 ? places : 1;
  for (int a = 0; a < places; ++a) {
    for (int b = 0; b < beside; ++b) {
      for (int j = -way.cells_per_reach; j <= way.cells_per_reach; ++j) {
        for (int k = -way.cells_per_reach; k <= way.cells_per_reach; ++k) {
          if (dimension == 2 && k != 0) continue;
          const double y = distance_of_row(j, (a + 0.5) / places) / n;
          const double z = dimension == 3 ? distance_of_row(k, (b + 0.5) / places) / n : 0;
          const double rest = 1 - y * y - z * z;
          // Whole cells along x: one more than the chord, on average.
          if (rest > 0) sum += 2 * std::sqrt(rest) + 1.0 / way.cells_per_reach_x;
        }
      }
    }
  }
  return sum / (places * beside) / std::pow(n, dimension - 1);
}

std::vector<named_cost> circles_costs(const circles_load& load) {
  static const auto volumes = [] {
    std::array<std::array<double, considered.size()>, 2> result{};
    for (std::size_t k = 0; k < considered.size(); ++k) {
      for (int dimension : {2, 3}) {
        result[static_cast<std::size_t>(dimension - 2)][k] = walked_volume(considered[k], dimension);
      }
    }
    return result;
  }();
  const bool flat = load.dimension == 2;
  // Amounts are millions, for constants of nanoseconds.
  const double agents = 1e-6 * load.agents / load.threads;
  std::vector<named_cost> costs;
  for (std::size_t k = 0; k < considered.size(); ++k) {
    const double tests = agents * (1 + load.company * volumes[flat ? 0 : 1][k]);
    method_cost cost;
    cost.each("start", cost_unit::launch, 1);
    cost.each(flat ? "agents_2d" : "agents_3d", cost_unit::step, agents);
    cost.each(flat ? "tests_2d" : "tests_3d", cost_unit::step, tests);
    costs.push_back({considered[k].name, determinism::run_to_run, true, cost});
  }
  return costs;
}

std::vector<double> expected_circles_ms(const circles_load& load, const device_profile& profile) {
  return expected_step_ms("circles", circles_costs(load), profile);
}

}  // namespace quadrat::detail
