// SPDX-License-Identifier: BSD-3-Clause
#include "search/sweeps/sweeps.hpp"

#include <bit>

#include "quadrat/parallel/for_each.hpp"
#include "search/request.hpp"
#include "search/sweeps/walk.hpp"

namespace quadrat::detail {

namespace {

/// Cells along the first axis that a thread takes at a time: a few blocks.
constexpr std::size_t cells_a_turn = std::size_t{8} * trimmed_cells_along_first_axis;

using bit_words = std::uint64_t[lanes_a_chunk / 64];

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
  }
};

template <typename T, int D>
[[nodiscard]] vec<T, D> point_of_slot(const sweeps_search<T, D>& what, std::size_t slot) {
  return make_vec<T, D>(
      [&](int axis) { return what.coordinates[static_cast<std::size_t>(axis) * what.stride + slot]; });
}

template <typename T, int D>
[[nodiscard]] sweeps_block<T, D> make_block(const sweeps_search<T, D>& what, const search_system<T, D>& system,
                                            std::uint32_t first, std::uint32_t last) {
  sweeps_block<T, D> block{first, last, {}, {}, system.slack, {}};
  for (int axis = 0; axis < D; ++axis) {
    const T* positions = what.coordinates + static_cast<std::size_t>(axis) * what.stride;
    T lower = positions[first];
    T upper = lower;
    for (std::uint32_t slot = first + 1; slot < last; ++slot) {
      lower = std::min(lower, positions[slot]);
      upper = std::max(upper, positions[slot]);
    }
    const auto coordinate = [&](T position) {
      vec<T, D> point{};
      point[axis] = position;
      return system.coordinate(point, axis);
    };
    block.lower[axis] = coordinate(lower);
    block.upper[axis] = coordinate(upper);
  }
  return block;
}

/// The same for a system with folded axes. The block ends before `last` where a point follows that lies in another
/// repeat and may meet points across the ends of the stored cells.
template <typename T, int D>
[[nodiscard]] sweeps_block<T, D> make_folded_block(const sweeps_search<T, D>& what, const search_system<T, D>& system,
                                                   std::uint32_t first, std::uint32_t last) {
  sweeps_block<T, D> block{first, first, {}, {}, {}, {}};
  vec<bool, D> fixed{};  // whether the block's repeat is that of a point
  for (std::uint32_t slot = first; slot < last; ++slot) {
    const vec<T, D> point = point_of_slot(what, slot);
    vec<T, D> at{}, slack{};
    vec<int, D> repeat{};
    vec<bool, D> at_end{};
    for (int axis = 0; axis < D; ++axis) {
      at[axis] = system.coordinate(point, axis);
      slack[axis] = system.slack_at(at[axis], axis);
      if (system.repeats[axis] != 1) at[axis] = system.folded(at[axis], axis, repeat[axis]);
      if (system.repeats[axis] <= 1) continue;
      const T margin = what.search.reach * system.cells_per_length[axis] + slack[axis] + T(1);
      at_end[axis] = at[axis] < margin || at[axis] + margin > static_cast<T>(system.cells[axis]);
      if (at_end[axis] && fixed[axis] && repeat[axis] != block.repeat[axis]) return block;
    }
    for (int axis = 0; axis < D; ++axis) {
      if (at_end[axis]) block.repeat[axis] = repeat[axis];
      fixed[axis] = fixed[axis] || at_end[axis];
      block.lower[axis] = slot == first ? at[axis] : std::min(block.lower[axis], at[axis]);
      block.upper[axis] = slot == first ? at[axis] : std::max(block.upper[axis], at[axis]);
      block.slack[axis] = std::max(block.slack[axis], slack[axis]);
    }
    block.last = slot + 1;
  }
  return block;
}

/// Calls f(system, block) for the points of the cells [first, last), which may belong to several systems.
template <typename T, int D, typename F>
void for_each_block(const sweeps_search<T, D>& what, std::size_t first, std::size_t last, F&& f) {
  const search_system<T, D>* systems = what.search.systems;
  const std::uint32_t* offsets = what.search.cell_offsets;
  const auto follows = [](std::size_t cell, const search_system<T, D>& system) { return cell < system.first_cell; };
  const search_system<T, D>* system = std::upper_bound(systems, systems + what.search.system_count, first, follows) - 1;
  for (std::size_t cell = first; cell < last;) {
    while (system + 1 < systems + what.search.system_count && (system + 1)->first_cell <= cell) ++system;
    // A block ends with its row.
    const auto row = static_cast<std::size_t>(system->cells[0]);
    const std::size_t left = row - (cell - system->first_cell) % row;
    const std::size_t end = std::min({cell + trimmed_cells_along_first_axis, cell + left, last});
    const bool folded = !(system->repeats == vec<int, D>::filled(1));
    for (std::uint32_t slot = offsets[cell]; slot < offsets[end];) {
      const std::uint32_t stop = std::min(slot + sweeps_block_points, offsets[end]);
      const sweeps_block<T, D> block =
          folded ? make_folded_block(what, *system, slot, stop) : make_block(what, *system, slot, stop);
      f(*system, block);
      slot = block.last;
    }
    cell = end;
  }
}

