// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "distributed/nearest.hpp"
#include "distributed/small_system.hpp"
#include "quadrat/distributed/cluster_finder.hpp"

// Clusters over the ranks of a communicator, compared with those of one rank that has all points.

namespace quadrat::test {

/// The same on every rank.
template <typename T, int D>
struct clustered_points {
  grid<T, D> space{};
  std::vector<vec<T, D>> points{};
};

/// What a call has cost, over all ranks.
struct cluster_costs {
  std::uint64_t clusters, ghosts, fragments, bytes;
  int rounds;
};

/// Ranks have their points in the order of all; one rank has them in order of rank.
template <typename T, int D>
cluster_costs check_clusters_of(communicator& ranks, const clustered_points<T, D>& all, const decomposition<D>& shares,
                                const cluster_options<T>& options, const std::string& where) {
  const backend_context context = context_of_rank();
  std::vector<vec<T, D>> ordered, own;
  std::size_t first = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (rank == ranks.rank()) first = ordered.size();
    for (const auto& point : all.points) {
      if (shares.view().owner(all.space.unfolded_cell_of(point)) != rank) continue;
      ordered.push_back(point);
      if (rank == ranks.rank()) own.push_back(point);
    }
  }
  const auto points = to_device(context, own), all_points = to_device(context, ordered);
  cluster_finder<backend_context, T, D> alone(context, make_lattice(all.space.domain), options);
  alone.find(points_of(all_points));
  const auto wanted = to_host(context, alone.view().labels, ordered.size());

  distributed_cluster_finder<backend_context, T, D> finder(context, ranks, all.space, options);
  const std::uint64_t before = ranks.bytes_sent();
  finder.find(shares, points_of(points));
  std::uint64_t numbers[] = {finder.ghosts(), finder.linked_fragments(), ranks.bytes_sent() - before};
  const distributed_cluster_view view = finder.view();
  const auto found = to_host(context, view.labels, view.points);
  expect(view.points == own.size(), where, ": there are ", view.points, " labels for ", own.size(), " points");
  expect(view.clusters == alone.view().clusters, where, ": there are ", view.clusters, " clusters; one rank finds ",
         alone.view().clusters);
  for (std::size_t i = 0; i < own.size(); ++i) {
    expect(found[i] == wanted[first + i], where, ": point ", i, " of rank ", ranks.rank(), " has label ", found[i],
           "; on one rank ", wanted[first + i]);
  }
  ranks.add_up(numbers, 3);
  return {view.clusters, numbers[0], numbers[1], numbers[2], finder.rounds()};
}

/// Small systems in random decompositions, some of whose blocks are empty or thinner than the cutoff.
inline void check_clusters(communicator& ranks, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto both = [&](auto of_dimension) {
      using point = decltype(of_dimension);
      using T = std::remove_cvref_t<decltype(of_dimension[0])>;
      constexpr int D = sizeof(point) / sizeof(T);
      const small_system<T, D> system(seed);
      cluster_options<T> options{.cutoff = T(0.02) + system.reach / 2,
                                 .min_points = static_cast<std::uint32_t>(1 + seed / 4 % 5)};
      for (int axis = 0; axis < D; ++axis) {
        if (system.space.domain.periodic[axis]) {
          options.cutoff = std::min(options.cutoff, system.space.domain.length[axis] / 2);
        }
      }
      const auto shares = seed % 8 == 1 ? even_decomposition(system.space, ranks.size())
                                        : random_decomposition(system.space, ranks.size(), seed);
      check_clusters_of<T, D>(ranks, {system.space, system.points}, shares, options, message("system ", seed));
    };
    if (seed % 4 == 0) both(vec<float, 2>{});
    if (seed % 4 == 1) both(vec<float, 3>{});
    if (seed % 4 == 2) both(vec<double, 2>{});
    if (seed % 4 == 3) both(vec<double, 3>{});
  }
}

