// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "distributed/small_system.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/distributed/nearest_neighbors.hpp"

// Nearest neighbors over the ranks of a communicator, compared bit by bit with one rank that has all points.

namespace quadrat::test {

/// Points of all ranks, in order of rank; queries likewise. The same on every rank.
template <typename T, int D>
struct ranked_points {
  lattice<T, D> box{};
  std::vector<std::vector<vec<T, D>>> points{}, queries{};

  /// Leaves out points at and beyond open faces.
  void keep_inside() {
    for (auto* const sets : {&points, &queries}) {
      for (auto& part : *sets) {
        std::erase_if(part, [&](const vec<T, D>& point) {
          bool outside = false;
          for (int axis = 0; axis < D; ++axis) {
            const T f = box.fraction(point, axis);
            outside = outside || (!box.periodic[axis] && !(f > T(0.001) && f < T(0.999)));
          }
          return outside;
        });
      }
    }
  }
  /// The numbers of the first point of a rank, and of the one behind its last.
  [[nodiscard]] static std::array<std::size_t, 2> range_of(const std::vector<std::vector<vec<T, D>>>& parts, int rank) {
    std::size_t first = 0;
    for (int before = 0; before < rank; ++before) first += parts[static_cast<std::size_t>(before)].size();
    return {first, first + parts[static_cast<std::size_t>(rank)].size()};
  }
  [[nodiscard]] static std::vector<vec<T, D>> joined(const std::vector<std::vector<vec<T, D>>>& parts) {
    std::vector<vec<T, D>> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }
};

/// Compares the rows of this rank with those of one rank, from row `first` on.
template <typename T, int D>
void expect_same_rows(const backend_context& context, const distributed_nearest_view<T, D>& found,
                      const nearest_view<T, D>& wanted, std::size_t first, std::size_t rows, const std::string& where) {
  expect(found.rows == rows && found.k == wanted.k, where, ": there are ", found.rows, " rows of ", found.k);
  expect(rows == 0 || (found.shifts == nullptr) == (wanted.shifts == nullptr), where, ": shifts");
  const std::size_t entries = rows * found.k, begin = first * found.k;
  const auto numbers = to_host(context, found.neighbors, entries);
  const auto squared = to_host(context, found.squared_distances, entries);
  const auto neighbors = to_host(context, wanted.neighbors + begin, entries);
  const auto distances = to_host(context, wanted.squared_distances + begin, entries);
  const auto shifts = to_host(context, found.shifts, found.shifts == nullptr ? 0 : entries);
  const auto wanted_shifts = found.shifts == nullptr ? shifts : to_host(context, wanted.shifts + begin, entries);
  for (std::size_t n = 0; n < entries; ++n) {
    const std::int64_t number = neighbors[n] == no_particle ? -1 : static_cast<std::int64_t>(neighbors[n]);
    expect(numbers[n] == number && squared[n] == distances[n], where, ": neighbor ", n % found.k, " of row ",
           n / found.k, " is ", numbers[n], " at the square ", squared[n], "; one rank finds ", number, " at ",
           distances[n]);
    expect(shifts.empty() || shifts[n] == wanted_shifts[n], where, ": shift ", n);
  }
}

/// Returns the number of copies that all ranks sent for their points.
template <typename T, int D>
std::uint64_t check_nearest_of(communicator& ranks, const ranked_points<T, D>& all, const nearest_options<T>& options,
                               const std::string& where) {
  const backend_context context = context_of_rank();
  const auto self = static_cast<std::size_t>(ranks.rank());
  const auto rows_before = [&](const auto& parts) {
    std::size_t rows = 0;
    for (std::size_t rank = 0; rank < self; ++rank) rows += parts[rank].size();
    return rows;
  };
  const auto points = to_device(context, all.points[self]), queries = to_device(context, all.queries[self]);
  const auto all_points = to_device(context, all.joined(all.points));
  const auto all_queries = to_device(context, all.joined(all.queries));
  distributed_nearest_neighbors<backend_context, T, D> nearest(context, ranks, all.box, options);
  nearest_neighbors<backend_context, T, D> alone(context, all.box, options);
  nearest.build(points_of(points));
  alone.build(points_of(all_points));
  nearest.search();
  alone.search();
  expect_same_rows(context, nearest.view(), alone.view(), rows_before(all.points), points.size(), where);
  std::uint64_t sent = nearest.sent();
  ranks.add_up(&sent, 1);
  nearest.search(points_of(queries));
  alone.search(points_of(all_queries));
  expect_same_rows(context, nearest.view(), alone.view(), rows_before(all.queries), queries.size(),
                   where + ", queries");
  return sent;
}

/// A box, tilted in every third system, whose points are dealt to ranks by the first axis, or at random.
template <typename T, int D>
[[nodiscard]] ranked_points<T, D> some_ranked_points(int ranks, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ranked_points<T, D> all;
  vec<vec<T, D>, D> vectors{};
  vec<bool, D> periodic{};
  vec<T, D> origin{};
  for (int axis = 0; axis < D; ++axis) {
    vectors[axis][axis] = T(0.5) + 2 * random_unit<T>(random);
    periodic[axis] = random() % 2 == 0;
    origin[axis] = seed % 5 == 0 ? T(100) * random_unit<T>(random) : T(0);
  }
  if (seed % 3 == 0) {
    periodic = vec<bool, D>::filled(true);
    vectors[D - 1][0] = T(0.3) * vectors[0][0];
    if (seed % 2 == 0) vectors[1][0] = T(1.7) * vectors[0][0];  // shorter vectors have the same images
    if (D == 3 && seed % 9 == 0) {
      vectors[2][0] = 0;  // an open vector must be perpendicular to the others
      periodic[2] = false;
    }
  }
  all.box = make_lattice(origin, vectors, periodic);
  const auto deal = [&](std::size_t count, bool grid_points) {
    std::vector<std::vector<vec<T, D>>> parts(static_cast<std::size_t>(ranks));
    const bool clustered = random() % 2 == 0, scattered = random() % 4 == 0;
    for (std::size_t i = 0; i < count; ++i) {
      T first = 0;
      vec<T, D> point = origin;
      for (int axis = 0; axis < D; ++axis) {
        // Many are equally far from each other, or outside the box.
        T f = grid_points ? static_cast<T>(random() % 8) / 8 : random_unit<T>(random);
        if (clustered && i % 3 > 0) f *= T(0.125);
        if (axis == 0) first = f;
        if (i % 7 == 0) f += static_cast<T>(static_cast<int>(random() % 3) - 1);
        point += f * vectors[axis];
      }
      const auto rank = static_cast<std::size_t>(first * static_cast<T>(ranks));
      parts[scattered ? random() % parts.size() : std::min(rank, parts.size() - 1)].push_back(point);
    }
    return parts;
  };
  const bool grid_points = random() % 2 == 0;
  all.points = deal(seed % 6 == 1 ? seed % 4 : 10 + random() % 150, grid_points);
  all.queries = deal(random() % 40, grid_points);
  return all;
}

inline void check_nearest(communicator& ranks, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto both = [&](auto zero, auto dimension) {
      using T = decltype(zero);
      constexpr int D = decltype(dimension)::value;
      nearest_options<T> options;
      options.k = 1 + seed % 17;
      if (seed % 4 == 1) options.cutoff = T(0.25);
      options.include_self = seed % 8 == 2;
      options.shifts = seed % 3 > 0;
      static_cast<void>(
          check_nearest_of(ranks, some_ranked_points<T, D>(ranks.size(), seed), options, message("system ", seed)));
    };
    if (seed % 2 == 0) both(0.0f, std::integral_constant<int, 3>());
    if (seed % 4 == 1) both(0.0, std::integral_constant<int, 3>());
    if (seed % 4 == 3) both(0.0, std::integral_constant<int, 2>());
  }
}

}  // namespace quadrat::test
