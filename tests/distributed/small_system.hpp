// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "core/backend.hpp"
#include "distributed/particles/bisection.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/distributed/migration.hpp"
#include "quadrat/distributed/sparse_migration.hpp"
#include "support/random.hpp"

// Small random systems on any communicator, compared with what one rank finds by trying everything. The functions throw
// where something is wrong, so that they also serve ranks that are processes.

namespace quadrat::test {

/// One thread for each rank, which share a machine.
[[nodiscard]] inline backend_context context_of_rank(determinism level = determinism::none) {
  backend_context::options chosen;
  chosen.reproducibility = level;
#if QUADRAT_BACKEND_CUDA
  // Threads, and so ranks, take turns at the devices.
  static const int devices = std::max(1, static_cast<int>(cuda_devices().size()));
  static std::atomic<int> threads{0};
  thread_local const int turn = threads++;
  chosen.device = turn % devices;
#else
  chosen.threads = 1;
#endif
  return backend_context(chosen);
}

template <typename... Words>
void expect(bool holds, const Words&... words) {
  if (!holds) throw error(message(words...));
}

/// The same on every rank.
template <typename T, int D>
struct small_system {
  grid<T, D> space{};
  std::vector<vec<T, D>> points{};
  T reach{};

  explicit small_system(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    vec<T, D> upper{};
    vec<bool, D> periodic{};
    vec<int, D> cells{};
    for (int axis = 0; axis < D; ++axis) {
      cells[axis] = 1 + static_cast<int>(random() % 7);
      upper[axis] = static_cast<T>(cells[axis]) / 4;
      periodic[axis] = random() % 2 == 0;
    }
    space = make_grid(make_box(vec<T, D>{}, upper, periodic), cells);
    points.resize(random() % 50);
    const std::uint64_t shape = random() % 4;
    for (auto& point : points) {
      for (int axis = 0; axis < D; ++axis) {
        const T x = random_unit<T>(random);
        if (shape == 0) point[axis] = x * upper[axis];
        if (shape == 1) point[axis] = std::floor(x * static_cast<T>(cells[axis] + 1)) / 4;  // on faces of cells
        if (shape == 2) point[axis] = x / 4;                                                // in one cell
        if (shape == 3) point[axis] = axis == 0 ? x * upper[axis] : T(0);                   // on an edge
      }
      // An upper face belongs to an open axis only.
      point = space.domain.wrap(point);
    }
    reach = random_unit<T>(random) * T(0.6);
  }

  [[nodiscard]] int owner(const decomposition<D>& shares, std::size_t i) const {
    int found = -1;
    for (int rank = 0; rank < shares.ranks(); ++rank) {
      if (!shares.blocks[static_cast<std::size_t>(rank)].holds(space.unfolded_cell_of(points[i]))) continue;
      expect(found < 0, "point ", i, " is in the blocks of ranks ", found, " and ", rank);
      found = rank;
    }
    expect(found >= 0, "point ", i, " is in no block");
    return found;
  }

  /// Whether a cell of the block is among those that the reach of a point names, one by one.
  [[nodiscard]] bool near(const cell_block<D>& block, std::size_t i) const {
    const cell_range<D> range = space.reach(points[i], reach);
    vec<int, D> cell = range.first;
    for (int axis = 0; axis < D;) {
      vec<int, D> home{};
      for (int a = 0; a < D; ++a) home[a] = space.wrapped(cell[a], a);
      if (block.holds(home)) return true;
      for (axis = 0; axis < D && ++cell[axis] > range.last[axis]; ++axis) cell[axis] = range.first[axis];
    }
    return false;
  }

