// SPDX-License-Identifier: BSD-3-Clause
#include "search/sweeps/sweeps.hpp"

#include <algorithm>
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

/// Index: slot.
template <typename T, int D>
struct gather_slot {
  sweeps_search<T, D> what;

  void operator()(std::size_t slot) const {
    const particle_id id = what.elements[slot];
    vec<int, D> boxes{};
    const vec<T, D> position =
        what.search.wrapped_point(id, what.search.system_at(what.search.system_of_point, id), boxes);
    for (int axis = 0; axis < D; ++axis) {
      what.coordinates[static_cast<std::size_t>(axis) * what.stride + slot] = position[axis];
    }
    what.ids[slot] = id;
    if (what.boxes != nullptr) what.boxes[slot] = boxes;
  }
};

/// The bounds of points that are not in folded cells. Without a turn, coordinates grow with positions.
template <typename T, int D>
[[nodiscard]] sweeps_bounds<T, D> bounds_of_slots(const sweeps_search<T, D>& what, const sweeps_grid<T, D>& grid,
                                                  std::uint32_t first, std::uint32_t last) {
  vec<T, D> lower = point_of_slot(what, first);
  if (grid.turned) lower = grid.place(lower);
  vec<T, D> upper = lower;
  for (std::uint32_t slot = first + 1; slot < last; ++slot) {
    vec<T, D> at = point_of_slot(what, slot);
    if (grid.turned) at = grid.place(at);
    for (int axis = 0; axis < D; ++axis) {
      lower[axis] = std::min(lower[axis], at[axis]);
      upper[axis] = std::max(upper[axis], at[axis]);
    }
  }
  if (!grid.turned) lower = grid.place(lower), upper = grid.place(upper);
  sweeps_bounds<T, D> bounds{{}, {}, grid.cells.slack};
  for (int axis = 0; axis < D; ++axis) {
    bounds.lower[axis] = grid.cells.coordinate(lower, axis);
    bounds.upper[axis] = grid.cells.coordinate(upper, axis);
  }
  return bounds;
}

template <typename T, int D>
[[nodiscard]] sweeps_block<T, D> make_block(const sweeps_search<T, D>& what, std::size_t system, std::uint32_t first,
                                            std::uint32_t last) {
  const sweeps_grid<T, D>& grid = what.grids[system];
  const search_system<T, D>& box = what.search.systems[system];
  sweeps_block<T, D> block{first, last, {}, {}, &box.shape};
  if (!grid.folded) {
    block.bounds = bounds_of_slots(what, grid, first, last);
    block.images = grid.images_near(block.bounds);
    return block;
  }
  block.bounds = grid.bounds_of(point_of_slot(what, first));
  for (std::uint32_t slot = first; slot < last; ++slot) {
    const vec<T, D> point = point_of_slot(what, slot);
    block.bounds.include(grid.bounds_of(point));
    block.images.include(images_of_point(box, point, what.search.reach));
  }
  return block;
}

/// Calls f(grid, block) for the points of the cells [first, last), which may belong to several systems.
template <typename T, int D, typename F>
void for_each_block(const sweeps_search<T, D>& what, std::size_t first, std::size_t last, F&& f) {
  const sweeps_grid<T, D>* grids = what.grids;
  const sweeps_grid<T, D>* end_of_grids = grids + what.search.system_count;
  const std::uint32_t* offsets = what.search.cell_offsets;
  const auto follows = [](std::size_t cell, const sweeps_grid<T, D>& grid) { return cell < grid.cells.first_cell; };
  const sweeps_grid<T, D>* grid = std::upper_bound(grids, end_of_grids, first, follows) - 1;
  for (std::size_t cell = first; cell < last;) {
    while (grid + 1 < end_of_grids && (grid + 1)->cells.first_cell <= cell) ++grid;
    // A block ends with its row.
    const auto row = static_cast<std::size_t>(grid->cells.cells[0]);
    const std::size_t left = row - (cell - grid->cells.first_cell) % row;
    const std::size_t end = std::min({cell + trimmed_cells_along_first_axis, cell + left, last});
    for (std::uint32_t slot = offsets[cell]; slot < offsets[end];) {
      const std::uint32_t stop = std::min(slot + sweeps_block_points, offsets[end]);
      f(*grid, make_block(what, static_cast<std::size_t>(grid - grids), slot, stop));
      slot = stop;
    }
    cell = end;
  }
}

