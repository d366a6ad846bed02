// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "quadrat/core/macros.hpp"
#include "search/kernels.hpp"
#include "search/levels/sizes.hpp"

/// The methods with one thread per row over cells as large as the cutoff: they serve every box, rule and layout.
namespace quadrat::detail {

/// The input of a walk. `Plain` below means the usual list: points of one system in the caller's box, one cutoff, no
/// exclusions, and fewer than 2^32 pairs in a row. Kernels for this case alone read less memory and need fewer
/// registers.
template <typename T, int D>
struct walk_search {
  neighbor_search<T, D> search;
  search_system<T, D> only;  ///< if there is one: kernels read it from their arguments instead of from memory
  const vec<int, D>* boxes;  ///< by slot: how many boxes away each point was before wrapping; nullptr: not needed
  walking_order order;

  /// Index: slot, or query.
  template <bool Plain>
  [[nodiscard]] QUADRAT_HD search_query<T, D> query_of(std::size_t i) const {
    if (!Plain && search.own_queries) return search.query_of_row(i);
    const search_point<T, D> record = search.records[i];
    return {record.position, boxes_of(i), record.id, Plain ? 0 : search.system_at(search.system_of_point, record.id)};
  }

  /// S between the caller's positions instead of the wrapped ones, where `boxes` are kept.
  [[nodiscard]] QUADRAT_HD vec<int, D> reported(const search_query<T, D>& query, std::size_t slot,
                                                const vec<int, D>& shift) const {
    return shift + query.boxes - boxes_of(slot);
  }

  /// Calls f(slot, j, S, separation, squared distance) for the pairs of a row; S is between wrapped positions.
  template <bool Plain, typename F>
  QUADRAT_HD void for_each_hit(const search_query<T, D>& query, F&& f) const {
    const search_system<T, D>& system = Plain ? only : search.systems[query.system];
    const stored_range<D> range = system.reach(query.position, search.reach);
    const auto visit_run = [&](cell_id first, cell_id last, const vec<int, D>& shift) {
      const vec<T, D> translation = system.shape.translation(shift);
      const std::uint32_t end = search.cell_offsets[last + 1];
      for (std::uint32_t slot = search.cell_offsets[first]; slot < end; ++slot) {
        const search_point<T, D> record = search.records[slot];
        const vec<T, D> r = search.separation(query.position, record.position, translation);
        const T squared_distance = squared_norm(r);
        if (squared_distance < search.squared_reach && listed<Plain>(query, record.id, shift, squared_distance)) {
          f(slot, record.id, shift, r, squared_distance);
        }
      }
    };
    for_each_image_run(system, range, order, visit_run);
  }

 private:
  [[nodiscard]] QUADRAT_HD vec<int, D> boxes_of(std::size_t slot) const {
    return boxes != nullptr ? boxes[slot] : vec<int, D>{};
  }

  /// Whether a pair within reach is to be listed.
  template <bool Plain>
  [[nodiscard]] QUADRAT_HD bool listed(const search_query<T, D>& query, particle_id j, const vec<int, D>& shift,
                                       T squared_distance) const {
    if ((Plain || !search.own_queries) && !search.template pair_counts<!Plain>(query.row, j, shift)) return false;
    if constexpr (Plain) return true;
    if (search.rule != cutoff_rule::uniform) {
      const T cutoff = cutoff_of(query.row, j);
      if (!(squared_distance < cutoff * cutoff)) return false;
    }
    return !search.is_excluded(query.row, j);
  }
  [[nodiscard]] QUADRAT_HD T cutoff_of(std::size_t i, particle_id j) const {
    switch (search.rule) {
      case cutoff_rule::sum_of_radii:
      case cutoff_rule::larger_radius:
      case cutoff_rule::own_radius:
        return cutoff_of_radii(search.rule, search.radii_of_rows[i], search.radii != nullptr ? search.radii[j] : T(0),
                               search.skin);
      case cutoff_rule::table_of_types: {
        const std::uint32_t own = search.types_of_rows[i], other = search.types[j];
        if (own >= search.type_count || other >= search.type_count) return T(0);
        const T cutoff = search.type_cutoffs[own * search.type_count + other];
        return cutoff > T(0) ? cutoff + search.skin : T(0);
      }
      default:
        return search.reach;
    }
  }
};

/// Blocks per multiprocessor in a walk: limits registers to 48 to 80, with which at most 36 bytes are spilled. Without
/// it nvcc 13.0 chooses 32 to 64 registers and spills up to 280 bytes.
template <typename T, int D, bool Plain>
inline constexpr unsigned walks_a_multiprocessor =
    Plain ? (sizeof(vec<T, D>) == 8 ? 5 : 4) : (sizeof(vec<T, D>) == 24 ? 3 : 4);

/// Index: slot or query. Counts the pairs of each row, and returns them.
template <typename T, int D, bool Plain>
struct count_row {
  static constexpr unsigned resident_blocks = Plain && sizeof(T) == 4 ? 5 : walks_a_multiprocessor<T, D, Plain>;
  walk_search<T, D> walk;
  std::uint32_t* counts;
  fault_flag faults;

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    const search_query<T, D> query = walk.template query_of<Plain>(i);
    std::conditional_t<Plain, std::uint32_t, std::uint64_t> count = 0;
    walk.template for_each_hit<Plain>(
        query, [&](std::uint32_t, particle_id, const vec<int, D>&, const vec<T, D>&, T) { ++count; });
    counts[query.row] = static_cast<std::uint32_t>(count);
    if (counts[query.row] != count) faults.raise_overflow(row_fault_base + query.row, count);
    return count;
  }
};

/// Index: slot, or query. Writes the pairs of each row, or their keys. A matrix is counted at the same time.
template <typename T, int D, bool Plain>
struct fill_row {
  static constexpr unsigned resident_blocks = walks_a_multiprocessor<T, D, Plain>;
  walk_search<T, D> walk;
  neighbor_sink<T, D> sink;
  std::size_t rows;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (i == 0) sink.report(rows);
    const search_query<T, D> query = walk.template query_of<Plain>(i);
    const std::uint64_t begin = sink.begin(query.row);
    const std::uint64_t limit = sink.limit(query.row);
    if (sink.offsets != nullptr && begin == limit) return;
    std::uint64_t at = begin;
    walk.template for_each_hit<Plain>(query, [&](std::uint32_t slot, particle_id j, const vec<int, D>& shift,
                                                 const vec<T, D>& r, T squared_distance) {
      if (at < limit) {
        if (sink.keys != nullptr) {
          sink.keys[at] = key_of_entry(j, shift);
        } else {
          sink.store(at, query.row, j, walk.reported(query, slot, shift), r, squared_distance);
        }
      }
      ++at;
    });
    if (sink.offsets == nullptr) sink.finish_matrix_row(query.row, at, limit);
  }
};

}  // namespace quadrat::detail
