// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "search/kernels.hpp"
#include "search/levels/layers.hpp"

/// The method `levels`: one thread per row, through the layers that hold its neighbors.
namespace quadrat::detail {

template <typename T, int D>
struct levels_search {
  neighbor_search<T, D> search;
  search_layers<T, search_system<T, D>> layers;
  layer_slots<T, D> slots;

  [[nodiscard]] QUADRAT_HD search_query<T, D> query_of(std::size_t slot) const {
    const particle_id id = slots.ids[slot];
    return {slots.position(slot), boxes_of(slot), id, search.system_at(search.system_of_point, id)};
  }
  /// S between the caller's positions instead of the wrapped ones, where `boxes` are kept.
  [[nodiscard]] QUADRAT_HD vec<int, D> reported(const search_query<T, D>& query, std::size_t slot,
                                                const vec<int, D>& shift) const {
    return shift + query.boxes - boxes_of(slot);
  }

  /// Calls f(slot, j, S, separation, squared distance) for the pairs of the point in a slot; S is between wrapped
  /// positions.
  template <typename F>
  QUADRAT_HD void for_each_hit(const search_query<T, D>& query, std::size_t own, F&& f) const {
    const T radius = radius_of(own);
    for_each_run(query, own,
                 [&](const lattice<T, D>& shape, std::size_t first, std::size_t last, const vec<int, D>& shift) {
                   const vec<T, D> translation = shape.translation(shift);
                   for (std::size_t slot = first; slot < last; ++slot) {
                     const vec<T, D> r = search.separation(query.position, slots.position(slot), translation);
                     const T squared_distance = squared_norm(r);
                     if (!(squared_distance < squared_cutoff(radius, slot))) continue;
                     const particle_id j = slots.ids[slot];
                     if (search.pair_counts(query.row, j, shift) && !search.is_excluded(query.row, j)) {
                       f(slot, j, shift, r, squared_distance);
                     }
                   }
                 });
  }

  /// Calls f(shape of the box, first slot, one past the last slot, S) for the candidates of the point in a slot.
  template <typename F>
  QUADRAT_HD void for_each_run(const search_query<T, D>& query, std::size_t own, F&& f) const {
    const T radius = radius_of(own);
    const radius_sizes<T>& sizes = layers.levels.sizes;
    const std::uint32_t visited = layers.visited[slots.radii != nullptr ? layers.levels.level_of(radius) : 0];
    for (int k = 0; k < 2 * layers.levels.count; ++k) {
      if ((visited >> k & 1) == 0) continue;
      const search_layer<T, search_system<T, D>>& layer = layers.layer[k];
      const search_system<T, D>& cells = layer.grids[query.system];
      if (layer.is_empty(cells)) continue;
      const cell_range<D> range = cells.reach(query.position, sizes.reach(sizes.of(radius), layer.widest));
      const auto run = [&](cell_id first, cell_id last, const vec<int, D>& shift) {
        const std::size_t base = layer.first_slot;
        f(cells.shape, base + layer.offsets[first], base + layer.offsets[last + 1], shift);
      };
      for_each_image_run(cells, range, walking_order{true, 1}, run);
    }
  }

 private:
  [[nodiscard]] QUADRAT_HD vec<int, D> boxes_of(std::size_t slot) const {
    return slots.boxes != nullptr ? slots.boxes[slot] : vec<int, D>{};
  }

  [[nodiscard]] QUADRAT_HD T radius_of(std::size_t slot) const {
    return slots.radii != nullptr ? slots.radii[slot] : T(0);
  }
  [[nodiscard]] QUADRAT_HD T squared_cutoff(T radius, std::size_t slot) const {
    if (slots.radii == nullptr) return search.squared_reach;
    const T cutoff = cutoff_of_radii(search.rule, radius, slots.radii[slot], search.skin);
    return cutoff * cutoff;
  }
};

/// Index: slot of a point. Counts the pairs of each row.
template <typename T, int D>
struct count_levels_row {
  levels_search<T, D> walk;
  std::uint32_t* counts;
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t i) const {
    const search_query<T, D> query = walk.query_of(i);
    std::uint64_t count = 0;
    walk.for_each_hit(query, i, [&](std::size_t, particle_id, const vec<int, D>&, const vec<T, D>&, T) { ++count; });
    counts[query.row] = static_cast<std::uint32_t>(count);
    if (counts[query.row] != count) faults.raise_overflow(row_fault_base + query.row, count);
  }
};

/// Index: slot of a point. Writes the pairs of each row, or their keys. A matrix is counted at the same time.
template <typename T, int D>
struct fill_levels_row {
  levels_search<T, D> walk;
  neighbor_sink<T, D> sink;
  std::size_t rows;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (i == 0) sink.report(rows);
    const search_query<T, D> query = walk.query_of(i);
    const std::uint64_t limit = sink.limit(query.row);
    std::uint64_t at = sink.begin(query.row);
    if (sink.offsets != nullptr && at == limit) return;
    walk.for_each_hit(
        query, i,
        [&](std::size_t slot, particle_id j, const vec<int, D>& shift, const vec<T, D>& r, T squared_distance) {
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