  [[nodiscard]] bool neighbors(std::size_t i, std::size_t j) const {
    return squared_norm(space.domain.separation(points[i], points[j])) < reach * reach;
  }
};

/// Cuts anywhere, also such that blocks are empty or thinner than the reach.
template <typename T, int D>
[[nodiscard]] decomposition<D> random_decomposition(const grid<T, D>& space, int ranks, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  detail::bisection<D> work(space.cells, space.domain.periodic, ranks);
  while (!work.parts().empty()) {
    std::vector<int> axes, cells;
    for (const auto& part : work.parts()) {
      const int axis = axes.emplace_back(static_cast<int>(random() % D));
      const int layers = part.block.end[axis] - part.block.first[axis];
      cells.push_back(part.block.first[axis] +
                      static_cast<int>(random() % (static_cast<std::uint64_t>(std::max(layers, 0)) + 1)));
    }
    work.cut(axes, cells);
  }
  return work.finished();
}

/// The elements of a vector, by index.
template <typename E>
[[nodiscard]] std::vector<E> chosen(const std::vector<E>& all, const std::vector<std::uint32_t>& indices) {
  std::vector<E> result;
  for (const std::uint32_t i : indices) result.push_back(all[i]);
  return result;
}

/// Ranks hold consecutive parts of the points; then each gets those of its block.
template <typename T, int D>
void check_migration(communicator& ranks, const small_system<T, D>& system, const decomposition<D>& shares) {
  const backend_context context = context_of_rank();
  const device_decomposition<backend_context, D> on_device(context, shares);
  const auto size = static_cast<std::size_t>(ranks.size()), self = static_cast<std::size_t>(ranks.rank());
  std::vector<std::uint32_t> before, expected;
  for (std::size_t i = 0; i < system.points.size(); ++i) {
    const auto id = static_cast<std::uint32_t>(i);
    if (i * size / system.points.size() == self) before.push_back(id);
    if (system.owner(shares, i) == ranks.rank()) expected.push_back(id);
  }
  const auto ids = to_device(context, before);
  const auto points = to_device(context, chosen(system.points, before));
  array<std::uint32_t, backend_context> owners(context, before.size());
  find_owners(context, on_device.view(), system.space, points_of(points), owners.data());

  migration<backend_context> moves(context, ranks);
  moves.build(owners.data(), before.size());
  array<std::uint32_t, backend_context> new_ids(context, moves.arriving());
  array<vec<T, D>, backend_context> new_points(context, moves.arriving());
  moves.apply(ids.data(), new_ids.data());
  moves.apply(points.data(), new_points.data());
  expect(to_host(context, new_ids) == expected, "migration gave other points than those of the block, or their order");
  expect(to_host(context, new_points) == chosen(system.points, expected), "positions do not belong to the ids");
}

/// What each rank holds at first, ids of points, becomes what sparse_migration promises for this rank.
template <typename T, int D>
[[nodiscard]] std::vector<std::uint32_t> migrated_in_place(const small_system<T, D>& system,
                                                           const decomposition<D>& shares,
                                                           const std::vector<std::vector<std::uint32_t>>& held,
                                                           int self) {
  std::vector<std::uint32_t> mine = held[static_cast<std::size_t>(self)], arriving;
  std::vector<std::size_t> gaps, staying;
  for (std::size_t k = 0; k < mine.size(); ++k) (system.owner(shares, mine[k]) == self ? staying : gaps).push_back(k);
  for (std::size_t rank = 0; rank < held.size(); ++rank) {
    if (static_cast<int>(rank) == self) continue;
    for (const std::uint32_t id : held[rank]) {
      if (system.owner(shares, id) == self) arriving.push_back(id);
    }
  }
  const std::size_t size = mine.size() - gaps.size() + arriving.size();
  const std::size_t filled = std::min(gaps.size(), arriving.size());
  for (std::size_t k = 0; k < filled; ++k) mine[gaps[k]] = arriving[k];
  mine.insert(mine.end(), arriving.begin() + static_cast<std::ptrdiff_t>(filled), arriving.end());
  std::size_t next = filled;
  for (const std::size_t place : staying) {
    if (place >= size) mine[gaps[next++]] = mine[place];
  }
  mine.resize(size);
  return mine;
}

/// The same as check_migration, in place. Ranks hold points by turns, or consecutive ones.
template <typename T, int D>
void check_sparse_migration(communicator& ranks, const small_system<T, D>& system, const decomposition<D>& shares,
                            bool by_turns) {
  const backend_context context = context_of_rank();
  const auto size = static_cast<std::size_t>(ranks.size()), self = static_cast<std::size_t>(ranks.rank());
  std::vector<std::vector<std::uint32_t>> held(size);
  for (std::size_t i = 0; i < system.points.size(); ++i) {
    held[by_turns ? i % size : i * size / system.points.size()].push_back(static_cast<std::uint32_t>(i));
  }
  std::vector<std::uint32_t> destinations;
  for (const std::uint32_t id : held[self]) {
    destinations.push_back(static_cast<std::uint32_t>(system.owner(shares, id)));
  }
  const auto owners = to_device(context, destinations);
  sparse_migration<backend_context> moves(context, ranks);
  moves.build(owners.data(), destinations.size());
  const auto expected = migrated_in_place(system, shares, held, ranks.rank());
  expect(moves.size() == expected.size(), "there are ", moves.size(), " elements; expected ", expected.size());
  const auto with_room = [&](auto elements) {
    elements.resize(std::max(elements.size(), moves.size()));
    return to_device(context, elements);
  };
  auto ids = with_room(held[self]);
  auto points = with_room(chosen(system.points, held[self]));
  const migrated_array arrays[] = {{ids.data(), sizeof(ids.data()[0])}, {points.data(), sizeof(points.data()[0])}};
  moves.apply(std::span(arrays));
  expect(to_host(context, ids.data(), moves.size()) == expected, "elements are not in the places that are promised");
  expect(to_host(context, points.data(), moves.size()) == chosen(system.points, expected),
         "positions do not belong to the ids that have migrated in place");
}

/// Ghosts are exactly the particles of others that are near, in order; reverse sums come back to their owners.
template <typename T, int D>
void check_halo(communicator& ranks, const small_system<T, D>& system, const decomposition<D>& shares) {
  const backend_context context = context_of_rank();
  const device_decomposition<backend_context, D> on_device(context, shares);
  const auto self = static_cast<std::size_t>(ranks.rank());
  std::vector<std::uint32_t> ids, ghosts;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    for (std::size_t i = 0; i < system.points.size(); ++i) {
      if (system.owner(shares, i) != rank) continue;
      if (rank == ranks.rank()) {
        ids.push_back(static_cast<std::uint32_t>(i));
      } else if (system.near(shares.blocks[self], i)) {
        ghosts.push_back(static_cast<std::uint32_t>(i));
      }
    }
  }
  const std::size_t own = ids.size();
  halo<backend_context, T, D> borders(context, ranks);
  const auto own_points = to_device(context, chosen(system.points, ids));
  borders.build(system.space, on_device.view(), points_of(own_points), {system.reach});
  expect(borders.ghosts() == ghosts.size(), "there are ", borders.ghosts(), " ghosts; expected ", ghosts.size());
  std::vector<std::uint32_t> bordering;
  for (std::size_t i = 0; i < own; ++i) {
    bool shared = false;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      shared = shared || (rank != ranks.rank() && system.near(shares.blocks[static_cast<std::size_t>(rank)], ids[i]));
    }
    if (shared) bordering.push_back(static_cast<std::uint32_t>(i));
  }
  const auto found = borders.bordering();
  expect(to_host(context, found.data(), found.size()) == bordering, "others are said to be ghosts elsewhere");

  std::vector<std::uint32_t> all_ids = ids;
  all_ids.resize(own + ghosts.size(), 12345);
  std::vector<vec<T, D>> all_points = chosen(system.points, ids);
  all_points.resize(all_ids.size());
  auto device_ids = to_device(context, all_ids);
  auto device_points = to_device(context, all_points);
  const halo_array arrays[] = {{device_points.data(), sizeof(vec<T, D>)}, {device_ids.data(), sizeof(std::uint32_t)}};
  borders.forward(std::span(arrays));
  all_ids = to_host(context, device_ids);
  std::vector<std::uint32_t> expected = ids;
  expected.insert(expected.end(), ghosts.begin(), ghosts.end());
  expect(all_ids == expected, "the ghosts are others, or in another order");
  expect(to_host(context, device_points) == chosen(system.points, expected), "ghosts are not where their owners are");

  // Each pair is met by the owner of its first particle, and counted for both.
  std::vector<std::uint64_t> counts(all_ids.size(), 0);
  for (std::size_t i = 0; i < own; ++i) {
    for (std::size_t j = 0; j < all_ids.size(); ++j) {
      if (all_ids[i] >= all_ids[j] || !system.neighbors(all_ids[i], all_ids[j])) continue;
      ++counts[i];
      ++counts[j];
    }
  }
  auto device_counts = to_device(context, counts);
  borders.reverse(device_counts.data());
  counts = to_host(context, device_counts);
  for (std::size_t i = 0; i < own; ++i) {
    std::uint64_t neighbors = 0;
    for (std::size_t j = 0; j < system.points.size(); ++j) {
      neighbors += j != all_ids[i] && system.neighbors(all_ids[i], j) ? 1 : 0;
    }
    expect(counts[i] == neighbors, "point ", all_ids[i], " has ", counts[i], " neighbors; expected ", neighbors);
  }
}

