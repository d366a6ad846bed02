// SPDX-License-Identifier: BSD-3-Clause
#include "search/sweeps/sweeps.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "search/request.hpp"
#include "search/sweeps/entries.hpp"
#include "search/sweeps/walk.hpp"

namespace quadrat::detail {

namespace {

/// Cells along the first axis that a thread takes at a time: a few blocks.
constexpr std::size_t cells_a_turn = std::size_t{8} * trimmed_cells_along_first_axis;

template <typename T, int D>
struct corners {
  vec<T, D> lower, upper;

  void include(const vec<T, D>& point) {
    for (int axis = 0; axis < D; ++axis) {
      lower[axis] = std::min(lower[axis], point[axis]);
      upper[axis] = std::max(upper[axis], point[axis]);
    }
  }
  /// By component, the bound that is farther from a point.
  [[nodiscard]] vec<T, D> farther_from(const vec<T, D>& point) const {
    return make_vec<T, D>([&](int axis) {
      return std::fabs(lower[axis] - point[axis]) > std::fabs(upper[axis] - point[axis]) ? lower[axis] : upper[axis];
    });
  }
};

/// The bounds of points. Coordinates grow along each axis of the grid.
template <typename T, int D>
[[nodiscard]] cuboid_bounds<T, D> bounds_of_slots(const sweeps_search<T, D>& what, const cuboid_grid<T, D>& grid,
                                                  std::uint32_t first, std::uint32_t last) {
  vec<T, D> point = point_of_slot(what, first);
  corners<T, D> points{point, point};
  for (std::uint32_t slot = first + 1; slot < last; ++slot) points.include(point_of_slot(what, slot));
  corners<T, D> places = points;
  if (grid.turned) {
    point = grid.place(point);
    places = {point, point};
    for (std::uint32_t slot = first + 1; slot < last; ++slot) places.include(grid.place(point_of_slot(what, slot)));
  }
  corners<T, D> at{};
  for (int axis = 0; axis < D; ++axis) {
    at.lower[axis] = grid.cells.coordinate(places.lower, axis);
    at.upper[axis] = grid.cells.coordinate(places.upper, axis);
  }
  // Points far outside the box have coordinates with larger rounding.
  if (!grid.folded) return {at.lower, at.upper, grid.cells.slack};
  return {at.lower, at.upper, grid.slack_at(points.farther_from(grid.origin), at.farther_from({}))};
}

template <typename T, int D>
[[nodiscard]] sweeps_target<T, D> make_target(const sweeps_search<T, D>& what, const cuboid_grid<T, D>& grid,
                                              const sweeps_block<T, D>& block) {
  const cuboid_bounds<T, D> bounds = bounds_of_slots(what, grid, block.first, block.last);
  cuboid_bounds<T, D> wide = bounds;
  // Points from far outside the box are wrapped into it only to within rounding.
  for (int axis = 0; grid.folded && axis < D; ++axis) {
    wide.lower[axis] -= 4 * bounds.slack[axis];
    wide.upper[axis] += 4 * bounds.slack[axis];
  }
  return {bounds, grid.images_near(wide)};
}

/// One past the last slot, of those after a point in folded cells, that is within a few cells of it: points far apart
/// may share a cell.
template <typename T, int D>
[[nodiscard]] std::uint32_t end_of_close_slots(const sweeps_search<T, D>& what, const cuboid_grid<T, D>& grid,
                                               std::uint32_t first, std::uint32_t last) {
  const vec<T, D> from = grid.place(point_of_slot(what, first));
  for (std::uint32_t slot = first + 1; slot < last; ++slot) {
    const vec<T, D> apart = grid.place(point_of_slot(what, slot)) - from;
    for (int axis = 0; axis < D; ++axis) {
      const T cells = std::fabs(apart[axis]) * grid.cells.rate[axis];
      if (!(cells <= static_cast<T>(trimmed_cells_along_first_axis))) return slot;
    }
  }
  return last;
}

/// The largest size of a block's points; 0 for one cutoff.
template <typename T, int D>
[[nodiscard]] T size_of_block(const sweeps_search<T, D>& what, const sweeps_block<T, D>& block) {
  if (what.slots.radii == nullptr) return T(0);
  const T* radii = what.slots.radii;
  return what.layers.levels.sizes.of(*std::max_element(radii + block.first, radii + block.last));
}

/// Calls f(first slot, one past the last slot, S) for all ranges, in every layer, that can hold neighbors of a block's
/// points.
template <typename T, int D, typename F>
void for_each_range_in_layers(const sweeps_search<T, D>& what, const sweeps_block<T, D>& block, F&& f) {
  const radius_sizes<T>& sizes = what.layers.levels.sizes;
  const T size = size_of_block(what, block);
  for (std::uint32_t left = what.layers.visited[block.level]; left != 0; left &= left - 1) {
    const auto& layer = what.layers.layer[std::countr_zero(left)];
    const cuboid_grid<T, D>& grid = layer.grids[block.system];
    if (layer.is_empty(grid.cells)) continue;
    const T reach = sizes.reach(size, layer.widest);
    for_each_range(grid, layer.offsets, make_target(what, grid, block), reach,
                   [&](std::uint32_t slot, std::uint32_t end, const vec<int, D>& shift) {
                     f(layer.first_slot + slot, layer.first_slot + end, shift);
                   });
  }
}

/// Calls f(block) for the points of the cells [first, last), which may belong to several systems and levels.
template <typename T, int D, typename F>
void for_each_block(const sweeps_search<T, D>& what, std::size_t first, std::size_t last, F&& f) {
  // The grids by level, then by system.
  const cuboid_grid<T, D>* grids = what.layers.layer[0].grids;
  const std::size_t systems = what.search.system_count;
  const cuboid_grid<T, D>* end_of_grids = grids + static_cast<std::size_t>(what.layers.levels.count) * systems;
  const std::uint32_t* offsets = what.layers.layer[0].offsets;
  const auto follows = [](std::size_t cell, const cuboid_grid<T, D>& grid) { return cell < grid.cells.first_cell; };
  const cuboid_grid<T, D>* grid = std::upper_bound(grids, end_of_grids, first, follows) - 1;
  for (std::size_t cell = first; cell < last;) {
    while (grid + 1 < end_of_grids && (grid + 1)->cells.first_cell <= cell) ++grid;
    // A block does not extend beyond its row.
    const std::size_t row = grid->cells.row_length();
    const std::size_t left = row - (cell - grid->cells.first_cell) % row;
    const std::size_t end = std::min({cell + trimmed_cells_along_first_axis, cell + left, last});
    for (std::uint32_t slot = offsets[cell]; slot < offsets[end];) {
      std::uint32_t stop = std::min(slot + sweeps_block_points, offsets[end]);
      if (grid->folded) stop = end_of_close_slots(what, *grid, slot, stop);
      const auto number = static_cast<std::size_t>(grid - grids);
      const auto system = static_cast<std::uint32_t>(number % systems);
      f(sweeps_block<T, D>{slot, stop, static_cast<std::uint32_t>(number / systems), system,
                           &what.search.systems[system].shape});
      slot = stop;
    }
    cell = end;
  }
}

/// Calls body.take(block, chunk) for all candidates within reach of each block, in the context's threads,
/// between body.begin(block) and body.end(block).
template <typename T, int D, typename Body>
void sweep(const cpu_context& context, const sweeps_search<T, D>& what, const Body& of_thread) {
  const pick_lanes_function<T, D> pick = pick_lanes<T, D>(what.search.rule);
  const auto turns = static_cast<std::int64_t>((what.cells + cells_a_turn - 1) / cells_a_turn);
#pragma omp parallel num_threads(context.threads()) if (turns > 1 && what.rows >= sweeps_team_points)
  {
    Body body = of_thread;
    sweeps_chunk<T, D> chunk(what, pick);
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      const std::size_t first = static_cast<std::size_t>(turn) * cells_a_turn;
      const std::size_t last = std::min(first + cells_a_turn, what.cells);
      for_each_block(what, first, last, [&](const sweeps_block<T, D>& block) {
        if (body.skips(block)) return;
        body.begin(block);
        chunk.begin(block);
        const auto flush = [&] {
          chunk.close();
          body.take(block, chunk);
        };
        for_each_range_in_layers(what, block, [&](std::uint32_t slot, std::uint32_t end, const vec<int, D>& shift) {
          chunk.add(slot, end, shift, flush);
        });
        flush();
        body.end(block);
      });
    }
    body.finish();
  }
}

/// The CPU is queried once, because the query allocates.
template <typename T, int D>
[[nodiscard]] pair_bits<T, D> pair_bits_of(const sweeps_search<T, D>& what) {
  static const test_lanes_function<T, D> test = test_lanes_functions<T, D>().front();
  static const test_radii_function<T, D> test_sum = test_radii_functions<T, D>(false).front();
  static const test_radii_function<T, D> test_larger = test_radii_functions<T, D>(true).front();
  static const keep_ids_function keep = keep_ids_functions().front();
  static const pick_ids_function pick = pick_ids_functions().front();
  static const sift_ids_function sift = sift_ids_functions().front();
  return {what, test, what.search.rule == cutoff_rule::larger_radius ? test_larger : test_sum, keep, pick, sift};
}

template <typename T, int D>
struct count_body {
  static constexpr std::size_t most_recorded = 1024;  // entries of a row; longer ones are searched again

