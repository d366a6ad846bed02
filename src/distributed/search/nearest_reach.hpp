// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quadrat/core/lattice.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"

/// Nearest neighbors over ranks: which ranks a query asks, and how answers are merged, as host-device code.
namespace quadrat::detail {

/// The bounding box of the points of a rank, in fractions of the box. Without points, low is above high.
template <int D>
struct rank_extent {
  vec<double, D> low, high;
};

template <int D>
struct join_extents {
  QUADRAT_HD rank_extent<D> operator()(const rank_extent<D>& a, const rank_extent<D>& b) const {
    rank_extent<D> all = a;
    for (int axis = 0; axis < D; ++axis) {
      all.low[axis] = std::fmin(a.low[axis], b.low[axis]);
      all.high[axis] = std::fmax(a.high[axis], b.high[axis]);
    }
    return all;
  }
};

/// Index: point. Its extent, which covers the rounding of its image in the box, in T. Along periodic axes it begins
/// between 0 and 1.
template <typename T, int D>
struct extent_of_point {
  lattice<double, D> shape;
  points_view<T, D> points;
  double rounding;         ///< of numbers around 1
  vec<double, D> farther;  ///< of the origin of coordinates than of the box, in fractions

  QUADRAT_HD rank_extent<D> operator()(std::size_t i) const {
    const vec<double, D> point = cast<double>(points[i]);
    rank_extent<D> extent{};
    for (int axis = 0; axis < D; ++axis) {
      const double fraction = shape.fraction(point, axis);
      const double at = shape.periodic[axis] ? fraction - std::floor(fraction) : fraction;
      const double slack = rounding * (1 + std::fabs(fraction) + farther[axis]);
      extent.low[axis] = at - slack;
      extent.high[axis] = at + slack;
    }
    return extent;
  }
};

/// Which ranks a query must ask: those that may have a point nearer than its last neighbor, or equally near.
template <typename T, int D>
struct asked_ranks {
  extent_of_point<T, D> place;  ///< of queries
  vec<double, D> heights;
  const rank_extent<D>* extents;
  std::uint32_t ranks, self;
  const T* squared;  ///< rows x k
  std::size_t k;
  T squared_cutoff;

  /// Calls ask(rank) in order of rank.
  template <typename Ask>
  QUADRAT_HD void for_each(std::size_t i, Ask&& ask) const {
    const T last = squared[i * k + k - 1];
    const double limit = static_cast<double>(last < squared_cutoff ? last : squared_cutoff) * (1 + place.rounding);
    const rank_extent<D> query = place(i);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const bool empty = extents[rank].low[0] > extents[rank].high[0];
      if (rank != self && !empty && least_square(query, extents[rank]) <= limit) ask(rank);
    }
  }

 private:
  /// No point of the extent is nearer: between planes across an axis there is at least their distance, and in a box
  /// with right angles these add up.
  [[nodiscard]] QUADRAT_HD double least_square(const rank_extent<D>& query, const rank_extent<D>& extent) const {
    double sum = 0, most = 0;
    for (int axis = 0; axis < D; ++axis) {
      const double above = extent.low[axis] - query.high[axis], below = query.low[axis] - extent.high[axis];
      double gap = std::fmax(above, below);
      if (place.shape.periodic[axis]) gap = std::fmin(gap, std::fmin(above + 1, below + 1));
      const double apart = std::fmax(gap, 0.0) * heights[axis];
      sum += apart * apart;
      most = std::fmax(most, apart);
    }
    return place.shape.orthorhombic ? sum : most * most;
  }
};

/// Index: query. How many ranks it asks.
template <typename T, int D>
struct count_asked {
  asked_ranks<T, D> asked;
  std::uint32_t* counts;

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint32_t count = 0;
    asked.for_each(i, [&](std::uint32_t) { ++count; });
    counts[i] = count;
  }
};

/// Index: query. Writes a copy of it for each rank.
template <typename T, int D>
struct write_copies {
  asked_ranks<T, D> asked;
  const std::uint64_t* starts;
  std::uint32_t* targets;  ///< by copy
  vec<T, D>* positions;    ///< by copy

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint64_t at = starts[i];
    asked.for_each(i, [&](std::uint32_t rank) {
      targets[at] = rank;
      positions[at++] = asked.place.points[i];
    });
  }
};

/// Index: entry of a row. Numbers the points of all ranks.
struct number_neighbors {
  const particle_id* found;
  std::int64_t first;  ///< number of the rank's first point
  std::int64_t* numbers;

  QUADRAT_HD void operator()(std::size_t entry) const {
    numbers[entry] = found[entry] == no_particle ? -1 : first + static_cast<std::int64_t>(found[entry]);
  }
};

/// Rows of neighbors.
template <typename T, int D>
struct neighbor_rows {
  std::int64_t* numbers;
  T* squared;
  vec<int, D>* shifts;  ///< nullptr: none
};

/// Index: query. Merges answers into its row.
template <typename T, int D>
struct merge_answers {
  const std::uint64_t* starts;  ///< by query, and at the end: its copies
  const std::uint32_t* places;  ///< by copy: its answer
  neighbor_rows<T, D> rows;
  neighbor_rows<T, D> answers;
  std::size_t k;

  QUADRAT_HD void operator()(std::size_t i) const {
    for (std::uint64_t copy = starts[i]; copy < starts[i + 1]; ++copy) merge(i * k, places[copy] * k);
  }

 private:
  /// Missing neighbors, whose number is -1, come last.
  [[nodiscard]] QUADRAT_HD bool before(const neighbor_rows<T, D>& a, std::size_t i, const neighbor_rows<T, D>& b,
                                       std::size_t j) const {
    if (a.squared[i] != b.squared[j]) return a.squared[i] < b.squared[j];
    return static_cast<std::uint64_t>(a.numbers[i]) < static_cast<std::uint64_t>(b.numbers[j]);
  }
  /// Keeps the first k of two rows, written from the end, where nothing that is still needed is overwritten.
  QUADRAT_HD void merge(std::size_t row, std::size_t answer) const {
    std::size_t kept = 0, taken = 0;
    while (kept + taken < k) ++(before(answers, answer + taken, rows, row + kept) ? taken : kept);
    for (std::size_t to = k; taken > 0; --to) {
      const bool from_answer = kept == 0 || before(rows, row + kept - 1, answers, answer + taken - 1);
      const neighbor_rows<T, D>& from = from_answer ? answers : rows;
      const std::size_t at = from_answer ? answer + --taken : row + --kept;
      rows.numbers[row + to - 1] = from.numbers[at];
      rows.squared[row + to - 1] = from.squared[at];
      if (rows.shifts != nullptr) rows.shifts[row + to - 1] = from.shifts[at];
    }
  }
};

}  // namespace quadrat::detail