/// The system of a seed with three decompositions.
template <typename T, int D>
void check_small_system(communicator& ranks, std::uint64_t seed) {
  const small_system<T, D> system(seed);
  const backend_context context = context_of_rank();
  std::vector<vec<T, D>> mine;
  for (std::size_t i = static_cast<std::size_t>(ranks.rank()); i < system.points.size();
       i += static_cast<std::size_t>(ranks.size())) {
    mine.push_back(system.points[i]);
  }
  const auto points = to_device(context, mine);
  decomposition<D> shares = random_decomposition(system.space, ranks.size(), seed);
  if (seed % 4 == 1) shares = even_decomposition(system.space, ranks.size());
  if (seed % 4 == 2) shares = balanced_decomposition(context, ranks, system.space, points_of(points));
  try {
    check_migration(ranks, system, shares);
    check_sparse_migration(ranks, system, shares, seed % 2 == 0);
    check_halo(ranks, system, shares);
  } catch (const rank_error&) {
    throw;
  } catch (const error& problem) {
    throw error(
        message("system ", seed, ", ", D, "D, rank ", ranks.rank(), " of ", ranks.size(), ": ", problem.what()));
  }
}

/// `count` systems, in both precisions and dimensions by turns.
inline void check_small_systems(communicator& ranks, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    switch (seed % 3) {
      case 0:
        check_small_system<float, 3>(ranks, seed);
        break;
      case 1:
        check_small_system<double, 2>(ranks, seed);
        break;
      default:
        check_small_system<double, 3>(ranks, seed);
    }
  }
}

}  // namespace quadrat::test
