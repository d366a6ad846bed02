// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "reference/spread.hpp"

namespace quadrat::reference {

/// Density compensation weights after a number of iterations, which begin with 1 (Pipe and Menon 1999). `integral`: of
/// the window, in mesh units.
[[nodiscard]] inline std::vector<long double> density_weights(const mesh_problem& it, int iterations,
                                                              long double integral) {
  std::vector<long double> weights(it.points.size(), 1);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const auto reached = interpolate(it, spread(it, weights, 1, 1).value, 1, 1).values.value;
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = reached[i] > 0 ? weights[i] / reached[i] : 0;
  }
  for (auto& w : weights) w *= std::pow(integral, 2 * it.dimension) / static_cast<long double>(it.mesh_size());
  return weights;
}

}  // namespace quadrat::reference
