// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "mesh/request.hpp"
#include "quadrat/core/types.hpp"
#include "tune/cost.hpp"

/// The terms of cost that several methods have.
namespace quadrat::detail {

/// The terms of spreading that all methods have: starts, the mesh filled with zeros, the contributions.
[[nodiscard]] inline method_cost spreading_cost(const spread_request& request) {
  method_cost cost;
  cost.once("start", cost_unit::launch, 1);
  cost.once("points", cost_unit::step, request.share(request.megapoints()));
  cost.each("start", cost_unit::launch, 1);
  cost.each("mesh", cost_unit::byte, request.share(1e-6 * request.bytes));
  cost.each("work", cost_unit::step, request.share(request.contributions()));
  cost.each("wide", cost_unit::step, request.share(request.wide(request.contributions())));
  cost.each("points", cost_unit::step, request.share(request.megapoints()));
  return cost;
}

/// Bytes that a method holds for points in the caller's order.
[[nodiscard]] inline double placed_point_bytes(const spread_request& request) {
  return request.points * (request.bytes > 6 * request.nodes ? 40 : 24);
}

/// The cost of methods that add to the mesh point by point: memory accesses for points and rows of footprints.
[[nodiscard]] inline method_cost scattering_cost(const spread_request& request) {
  const double scattered = request.contributions() * request.disorder();
  return spreading_cost(request)
      .each("far", cost_unit::byte, request.bytes > 40e6 ? request.share(scattered) : 0)
      .each("scattered", cost_unit::byte, request.share(scattered))
      .each("fullest", cost_unit::step, request.fullest())
      .each("rows", cost_unit::step, request.share(request.contributions() / request.row))
      .holds(placed_point_bytes(request));
}

/// The same on a GPU, where additions to one mesh point are serialized, and few threads do not hide latency.
[[nodiscard]] inline method_cost cuda_scattering_cost(const spread_request& request) {
  constexpr double few_points = 1e4;
  const double alone = 1e-3 * request.footprint;
  return spreading_cost(request)
      .each("rows", cost_unit::step, request.contributions() / request.row)
      .each("occupancy", cost_unit::step, request.occupancy())
      .each("tile_contributions", cost_unit::step, request.tile_contributions())
      .each("reached", cost_unit::step, request.most_at_a_point())
      .each("alone", cost_unit::step, alone * few_points / (request.points + few_points))
      .each("wide_alone", cost_unit::step, request.wide(alone))
      .holds(placed_point_bytes(request));
}

/// Bytes that a method holds for points that it sorts by tile: their records, and memory for sorting. That is more for
/// many points on GPUs, and a copy of a tile's points per thread on CPUs.
[[nodiscard]] inline double tiled_point_bytes(const spread_request& request) {
  const bool wide = request.bytes > 6 * request.nodes;
  if (!request.cuda) {
    constexpr double most_in_copy = 16384;
    const double record = wide ? 32 : 20;
    return request.points * (record + 4) + request.threads * std::min(request.points, most_in_copy) * record;
  }
  constexpr double many = 200'000;
  const double record = wide ? 32 : 16;
  const double sorting = request.level != determinism::none ? 18 : request.points < many ? 12 : record + 6;
  return request.points * (record + 4 + sorting);
}

}  // namespace quadrat::detail