/// Calls body.chunk(system, block, chunk) for all candidates within reach of each block, in the context's threads,
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
      for_each_block(what, first, last, [&](const search_system<T, D>& system, const sweeps_block<T, D>& block) {
        body.begin(block);
        chunk.begin(system, block);
        const auto flush = [&] {
          chunk.close();
          body.take(block, chunk);
        };
        sweeps_rows<T, D>(system, what.search.cell_offsets, block, what.search.reach)
            .for_each([&](std::uint32_t slot, std::uint32_t end, const vec<int, D>& shift) {
              chunk.add(slot, end, shift, flush);
            });
        flush();
        body.end(block);
      });
    }
  }
}

/// Finds the pairs of a point in a segment, as bits.
template <typename T, int D>
struct pair_bits {
  const sweeps_search<T, D>& what;
  test_lanes_function<T, D> test;

  /// Returns their number.
  unsigned operator()(const sweeps_chunk<T, D>& chunk, const typename sweeps_chunk<T, D>::segment& part,
                      std::uint32_t slot, const vec<T, D>& from, bit_words& words) const {
    unsigned count =
        test(chunk.lanes(), part.first, part.last, from, part.translation, what.search.squared_reach, words);
    const std::size_t own = chunk.lane_of(slot);
    if (own >= part.first && own < part.last) {
      std::uint64_t& word = words[(own - part.first) / 64];
      const std::uint64_t bit = std::uint64_t{1} << (own - part.first) % 64;
      if ((word & bit) != 0) --count;
      word &= ~bit;
    }
    if (what.search.half && count > 0) count = keep_half(chunk.ids() + part.first, part, what.ids[slot], words);
    return count;
  }

 private:
  /// Keeps only larger ids.
  static unsigned keep_half(const particle_id* ids, const typename sweeps_chunk<T, D>::segment& part, particle_id row,
                            bit_words& words) {
    unsigned count = 0;
    for (std::size_t begin = 0; begin < part.last - part.first; begin += 64) {
      std::uint64_t kept = 0;
      for (std::uint64_t word = words[begin / 64]; word != 0; word &= word - 1) {
        const int k = std::countr_zero(word);
        const bool larger = ids[begin + static_cast<std::size_t>(k)] > row;
        kept |= static_cast<std::uint64_t>(larger) << k;
        count += larger ? 1 : 0;
      }
      words[begin / 64] = kept;
    }
    return count;
  }
};

/// The CPU is queried once, because the query allocates.
template <typename T, int D>
[[nodiscard]] pair_bits<T, D> pair_bits_of(const sweeps_search<T, D>& what) {
  static const test_lanes_function<T, D> fastest = test_lanes_functions<T, D>().front();
  return {what, fastest};
}
[[nodiscard]] pick_ids_function fastest_pick_ids() {
  static const pick_ids_function fastest = pick_ids_functions().front();
  return fastest;
}

template <typename T, int D>
struct count_body {
  pair_bits<T, D> pairs;
  std::uint32_t* counts;
  std::uint32_t found[sweeps_block_points] = {};

  void begin(const sweeps_block<T, D>&) { std::fill(std::begin(found), std::end(found), 0u); }
  void take(const sweeps_block<T, D>& block, const sweeps_chunk<T, D>& chunk) {
    bit_words words;
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      const vec<T, D> from = point_of_slot(pairs.what, slot);
      for (std::size_t k = 0; k < chunk.segments(); ++k) {
        found[slot - block.first] += pairs(chunk, chunk[k], slot, from, words);
      }
    }
  }
  void end(const sweeps_block<T, D>& block) {
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      counts[pairs.what.ids[slot]] = found[slot - block.first];
    }
  }
};

template <typename T, int D>
struct fill_body {
  pair_bits<T, D> pairs;
  neighbor_sink<T, D> sink;
  bool only_ids;  ///< only neighbors are requested
  pick_ids_function pick;
  std::uint64_t at[sweeps_block_points] = {};
  std::uint64_t limit[sweeps_block_points] = {};

