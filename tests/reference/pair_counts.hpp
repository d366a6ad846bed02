// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <type_traits>
#include <vector>

#include "quadrat/search/pair_counts.hpp"
#include "reference/neighbor_list.hpp"

/// Pair counts from the neighbor lists of brute force, by comparing each pair with each edge.
namespace quadrat::reference {

/// Points, weights and regions on the host; weights and regions may be empty.
template <typename T>
struct weighted_points {
  std::vector<vec<T, 3>> points;
  std::vector<T> weights;
  std::vector<std::uint32_t> regions{};

  /// Those of other regions.
  [[nodiscard]] weighted_points without(std::uint32_t region) const {
    weighted_points left;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (regions[i] == region) continue;
      left.points.push_back(points[i]);
      if (!weights.empty()) left.weights.push_back(weights[i]);
    }
    return left;
  }
};

/// The bin of a pair, or the number of bins if there is none.
template <typename T>
[[nodiscard]] std::size_t bin_of_pair(const pair_counts_options& options, const vec<T, 3>& r, T squared) {
  std::size_t bin = options.edges.size() - 1, second = 0;
  const std::size_t none = bin * std::max<std::size_t>(options.second_edges.size(), 2) - bin;
  const auto length_of = [&](double edge) {
    return options.coordinates == pair_coordinates::theta ? 2 * std::sin(edge * std::numbers::pi / 360) : edge;
  };
  for (std::size_t k = 0; k + 1 < options.edges.size(); ++k) {
    const double low = length_of(options.edges[k]), high = length_of(options.edges[k + 1]);
    if (squared >= static_cast<T>(low * low) && squared < static_cast<T>(high * high)) bin = k;
  }
  if (bin == options.edges.size() - 1) return none;
  if (options.second_edges.empty()) return bin;
  second = options.second_edges.size() - 1;
  T along = std::fabs(r[2]);
  if (options.coordinates == pair_coordinates::s_mu) along = squared > T(0) ? along / std::sqrt(squared) : T(0);
  for (std::size_t k = 0; k + 1 < options.second_edges.size(); ++k) {
    if (along >= static_cast<T>(options.second_edges[k]) && along < static_cast<T>(options.second_edges[k + 1]))
      second = k;
  }
  return second == options.second_edges.size() - 1 ? none : bin * (options.second_edges.size() - 1) + second;
}

/// The pairs of `points` with `others`, or with themselves if that is nullptr.
template <typename T>
[[nodiscard]] pair_counts_result pair_counts_of(const pair_counts_options& options, const lattice<T, 3>& box,
                                                const weighted_points<T>& points,
                                                const std::type_identity_t<weighted_points<T>>* others) {
  neighbor_problem<T, 3> problem;
  double reach = options.coordinates == pair_coordinates::theta ? 2 : options.edges.back();
  if (options.coordinates == pair_coordinates::rp_pi) reach = std::hypot(reach, options.second_edges.back());
  problem.options.cutoff = static_cast<T>(1.01 * reach);
  problem.boxes = {box};
  problem.points = others == nullptr ? points.points : others->points;
  if (others != nullptr) problem.queries = points.points;
  auto entries = neighbor_list(problem).entries;
  if (others == nullptr) {
    for (std::uint32_t i = 0; i < points.points.size(); ++i) entries.push_back({i, i, {}, T(0), {}});
  }
  const std::size_t size =
      (options.edges.size() - 1) * std::max<std::size_t>(options.second_edges.size(), 2) - (options.edges.size() - 1);
  pair_counts_result found;
  found.counts.assign(size, 0);
  if (!points.weights.empty()) found.weights.assign(size, 0);
  if (options.mean_separation) found.mean_separations.assign(size, 0);
  for (const auto& entry : entries) {
    const vec<T, 3>& r = entry.vector;
    const T squared = options.coordinates == pair_coordinates::rp_pi ? r[0] * r[0] + r[1] * r[1] : squared_norm(r);
    const std::size_t bin = bin_of_pair(options, r, squared);
    if (bin == size) continue;
    ++found.counts[bin];
    if (!points.weights.empty()) {
      const auto& partners = others == nullptr ? points.weights : others->weights;
      found.weights[bin] += static_cast<double>(points.weights[entry.i]) * static_cast<double>(partners[entry.j]);
    }
    if (options.mean_separation) {
      const double length = std::sqrt(static_cast<double>(squared));
      found.mean_separations[bin] += options.coordinates == pair_coordinates::theta
                                         ? 360 / std::numbers::pi * std::asin(std::min(length / 2, 1.0))
                                         : length;
    }
  }
  for (std::size_t k = 0; k < found.mean_separations.size(); ++k) {
    if (found.counts[k] > 0) found.mean_separations[k] /= static_cast<double>(found.counts[k]);
  }
  return found;
}

}  // namespace quadrat::reference
