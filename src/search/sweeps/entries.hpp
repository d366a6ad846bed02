// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "search/kernels.hpp"
#include "search/sweeps/walk.hpp"

/// Finds the pairs of each point of a block among its candidates, and writes their entries, for the method `sweeps`.
namespace quadrat::detail {

using bit_words = std::uint64_t[lanes_a_chunk / 64];

template <typename T, int D>
[[nodiscard]] vec<T, D> point_of_slot(const sweeps_search<T, D>& what, std::size_t slot) {
  return what.slots.position(slot);
}

/// Finds the pairs of a point in a segment, as bits.
template <typename T, int D>
struct pair_bits {
  const sweeps_search<T, D>& what;
  test_lanes_function<T, D> test;
  test_radii_function<T, D> test_radii;  ///< by the rule of the search
  keep_ids_function keep;
  pick_ids_function pick;
  sift_ids_function sift;

  /// Returns their number.
  unsigned operator()(const sweeps_chunk<T, D>& chunk, const typename sweeps_chunk<T, D>::segment& part,
                      std::uint32_t slot, const vec<T, D>& from, bit_words& words) const {
    const unsigned count = near(chunk, part, slot, from, words);
    if (!what.search.half || count == 0) return count;
    return keep(chunk.ids() + part.first, part.last - part.first, least_id(part, slot), words);
  }
  /// Writes their ids and returns their number; it may overwrite ids_beyond more places. For a half list this is faster
  /// than clearing bits first.
  unsigned ids(const sweeps_chunk<T, D>& chunk, const typename sweeps_chunk<T, D>::segment& part, std::uint32_t slot,
               const vec<T, D>& from, particle_id* to) const {
    bit_words words;
    const unsigned count = near(chunk, part, slot, from, words);
    if (count == 0) return 0;
    pick(chunk.ids() + part.first, part.last - part.first, words, to);
    return what.search.half ? sift(to, count, least_id(part, slot)) : count;
  }

 private:
  /// Finds the candidates within the cutoff, except the row's own point.
  [[nodiscard]] unsigned near(const sweeps_chunk<T, D>& chunk, const typename sweeps_chunk<T, D>::segment& part,
                              std::uint32_t slot, const vec<T, D>& from, bit_words& words) const {
    unsigned count = within_cutoff(chunk, part, slot, from, words);
    const std::size_t own = chunk.lane_of(slot);
    if (own >= part.first && own < part.last) {
      std::uint64_t& word = words[(own - part.first) / 64];
      const std::uint64_t bit = std::uint64_t{1} << (own - part.first) % 64;
      if ((word & bit) != 0) --count;
      word &= ~bit;
    }
    return count;
  }
  /// For a half list's row: the least id to list, which also selects the listed images of the row's own point.
  [[nodiscard]] particle_id least_id(const typename sweeps_chunk<T, D>::segment& part, std::uint32_t slot) const {
    const particle_id row = what.slots.ids[slot];
    return row + (what.search.image_counts(row, part.shift) ? 0 : 1);
  }
  [[nodiscard]] unsigned within_cutoff(const sweeps_chunk<T, D>& chunk,
                                       const typename sweeps_chunk<T, D>::segment& part, std::uint32_t slot,
                                       const vec<T, D>& from, bit_words& words) const {
    const neighbor_search<T, D>& search = what.search;
    if (what.slots.radii == nullptr) {
      return test(chunk.lanes(), part.first, part.last, from, part.translation, search.squared_reach, words);
    }
    const T radius = what.slots.radii[slot];
    if (search.rule == cutoff_rule::own_radius) {
      const T cutoff = cutoff_of_radii(search.rule, radius, T(0), search.skin);
      return test(chunk.lanes(), part.first, part.last, from, part.translation, cutoff * cutoff, words);
    }
    return test_radii(chunk.lanes(), part.first, part.last, from, part.translation, {radius, search.skin}, words);
  }
};

/// Entries of a row, before they are copied to the list.
template <typename T, int D>
struct staged_entries {
  std::size_t count = 0;
  particle_id neighbors[lanes_a_chunk + ids_beyond];
  T squared_distances[lanes_a_chunk];
  vec<T, D> vectors[lanes_a_chunk];
  vec<int, D> shifts[lanes_a_chunk];
};

template <typename T, int D>
struct fill_body {
  using chunk_type = sweeps_chunk<T, D>;
  using segment = typename chunk_type::segment;

  pair_bits<T, D> pairs;
  neighbor_sink<T, D> sink;
  bool only_left_out;
  std::uint64_t at[sweeps_block_points] = {};
  std::uint64_t limit[sweeps_block_points] = {};
  particle_id lane_numbers[lanes_a_chunk + ids_beyond] = {};
  staged_entries<T, D> staged;

  fill_body(const pair_bits<T, D>& bits, const neighbor_sink<T, D>& to, bool left_out)
      : pairs(bits), sink(to), only_left_out(left_out) {
    std::iota(std::begin(lane_numbers), std::end(lane_numbers), particle_id{0});
  }

