// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "ewald/choice.hpp"
#include "quadrat/core/vec.hpp"

/// The expected time of an Ewald sum, in seconds of an H200 or of two CPU cores: only its ratios matter.
namespace quadrat::detail {

struct ewald_rates {
  double call;          ///< per call: kernels that have little to do
  double pair;          ///< per charge and neighbor within the cutoff
  double search;        ///< per charge: in neighbors, what it costs to look for them
  double point;         ///< per charge: binning for the mesh
  double point_weight;  ///< per charge and mesh point that its window covers, spreading and gradient together
  double transforms;    ///< per call
  double mesh_point;    ///< per mesh point, both transforms and the influence function
  double mode;          ///< per charge and mode summed directly
};

[[nodiscard]] inline ewald_rates rates_of(bool cuda, bool single_precision) {
  const ewald_rates gpu{5e-5, 7.4e-12, 60, 4e-11, 4.1e-12, 1.2e-4, 2.2e-11, 8e-12};
  const ewald_rates cpu{1e-5, 9.5e-10, 120, 1.2e-7, 1.2e-10, 5e-6, 1.1e-8, 2.3e-8};
  ewald_rates rates = cuda ? gpu : cpu;
  if (single_precision) return rates;
  rates.pair *= cuda ? 2.5 : 1.8;
  const double factor = cuda ? 2.5 : 1.25;
  for (double* rate : {&rates.point, &rates.point_weight, &rates.mesh_point, &rates.mode}) *rate *= factor;
  return rates;
}

/// Of a point: all images, and no more points in a cluster than there are.
[[nodiscard]] inline double expected_neighbors(const charged_system& system, double cutoff) {
  const double mean = 4 * std::numbers::pi / 3 * cutoff * cutoff * cutoff * system.points / system.volume();
  return std::min(mean * std::max(1.0, system.crowding), mean + system.points);
}

/// What the cost needs to know of all systems together.
struct ewald_load {
  double points = 0;
  double systems = 0;
  std::vector<charged_system> kinds{};  ///< at most 16 of them
  double weight = 1;                    ///< how many systems each of them stands for
};

/// `mesh_points`: of one system; direct: modes.
[[nodiscard]] inline double cost_of(const ewald_rates& rates, const ewald_load& load, bool direct, double cutoff,
                                    double mesh_points, int order) {
  double pairs = load.points * rates.search;
  for (const charged_system& kind : load.kinds) pairs += load.weight * kind.points * expected_neighbors(kind, cutoff);
  const double short_range = rates.call + rates.pair * pairs;
  if (direct) return short_range + rates.mode * load.points * mesh_points;
  return short_range + rates.transforms + rates.mesh_point * mesh_points * load.systems +
         load.points * (rates.point + rates.point_weight * (order * order * order + 60));
}

}  // namespace quadrat::detail
