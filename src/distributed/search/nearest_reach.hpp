// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "distributed/particles/rank_extents.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"

/// Nearest neighbors over ranks: which ranks a query asks, and how answers are merged, as host-device code.
namespace quadrat::detail {

/// Which ranks a query must ask: those that may have a point nearer than its last neighbor, or equally near.
template <typename T, int D>
struct asked_ranks {
  ranks_by_extent<T, D> near;  ///< of queries
  const T* squared;            ///< rows x k
  std::size_t k;
  T squared_cutoff;

  /// Calls ask(rank) in order of rank.
  template <typename Ask>
  QUADRAT_HD void for_each(std::size_t i, Ask&& ask) const {
    const T last = squared[i * k + k - 1];
    near.for_each(i, static_cast<double>(last < squared_cutoff ? last : squared_cutoff), ask);
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
      positions[at++] = asked.near.place.points[i];
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