/// Calls body.take(block, chunk) for all candidates within reach of each block, in the context's threads,
/// between body.begin(block) and body.end(block).
template <typename T, int D, typename Body>
void sweep(const cpu_context& context, const sweeps_search<T, D>& what, const Body& of_thread) {
  const auto turns = static_cast<std::int64_t>((what.cells + cells_a_turn - 1) / cells_a_turn);
#pragma omp parallel num_threads(context.threads()) if (turns > 1)
  {
    Body body = of_thread;
    sweeps_chunk<T, D> chunk(what);
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      const std::size_t first = static_cast<std::size_t>(turn) * cells_a_turn;
      const std::size_t last = std::min(first + cells_a_turn, what.cells);
      for_each_block(what, first, last, [&](const sweeps_grid<T, D>& grid, const sweeps_block<T, D>& block) {
        body.begin(block);
        chunk.begin(block);
        const auto flush = [&] {
          chunk.close();
          body.take(block, chunk);
        };
        for_each_range(grid, what.search.cell_offsets, block, what.search.reach,
                       [&](std::uint32_t slot, std::uint32_t end, const vec<int, D>& shift) {
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
  static const keep_ids_function keep = keep_ids_functions().front();
  return {what, test, keep};
}
[[nodiscard]] pick_ids_function fastest_pick_ids() {
  static const pick_ids_function fastest = pick_ids_functions().front();
  return fastest;
}

template <typename T, int D>
struct count_body {
  static constexpr std::size_t most_recorded = 1024;  // entries of a row; no list with longer rows is recorded

  pair_bits<T, D> pairs;
  pick_ids_function pick;
  std::uint32_t* counts;
  fault_flag faults;
  std::uint64_t found[sweeps_block_points] = {};
  particle_id rows[sweeps_block_points][most_recorded + lanes_a_chunk + ids_beyond];

  void begin(const sweeps_block<T, D>&) { std::fill(std::begin(found), std::end(found), std::uint64_t{0}); }
  void finish() const {}
  void take(const sweeps_block<T, D>& block, const sweeps_chunk<T, D>& chunk) {
    const bool recorded = pairs.what.recorded.entries != nullptr;
    bit_words words;
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      const vec<T, D> from = point_of_slot(pairs.what, slot);
      std::uint64_t& count = found[slot - block.first];
      for (std::size_t k = 0; k < chunk.segments(); ++k) {
        const auto& part = chunk[k];
        const unsigned more = pairs(chunk, part, slot, from, words);
        if (recorded && more > 0 && count <= most_recorded) {
          pick(chunk.ids() + part.first, part.last - part.first, words, rows[slot - block.first] + count);
        }
        count += more;
      }
    }
  }
  void end(const sweeps_block<T, D>& block) {
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      const particle_id row = pairs.what.ids[slot];
      const std::uint64_t count = found[slot - block.first];
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
    std::uint64_t at = atomic_add(to.used, fits ? total : to.capacity + 1);
    if (!fits || at > to.capacity || total > to.capacity - at) return;
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
    constexpr std::size_t ahead = 12;  // rows may lie anywhere in memory
    if (slot + ahead < what.stride - sweeps_padding) prefetch(what.ids[slot + ahead]);
    const particle_id row = what.ids[slot];
    const std::uint64_t first = sink.begin(row), count = sink.limit(row) - first;
    std::memcpy(sink.neighbors + first, what.recorded.entries + what.recorded.first_of_slot[slot],
                count * sizeof(particle_id));
    if (sink.first != nullptr) std::fill(sink.first + first, sink.first + first + count, row);
  }

 private:
  void prefetch(particle_id row) const {
#if defined(__GNUC__)
    for (std::uint64_t entry = sink.begin(row); entry < sink.limit(row); entry += 16) {
      __builtin_prefetch(sink.neighbors + entry, 1);
    }
#else
    static_cast<void>(row);
#endif
  }
};

}  // namespace

template <typename T, int D>
void gather_for_sweeps(const cpu_context& context, const sweeps_search<T, D>& what) {
  const std::size_t count = what.stride - sweeps_padding;
  for_each(context, "search.gather", count, gather_slot<T, D>{what});
  for (std::size_t slot = count; slot < what.stride; ++slot) {
    for (int axis = 0; axis < D; ++axis) what.coordinates[static_cast<std::size_t>(axis) * what.stride + slot] = T(0);
    what.ids[slot] = 0;
  }
}

template <typename T, int D>
void count_by_sweeps(const cpu_context& context, const sweeps_search<T, D>& what, std::uint32_t* counts,
                     const fault_flag& faults) {
  sweep(context, what, count_body<T, D>{pair_bits_of(what), fastest_pick_ids(), counts, faults, {}, {}});
}

template <typename T, int D>
void copy_recorded(const cpu_context& context, const sweeps_search<T, D>& what, const neighbor_sink<T, D>& sink) {
  const std::size_t rows = what.stride - sweeps_padding;
  if (rows == 0) return;
  sink.report(rows);
  for_each(context, "search.copy", rows, copy_recorded_row<T, D>{what, sink});
}

template <typename T, int D>
void fill_by_sweeps(const cpu_context& context, const sweeps_search<T, D>& what, const neighbor_sink<T, D>& sink) {
  const std::size_t rows = what.stride - sweeps_padding;
  if (rows == 0) return;
  sink.report(rows);
  sweep(context, what, fill_body<T, D>{pair_bits_of(what), fastest_pick_ids(), sink});
}

#define QUADRAT_SWEEPS(T, D)                                                                                        \
  template void gather_for_sweeps(const cpu_context&, const sweeps_search<T, D>&);                                  \
  template void count_by_sweeps(const cpu_context&, const sweeps_search<T, D>&, std::uint32_t*, const fault_flag&); \
  template void copy_recorded(const cpu_context&, const sweeps_search<T, D>&, const neighbor_sink<T, D>&);          \
  template void fill_by_sweeps(const cpu_context&, const sweeps_search<T, D>&, const neighbor_sink<T, D>&);
QUADRAT_SWEEPS(float, 2)
QUADRAT_SWEEPS(float, 3)
QUADRAT_SWEEPS(double, 2)
QUADRAT_SWEEPS(double, 3)
#undef QUADRAT_SWEEPS

}  // namespace quadrat::detail