  /// The rows of a block are recorded together.
  [[nodiscard]] bool skips(const sweeps_block<T, D>& block) const {
    return only_left_out && pairs.what.recorded.first_of_slot[block.first] != row_left_out;
  }
  void begin(const sweeps_block<T, D>& block) {
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      const particle_id row = pairs.what.slots.ids[slot];
      at[slot - block.first] = sink.begin(row);
      limit[slot - block.first] = sink.limit(row);
    }
    if (sink.keys != nullptr) return;
    // Rows may lie anywhere in memory, so prefetch them while candidates are gathered. Copies of whole cache lines read
    // only the first and the last line.
    for (std::uint32_t k = 0; k < block.last - block.first; ++k) {
      if (at[k] >= limit[k]) continue;
      for (std::uint64_t entry = at[k]; entry < std::min(limit[k], at[k] + 64); entry += 16) {
        prefetch(sink.neighbors + entry);
      }
      prefetch_ends(sink.vectors, at[k], limit[k]);
      prefetch_ends(sink.shifts, at[k], limit[k]);
    }
  }

  void take(const sweeps_block<T, D>& block, const chunk_type& chunk) {
    bit_words words;
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      std::uint64_t& next = at[slot - block.first];
      const std::uint64_t last = limit[slot - block.first];
      if (sink.offsets != nullptr && next == last) continue;
      const vec<T, D> from = point_of_slot(pairs.what, slot);
      staged.count = 0;
      for (std::size_t k = 0; k < chunk.segments(); ++k) {
        if (pairs(chunk, chunk[k], slot, from, words) > 0) stage(chunk, chunk[k], slot, from, words);
      }
      const std::uint64_t room = next < last ? last - next : 0;
      write(pairs.what.slots.ids[slot], next, std::min<std::uint64_t>(staged.count, room));
      next += staged.count;
    }
  }

  void end(const sweeps_block<T, D>& block) {
    if (sink.offsets != nullptr) return;
    for (std::uint32_t slot = block.first; slot < block.last; ++slot) {
      sink.finish_matrix_row(pairs.what.slots.ids[slot], at[slot - block.first], limit[slot - block.first]);
    }
  }
  void finish() const { finish_streaming(); }

 private:
  static void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address, 1);
#else
    static_cast<void>(address);
#endif
  }
  template <typename V>
  static void prefetch_ends(const V* values, std::uint64_t first, std::uint64_t last) {
    if (values == nullptr) return;
    prefetch(values + first);
    prefetch(reinterpret_cast<const unsigned char*>(values + last) - 1);
  }

  /// Appends the pairs of a segment.
  void stage(const chunk_type& chunk, const segment& part, std::uint32_t slot, const vec<T, D>& from,
             const bit_words& words) {
    const std::size_t first = staged.count;
    const std::size_t lanes = part.last - part.first;
    particle_id picked[lanes_a_chunk + ids_beyond];
    pairs.pick(lane_numbers + part.first, lanes, words, picked);
    for (std::size_t word = 0; word < (lanes + 63) / 64; ++word) {
      staged.count += static_cast<std::size_t>(std::popcount(words[word]));
    }
    const std::size_t count = staged.count - first;
    for (std::size_t k = 0; k < count; ++k) staged.neighbors[first + k] = chunk.ids()[picked[k]];
    if (sink.keys != nullptr || sink.shifts != nullptr) stage_shifts(chunk, part, slot, picked, first);
    if (sink.keys != nullptr) return;
    if (sink.vectors != nullptr) {
      for (std::size_t k = 0; k < count; ++k) {
        staged.vectors[first + k] =
            neighbor_search<T, D>::separation(from, chunk.position(picked[k]), part.translation);
      }
    }
    if (sink.squared_distances != nullptr) {
      for (std::size_t k = 0; k < count; ++k) {
        staged.squared_distances[first + k] =
            squared_norm(neighbor_search<T, D>::separation(from, chunk.position(picked[k]), part.translation));
      }
    }
  }

  /// Stages S between the caller's positions, or between wrapped ones for keys.
  void stage_shifts(const chunk_type& chunk, const segment& part, std::uint32_t slot, const particle_id* picked,
                    std::size_t first) {
    if (pairs.what.slots.boxes == nullptr) {
      std::fill(staged.shifts + first, staged.shifts + staged.count, part.shift);
      return;
    }
    const vec<int, D> shift = part.shift + pairs.what.slots.boxes[slot];
    for (std::size_t k = first; k < staged.count; ++k) staged.shifts[k] = shift - chunk.boxes()[picked[k - first]];
  }

  /// Copies the first `count` entries to the list.
  void write(particle_id row, std::uint64_t to, std::uint64_t count) const {
    if (count == 0) return;
    if (sink.keys != nullptr) {
      for (std::uint64_t k = 0; k < count; ++k) {
        sink.keys[to + k] = key_of_entry(staged.neighbors[k], staged.shifts[k]);
      }
      return;
    }
    std::memcpy(sink.neighbors + to, staged.neighbors, count * sizeof(particle_id));
    if (sink.first != nullptr) std::fill(sink.first + to, sink.first + to + count, row);
    if (sink.squared_distances != nullptr) {
      std::memcpy(sink.squared_distances + to, staged.squared_distances, count * sizeof(T));
    }
    if (sink.vectors != nullptr) copy_streaming(sink.vectors + to, staged.vectors, count * sizeof(vec<T, D>));
    if (sink.shifts != nullptr) copy_streaming(sink.shifts + to, staged.shifts, count * sizeof(vec<int, D>));
  }
};

}  // namespace quadrat::detail