  pair_bits<T, D> pairs;
  std::uint32_t* counts;
  fault_flag faults;
  count_limit* limit;
  std::uint64_t found[sweeps_block_points] = {};
  particle_id rows[sweeps_block_points][most_recorded + lanes_a_chunk + ids_beyond];  // neither set nor copied

  count_body(const pair_bits<T, D>& bits, std::uint32_t* to, const fault_flag& flag, count_limit* most)
      : pairs(bits), counts(to), faults(flag), limit(most) {}
  count_body(const count_body& other) : count_body(other.pairs, other.counts, other.faults, other.limit) {}

  [[nodiscard]] bool skips(const sweeps_block<T, D>&) const { return limit->passed(); }
  void begin(const sweeps_block<T, D>&) { std::fill(std::begin(found), std::end(found), std::uint64_t{0}); }
  void finish() const {}
  void take(const sweeps_block<T, D>& block, const sweeps_chunk<T, D>& chunk) {
    const bool recorded = pairs.what.recorded.entries != nullptr;
    bit_words words;
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      const vec<T, D> from = point_of_slot(pairs.what, slot);
      std::uint64_t& count = found[slot - block.first];
      for (std::size_t k = 0; k < chunk.segments(); ++k) {
        count += recorded && count <= most_recorded
                     ? pairs.ids(chunk, chunk[k], slot, from, rows[slot - block.first] + count)
                     : pairs(chunk, chunk[k], slot, from, words);
      }
    }
  }
  void end(const sweeps_block<T, D>& block) {
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      const particle_id row = pairs.what.slots.ids[slot];
      const std::uint64_t count = found[slot - block.first];
      limit->add(count);
      counts[row] = static_cast<std::uint32_t>(count);
      if (counts[row] != count) faults.raise_overflow(row_fault_base + row, count);
    }
    if (pairs.what.recorded.entries != nullptr) record(block);
  }

 private:
  void record(const sweeps_block<T, D>& block) const {
    const recorded_rows& to = pairs.what.recorded;
    std::uint64_t total = 0;
    bool fits = true;
    for (std::uint32_t k = 0; k < block.last - block.first; ++k) {
      total += found[k];
      fits = fits && found[k] <= most_recorded;
    }
    if (!fits) {
      std::fill(to.first_of_slot + block.first, to.first_of_slot + block.last, row_left_out);
      static_cast<void>(atomic_add(to.left_out, static_cast<std::uint64_t>(block.last - block.first)));
      return;
    }
    std::uint64_t at = atomic_add(to.used, total);
    if (at > to.capacity || total > to.capacity - at) return;
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      const std::uint64_t count = found[slot - block.first];
      std::memcpy(to.entries + at, rows[slot - block.first], count * sizeof(particle_id));
      to.first_of_slot[slot] = at;
      at += count;
    }
  }
};