/// In boxes of any shape. Ranks have any points.
template <typename T, int D>
void check_clusters_in_box(communicator& ranks, std::uint64_t seed) {
  auto all = some_ranked_points<T, D>(ranks.size(), seed);
  all.keep_inside();
  cluster_options<T> options{.cutoff = T(0.02) + static_cast<T>(seed % 7) / 50,
                             .min_points = static_cast<std::uint32_t>(1 + seed / 4 % 5)};
  for (int axis = 0; axis < D; ++axis) {
    if (all.box.periodic[axis]) options.cutoff = std::min(options.cutoff, T(0.49) * all.box.height(axis));
  }
  const backend_context context = context_of_rank();
  const auto points = to_device(context, all.points[static_cast<std::size_t>(ranks.rank())]);
  const auto all_points = to_device(context, all.joined(all.points));
  cluster_finder<backend_context, T, D> alone(context, all.box, options);
  distributed_cluster_finder<backend_context, T, D> finder(context, ranks, all.box, options);
  alone.find(points_of(all_points));
  finder.find(points_of(points));
  const auto wanted = to_host(context, alone.view().labels, all_points.size());
  const auto found = to_host(context, finder.view().labels, points.size());
  const std::size_t first = all.range_of(all.points, ranks.rank())[0];
  expect(finder.view().clusters == alone.view().clusters, "box ", seed, ": there are ", finder.view().clusters,
         " clusters; one rank finds ", alone.view().clusters);
  for (std::size_t i = 0; i < found.size(); ++i) {
    expect(found[i] == wanted[first + i], "box ", seed, ": point ", i, " of rank ", ranks.rank(), " has label ",
           found[i], "; on one rank ", wanted[first + i]);
  }
}

inline void check_clusters_in_boxes(communicator& ranks, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    if (seed % 4 == 0) check_clusters_in_box<float, 2>(ranks, seed);
    if (seed % 4 == 1) check_clusters_in_box<float, 3>(ranks, seed);
    if (seed % 4 == 2) check_clusters_in_box<double, 2>(ranks, seed);
    if (seed % 4 == 3) check_clusters_in_box<double, 3>(ranks, seed);
  }
}

/// A box of `cells` cells along the first axis.
[[nodiscard]] inline grid<double, 2> row_of_cells(int cells, bool periodic) {
  return make_grid(make_box<double, 2>({0, 0}, {static_cast<double>(cells), 1}, {periodic, false}), {cells, 1});
}

/// Points along all ranks, each linked to the next, of which the middle one of each block may be left out.
[[nodiscard]] inline clustered_points<double, 2> chain_of_points(int ranks, bool periodic, bool broken) {
  clustered_points<double, 2> all{row_of_cells(2 * ranks, periodic), {}};
  for (int k = 0; k < 32 * ranks; ++k) {
    if (broken && k % 32 >= 16 && k % 32 < 19) continue;
    all.points.push_back({(k + 0.5) / 16, 0.5});
  }
  return all;
}

inline void check_chains(communicator& ranks) {
  for (const std::uint32_t min_points : {1u, 3u}) {
    for (const bool periodic : {false, true}) {
      for (const bool broken : {false, true}) {
        auto all = chain_of_points(ranks.size(), periodic, broken);
        const auto shares = even_decomposition(all.space, ranks.size());
        const std::uint64_t wanted = !broken ? 1 : static_cast<std::uint64_t>(ranks.size()) + (periodic ? 0 : 1);
        const auto costs = check_clusters_of(ranks, all, shares, {0.07, min_points}, "a chain");
        expect(costs.clusters == wanted, "there are ", costs.clusters, " clusters in a chain; expected ", wanted);
        std::mt19937_64 random(7);
        std::shuffle(all.points.begin(), all.points.end(), random);
        check_clusters_of(ranks, all, shares, {0.07, min_points}, "a shuffled chain");
      }
    }
  }
}

}  // namespace quadrat::test
