// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "search/kernels.hpp"

/// Rows sorted by ring. The first bits of the sorting keys are the rings of the inner cutoffs.
namespace quadrat::detail {

/// Sorting keys have two bits for the ring: see key_of_entry.
inline constexpr std::size_t most_inner_cutoffs = 3;
inline constexpr int ring_shift = 62;

template <typename T>
struct ring_bounds {
  unsigned count;
  T squared[most_inner_cutoffs];  ///< squares of the inner cutoffs, increasing
};

/// The keys of a row that fit.
struct key_range {
  std::uint64_t begin;
  std::uint64_t end;
};
template <typename T, int D>
[[nodiscard]] QUADRAT_HD key_range keys_of_row(const neighbor_sink<T, D>& sink, std::size_t row) {
  const std::uint64_t begin = sink.begin(row), end = sink.limit(row);
  if (sink.offsets == nullptr && begin + sink.counts[row] < end) return {begin, begin + sink.counts[row]};
  return {begin, end};
}

/// Index: row * lanes + lane. Writes the ring of each entry into its key.
template <typename T, int D>
struct mark_rings {
  neighbor_search<T, D> search;
  neighbor_sink<T, D> sink;
  ring_bounds<T> rings;
  unsigned lanes;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t row = i / lanes;
    const search_query<T, D> query = search.query_of_row(row);
    const lattice<T, D>& shape = search.systems[query.system].shape;
    const key_range keys = keys_of_row(sink, row);
    for (std::uint64_t at = keys.begin + i % lanes; at < keys.end; at += lanes) {
      vec<int, D> shift{}, boxes{};
      const particle_id j = entry_of_key<D>(sink.keys[at], shift);
      const vec<T, D> there = search.wrapped_point(j, query.system, boxes);
      const T squared = squared_norm(search.separation(query.position, there, shape.translation(shift)));
      std::uint64_t ring = 0;
      for (unsigned k = 0; k < rings.count; ++k) ring += squared < rings.squared[k] ? 0 : 1;
      sink.keys[at] |= ring << ring_shift;
    }
  }
};

/// Index: row * rings + ring. Counts the entries of a row within an inner cutoff, in sorted keys.
template <typename T, int D>
struct count_within_rings {
  neighbor_sink<T, D> sink;
  unsigned rings;
  std::uint32_t* within;

  QUADRAT_HD void operator()(std::size_t i) const {
    const key_range keys = keys_of_row(sink, i / rings);
    const std::uint64_t outside = static_cast<std::uint64_t>(i % rings + 1) << ring_shift;
    std::uint64_t low = keys.begin, high = keys.end;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (sink.keys[middle] < outside) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    within[i] = static_cast<std::uint32_t>(low - keys.begin);
  }
};

}  // namespace quadrat::detail
