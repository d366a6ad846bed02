// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "search/kernels.hpp"
#include "search/levels/layer_rows.hpp"
#include "search/levels/layers.hpp"

/// The method `levels`: one thread per row, through the layers that hold its neighbors.
namespace quadrat::detail {

/// The comparison of a row's point with a candidate.
template <typename T, int D>
struct levels_hit {
  bool near;  ///< nearer than the cutoff of the two
  vec<T, D> separation;
  T squared_distance;
};

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

  /// Compares the point of a row with an image of the point in a slot.
  [[nodiscard]] QUADRAT_HD levels_hit<T, D> test(const search_query<T, D>& query, T radius, std::size_t slot,
                                                 const vec<T, D>& translation) const {
    const vec<T, D> r = search.separation(query.position, slots.position(slot), translation);
    const T squared_distance = squared_norm(r);
    return {squared_distance < squared_cutoff(radius, slot), r, squared_distance};
  }

  /// Calls f(slot, j, S, levels_hit) for the pairs of the point in a slot; S is between wrapped positions.
  template <typename F>
  QUADRAT_HD void for_each_hit(const search_query<T, D>& query, std::size_t own, F&& f) const {
    const T radius = slots.radius(own);
    for_each_run(query, own,
                 [&](const lattice<T, D>& shape, std::size_t first, std::size_t last, const vec<int, D>& shift) {
                   const vec<T, D> translation = shape.translation(shift);
                   for (std::size_t slot = first; slot < last; ++slot) {
                     const levels_hit<T, D> hit = test(query, radius, slot, translation);
                     if (!hit.near) continue;
                     const particle_id j = slots.ids[slot];
                     if (pair_counts(query.row, j, shift)) f(slot, j, shift, hit);
                   }
                 });
  }

  /// Calls f(shape of the box, first slot, one past the last slot, S) for the candidates of the point in a slot.
  template <typename F>
  QUADRAT_HD void for_each_run(const search_query<T, D>& query, std::size_t own, F&& f) const {
    for_each_layer(query, own, [&](const search_layer<T, search_system<T, D>>& layer, const layer_rows<T, D>& rows) {
      const std::uint64_t count = rows.count();
      for (std::uint64_t number = 0; number < count; ++number) {
        const cell_run<D> run = rows[number];
        if (run.first > run.last) continue;
        f(layer.grids[query.system].shape, layer.begin(run), layer.end(run), run.shift);
      }
    });
  }

  /// Calls f(layer, its rows of cells within reach) for the layers that hold candidates of the point in a slot.
  template <typename F>
  QUADRAT_HD void for_each_layer(const search_query<T, D>& query, std::size_t own, F&& f) const {
    const T radius = slots.radius(own);
    const std::uint32_t visited = layers.visited[layers.levels.level_of(radius)];
    for (int k = 0; k < 2 * layers.levels.count; ++k) {
      if ((visited >> k & 1) == 0) continue;
      const search_layer<T, search_system<T, D>>& layer = layers.layer[k];
      const search_system<T, D>& cells = layer.grids[query.system];
      if (layer.is_empty(cells)) continue;
      f(layer, layer_rows<T, D>(cells, query.position, layers.reach(radius, k)));
    }
  }

  [[nodiscard]] QUADRAT_HD T squared_cutoff(T radius, std::size_t slot) const {
    if (search.rule == cutoff_rule::uniform) return search.squared_reach;
    const T cutoff = cutoff_of_radii(search.rule, radius, slots.radius(slot), search.skin);
    return cutoff * cutoff;
  }
  /// Whether an image of point j is an entry of a row, if it is near enough.
  [[nodiscard]] QUADRAT_HD bool pair_counts(std::size_t row, particle_id j, const vec<int, D>& shift) const {
    return search.pair_counts(row, j, shift) && !search.is_excluded(row, j);
  }

 private:
  [[nodiscard]] QUADRAT_HD vec<int, D> boxes_of(std::size_t slot) const {
    return slots.boxes != nullptr ? slots.boxes[slot] : vec<int, D>{};
  }
};

/// Writes one entry, or its key. S is between wrapped positions.
template <typename T, int D>
QUADRAT_HD void write_levels_entry(const levels_search<T, D>& walk, const neighbor_sink<T, D>& sink,
                                   const search_query<T, D>& query, std::uint64_t at, std::size_t slot, particle_id j,
                                   const vec<int, D>& shift, const levels_hit<T, D>& hit) {
  if (sink.keys != nullptr) {
    sink.keys[at] = key_of_entry(j, shift);
  } else {
    sink.store(at, query.row, j, walk.reported(query, slot, shift), hit.separation, hit.squared_distance);
  }
}

/// Index: slot of a point. Counts the pairs of each row.
template <typename T, int D>
struct count_levels_row {
  levels_search<T, D> walk;
  std::uint32_t* counts;
  fault_flag faults;

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    const search_query<T, D> query = walk.query_of(i);
    std::uint64_t count = 0;
    walk.for_each_hit(query, i, [&](auto&&...) { ++count; });
    counts[query.row] = static_cast<std::uint32_t>(count);
    if (counts[query.row] != count) faults.raise_overflow(row_fault_base + query.row, count);
    return count;
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
    walk.for_each_hit(query, i,
                      [&](std::size_t slot, particle_id j, const vec<int, D>& shift, const levels_hit<T, D>& hit) {
                        if (at < limit) write_levels_entry(walk, sink, query, at, slot, j, shift, hit);
                        ++at;
                      });
    if (sink.offsets == nullptr) sink.finish_matrix_row(query.row, at, limit);
  }
};

}  // namespace quadrat::detail
