// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/ways.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/ways.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/cells/sorted.hpp"

namespace quadrat::detail {

namespace {

constexpr std::array<granular_way, 3> considered_for_grains{{
    {"counting", cell_methods::counting::name, 1},
    {"counting_wide", cell_methods::counting::name, 4.0 / 3},
    {"sorted", cell_methods::sorted::name, 1},
}};

}  // namespace

std::span<const granular_way> granular_ways() { return considered_for_grains; }

std::array<int, 3> cells_of(const granular_way& way, const std::array<int, 3>& finest) {
  std::array<int, 3> cells = finest;
  for (int& along : cells) along = std::max(1, static_cast<int>(std::floor(along / way.edge)));
  return cells;
}

std::vector<named_cost> granular_costs(const granular_load& load) {
  // Amounts are millions, for constants of nanoseconds.
  const double grains = 1e-6 * load.grains / load.threads;
  std::vector<named_cost> costs;
  for (const granular_way& way : considered_for_grains) {
    const double candidates = load.company * std::pow(3 * way.edge, 3);
    method_cost cost;
    cost.each("start", cost_unit::launch, 1);
    cost.each("grains", cost_unit::step, grains);
    cost.each("tests", cost_unit::step, grains * candidates);
    costs.push_back({way.name, determinism::canonical, true, cost});
  }
  return costs;
}

std::vector<double> expected_granular_ms(const granular_load& load, const device_profile& profile) {
  return expected_step_ms("granular", granular_costs(load), profile);
}

}  // namespace quadrat::detail
