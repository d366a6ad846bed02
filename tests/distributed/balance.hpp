// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "distributed/small_system.hpp"

// Blocks of equal weight on any communicator: by histograms of layers, or by Zoltan where MPI's ranks have it.

namespace quadrat::test {

/// Points crowd in a corner, and their weights differ. Each rank gives some.
template <typename T, int D>
void check_balance(communicator& ranks, std::uint64_t seed) {
  const backend_context context = context_of_rank();
  std::mt19937_64 random(seed);
  const auto space =
      make_grid(make_box(vec<T, D>{}, vec<T, D>::filled(1), vec<bool, D>{}), vec<int, D>::filled(D == 2 ? 400 : 160));
  std::vector<vec<T, D>> points;
  std::vector<std::uint32_t> weights;
  std::uint64_t heaviest = 0;
  for (std::size_t i = 0; i < 20'000; ++i) {
    vec<T, D> point{};
    for (int axis = 0; axis < D; ++axis) {
      const T x = random_unit<T>(random);
      point[axis] = axis == 0 ? x * x : x;
    }
    const auto weight = static_cast<std::uint32_t>(1 + random() % 3);
    // Unequally: rank 0 gives half of them, and the last one none.
    const auto giver = random() % 2 == 0 ? 0 : random() % static_cast<std::uint64_t>(std::max(ranks.size() - 1, 1));
    if (static_cast<int>(giver) != ranks.rank()) continue;
    points.push_back(point);
    weights.push_back(weight);
  }
  const auto given = to_device(context, points);
  const auto given_weights = to_device(context, weights);
  const auto shares = balanced_decomposition(context, ranks, space, points_of(given), given_weights.data());
  expect(shares.ranks() == ranks.size(), "there are blocks for ", shares.ranks(), " ranks");
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(ranks.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const vec<int, D> cell = space.unfolded_cell_of(points[i]);
    const int owner = shares.view().owner(cell);
    expect(shares.blocks[static_cast<std::size_t>(owner)].holds(cell), "a point is not in the block of its owner");
    sums[static_cast<std::size_t>(owner)] += weights[i];
  }
  ranks.add_up(sums.data(), sums.size());
  std::uint64_t total = 0;
  for (const std::uint64_t one : sums) {
    heaviest = std::max(heaviest, one);
    total += one;
  }
  const double mean = static_cast<double>(total) / ranks.size();
  expect(static_cast<double>(heaviest) < 1.1 * mean, "seed ", seed, ": the heaviest block has ", heaviest,
         "; the mean is ", mean);
  const auto all = all_values(ranks, shares.blocks[0]);
  expect(std::ranges::all_of(all, [&](const auto& one) { return one.first == all[0].first && one.end == all[0].end; }),
         "ranks do not agree on the blocks");
}

inline void check_balances(communicator& ranks) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    check_balance<double, 2>(ranks, seed);
    check_balance<float, 3>(ranks, seed);
  }
}

}  // namespace quadrat::test
