// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "quadrat/models/circles.hpp"

/// A plain serial Circles model: every agent against every other, in double precision.
namespace quadrat::reference {

/// The contribution of a neighbor at r = x_j - x_i, at distance d, to agent i.
template <int D>
vec<double, D> circles_force(const circles_parameters& p, const vec<double, D>& r, double d) {
  if (d == 0) return {};
  const vec<double, D> e = r * (1 / d);
  if (p.form == circles_form::sine) return e * (p.force * std::sin(-2 * std::numbers::pi * d / p.radius));
  return d < p.radius ? e * (-p.repulsion * d) : e * (p.attraction * (2 * p.radius - d));
}

template <int D>
struct circles_result {
  std::vector<vec<double, D>> positions;
  std::vector<std::size_t> neighbors;
};

/// One step. Distances are compared with the reach in T, as the model does: with the same expression.
template <typename T, int D>
circles_result<D> circles_step(const circles_parameters& p, const std::vector<vec<T, D>>& positions) {
  const T reach = static_cast<T>(p.reach());
  const box<double, D> domain = circles_box<D>(p);
  circles_result<D> result;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    vec<double, D> sum{};
    std::size_t neighbors = 0;
    for (std::size_t j = 0; j < positions.size(); ++j) {
      if (j == i || !(squared_norm(positions[j] - positions[i]) < reach * reach)) continue;
      const vec<double, D> r = cast<double>(positions[j]) - cast<double>(positions[i]);
      sum += circles_force(p, r, std::sqrt(squared_norm(r)));
      ++neighbors;
    }
    vec<double, D> moved = cast<double>(positions[i]);
    if (p.form == circles_form::sine) {
      moved += sum * (1.0 / static_cast<double>(std::max<std::size_t>(neighbors, 1)));
    } else {
      moved += sum;
      for (int axis = 0; axis < D; ++axis)
        moved[axis] = std::clamp(moved[axis], domain.lower[axis], domain.upper(axis));
    }
    result.positions.push_back(moved);
    result.neighbors.push_back(neighbors);
  }
  return result;
}

}  // namespace quadrat::reference