  void begin(const sweeps_block<T, D>& block) {
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      const particle_id row = pairs.what.ids[slot];
      at[slot - block.first] = sink.begin(row);
      limit[slot - block.first] = sink.limit(row);
    }
    if (!only_ids) return;
    // Prefetch while candidates are gathered: rows may lie anywhere in memory.
    for (std::uint32_t k = 0; k < block.last - block.first; ++k) {
      for (std::uint64_t entry = at[k]; entry < std::min(limit[k], at[k] + 64); entry += 16) prefetch(entry);
    }
  }

  void take(const sweeps_block<T, D>& block, const sweeps_chunk<T, D>& chunk) {
    bit_words words;
    particle_id picked[lanes_a_chunk + ids_beyond];
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      std::uint64_t& next = at[slot - block.first];
      const std::uint64_t last = limit[slot - block.first];
      if (sink.offsets != nullptr && next == last) continue;
      const vec<T, D> from = point_of_slot(pairs.what, slot);
      for (std::size_t k = 0; k < chunk.segments(); ++k) {
        const auto& part = chunk[k];
        const unsigned count = pairs(chunk, part, slot, from, words);
        if (count == 0) continue;
        if (only_ids && next + count <= last) {
          pick(chunk.ids() + part.first, part.last - part.first, words, picked);
          std::memcpy(sink.neighbors + next, picked, count * sizeof(particle_id));
          next += count;
        } else {
          write_entries(chunk, part, slot, from, words, next, last);
        }
      }
    }
  }

  void end(const sweeps_block<T, D>& block) {
    if (sink.offsets != nullptr) return;
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      sink.finish_matrix_row(pairs.what.ids[slot], at[slot - block.first], limit[slot - block.first]);
    }
  }

 private:
  void prefetch(std::uint64_t entry) const {
#if defined(__GNUC__)
    __builtin_prefetch(sink.neighbors + entry, 1);
#else
    static_cast<void>(entry);
#endif
  }

  void write_entries(const sweeps_chunk<T, D>& chunk, const typename sweeps_chunk<T, D>::segment& part,
                     std::uint32_t slot, const vec<T, D>& from, const bit_words& words, std::uint64_t& next,
                     std::uint64_t last) const {
    const neighbor_search<T, D>& search = pairs.what.search;
    search_query<T, D> query{from, {}, pairs.what.ids[slot], 0};
    if (sink.shifts != nullptr && sink.keys == nullptr) query = search.query_of_row(query.row);
    for (std::size_t begin = part.first; begin < part.last; begin += 64) {
      for (std::uint64_t word = words[(begin - part.first) / 64]; word != 0; word &= word - 1, ++next) {
        if (next >= last) continue;
        const std::size_t lane = begin + static_cast<std::size_t>(std::countr_zero(word));
        const particle_id j = chunk.ids()[lane];
        if (sink.keys != nullptr) {
          sink.keys[next] = key_of_entry(j, part.shift);
          continue;
        }
        const vec<T, D> r = search.separation(from, chunk.position(lane), part.translation);
        sink.store(next, query.row, j, sink.shifts != nullptr ? search.reported(query, j, part.shift) : part.shift, r,
                   squared_norm(r));
      }
    }
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
void count_by_sweeps(const cpu_context& context, const sweeps_search<T, D>& what, std::uint32_t* counts) {
  sweep(context, what, count_body<T, D>{pair_bits_of(what), counts});
}

template <typename T, int D>
void fill_by_sweeps(const cpu_context& context, const sweeps_search<T, D>& what, const neighbor_sink<T, D>& sink) {
  const std::size_t rows = what.stride - sweeps_padding;
  if (rows == 0) return;
  sink.report(rows);
  const bool only_ids = sink.keys == nullptr && sink.first == nullptr && sink.squared_distances == nullptr &&
                        sink.vectors == nullptr && sink.shifts == nullptr;
  sweep(context, what, fill_body<T, D>{pair_bits_of(what), sink, only_ids, fastest_pick_ids()});
}

#define QUADRAT_SWEEPS(T, D)                                                                     \
  template void gather_for_sweeps(const cpu_context&, const sweeps_search<T, D>&);               \
  template void count_by_sweeps(const cpu_context&, const sweeps_search<T, D>&, std::uint32_t*); \
  template void fill_by_sweeps(const cpu_context&, const sweeps_search<T, D>&, const neighbor_sink<T, D>&);
QUADRAT_SWEEPS(float, 2)
QUADRAT_SWEEPS(float, 3)
QUADRAT_SWEEPS(double, 2)
QUADRAT_SWEEPS(double, 3)
#undef QUADRAT_SWEEPS

}  // namespace quadrat::detail