/// Index: slot.
template <typename T, int D>
struct copy_recorded_row {
  sweeps_search<T, D> what;
  neighbor_sink<T, D> sink;

  void operator()(std::size_t slot) const {
#if defined(__GNUC__)
    // Prefetch, as rows may lie anywhere in memory. In a separate function, GCC would remove it.
    constexpr std::size_t ahead = 12;
    if (slot + ahead < what.rows) {
      const particle_id next = what.slots.ids[slot + ahead];
      const std::uint64_t end = sink.limit(next);
      for (std::uint64_t entry = sink.begin(next); entry < end; entry += 16) {
        __builtin_prefetch(sink.neighbors + entry, 1);
      }
    }
#endif
    if (what.recorded.first_of_slot[slot] == row_left_out) return;
    const particle_id row = what.slots.ids[slot];
    const std::uint64_t first = sink.begin(row), count = sink.limit(row) - first;
    std::memcpy(sink.neighbors + first, what.recorded.entries + what.recorded.first_of_slot[slot],
                count * sizeof(particle_id));
    if (sink.first != nullptr) std::fill(sink.first + first, sink.first + first + count, row);
  }
};

}  // namespace

template <typename T, int D>
void count_by_sweeps(const cpu_context& context, const sweeps_search<T, D>& what, std::uint32_t* counts,
                     const fault_flag& faults, count_limit& limit) {
  sweep(context, what, count_body<T, D>(pair_bits_of(what), counts, faults, &limit));
}

template <typename T, int D>
void copy_recorded(const cpu_context& context, const sweeps_search<T, D>& what, const neighbor_sink<T, D>& sink) {
  if (what.rows == 0) return;
  sink.report(what.rows);
  for_each(context, "search.copy", what.rows, copy_recorded_row<T, D>{what, sink});
}

template <typename T, int D>
void fill_by_sweeps(const cpu_context& context, const sweeps_search<T, D>& what, const neighbor_sink<T, D>& sink,
                    bool only_left_out) {
  if (what.rows == 0) return;
  sink.report(what.rows);
  sweep(context, what, fill_body<T, D>{pair_bits_of(what), sink, only_left_out});
}

#define QUADRAT_SWEEPS(T, D)                                                                                       \
  template void count_by_sweeps(const cpu_context&, const sweeps_search<T, D>&, std::uint32_t*, const fault_flag&, \
                                count_limit&);                                                                     \
  template void copy_recorded(const cpu_context&, const sweeps_search<T, D>&, const neighbor_sink<T, D>&);         \
  template void fill_by_sweeps(const cpu_context&, const sweeps_search<T, D>&, const neighbor_sink<T, D>&, bool);
QUADRAT_SWEEPS(float, 2)
QUADRAT_SWEEPS(float, 3)
QUADRAT_SWEEPS(double, 2)
QUADRAT_SWEEPS(double, 3)
#undef QUADRAT_SWEEPS

}  // namespace quadrat::detail
