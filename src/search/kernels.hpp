// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "parallel/host_mirror.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "search/search.hpp"

/// The kernel bodies of neighbor_list.
namespace quadrat::detail {

/// Faults of queries are numbered from here, after those of points.
inline constexpr std::uint64_t query_fault_base = std::uint64_t{1} << 40;
/// Overflows of the list and of rows with too many entries to count.
inline constexpr std::uint64_t list_fault_base = std::uint64_t{1} << 41;
inline constexpr std::uint64_t row_fault_base = std::uint64_t{1} << 42;
/// Faults of rows of excluded pairs.
inline constexpr std::uint64_t exclusion_fault_base = std::uint64_t{1} << 43;
/// Points of an asynchronous build that have no room on the levels of the last build.
inline constexpr std::uint64_t level_fault_base = std::uint64_t{1} << 44;

/// The bit of the engine's word that enqueue_at_once sets on the device if it does not serve these points.
inline constexpr std::uint64_t gave_up_note = std::uint64_t{1} << 63;

template <typename T, int D>
QUADRAT_HD void check_exclusions(const neighbor_search<T, D>& search, particle_id id, const fault_flag& faults) {
  const std::uint64_t first = search.excluded_offsets[id], last = search.excluded_offsets[id + 1];
  if (first > last || (first < last && search.excluded == nullptr)) {
    faults.raise(fault_kind::order, exclusion_fault_base + id);
  }
  search.for_each_excluded(id, [&](particle_id other) {
    if (other >= search.points.count) faults.raise(fault_kind::key_range, exclusion_fault_base + id);
  });
}

/// Whether type or radius number i is valid for the rule.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD bool is_sound(const neighbor_search<T, D>& search, const T* radii, const std::uint32_t* types,
                                       std::size_t i, T most_radius) {
  if (search.rule == cutoff_rule::uniform) return true;
  if (search.rule == cutoff_rule::table_of_types) return types[i] < search.type_count;
  return radii == nullptr || (radii[i] >= T(0) && radii[i] <= most_radius);
}

/// Checks the type or radius and the excluded pairs of a point.
template <typename T, int D>
QUADRAT_HD void check_properties(const neighbor_search<T, D>& search, particle_id id, T most_radius,
                                 const fault_flag& faults) {
  if (search.excluded_offsets != nullptr) check_exclusions(search, id, faults);
  if (!is_sound(search, search.radii, search.types, id, most_radius)) faults.raise(fault_kind::value_range, id);
}

/// Index: slot. Writes wrapped points in the order of cells, and checks their types, radii and exclusions.
template <typename T, int D>
struct gather_search_points {
  neighbor_search<T, D> search;
  const particle_id* elements;
  T most_radius;
  fault_flag faults;
  search_point<T, D>* records;
  vec<int, D>* boxes_by_slot;  ///< nullptr: not kept
  point_blocks<T, D> blocks;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = elements[slot];
    vec<int, D> boxes{};
    const vec<T, D> position = search.wrapped_point(id, search.system_at(search.system_of_point, id), boxes);
    records[slot] = {position, id};
    blocks.store(slot, records[slot]);
    if (boxes_by_slot != nullptr) boxes_by_slot[slot] = boxes;
    check_properties(search, id, most_radius, faults);
  }
};

/// Index: query.
template <typename T, int D>
struct check_queries {
  search_key<T, D> key;
  T most_radius;

  QUADRAT_HD void operator()(std::size_t i) const {
    const neighbor_search<T, D>& search = key.search;
    static_cast<void>(key.check(i, search.queries[i], search.system_of_query, query_fault_base + i));
    if (!is_sound(search, search.radii_of_rows, search.types_of_rows, i, most_radius)) {
      key.faults.raise(fault_kind::value_range, query_fault_base + i);
    }
  }
};

/// The destination of entries.
template <typename T, int D>
struct neighbor_sink {
  const std::uint64_t* offsets;  ///< nullptr: a matrix
  std::uint32_t* counts;
  std::uint64_t width;
  std::uint64_t capacity;  ///< entries that the arrays hold
  std::uint64_t* keys;     ///< written instead of the arrays if rows are sorted
  particle_id* neighbors;
  particle_id* first;
  T* squared_distances;
  vec<T, D>* vectors;
  vec<int, D>* shifts;
  fault_flag faults;
  std::uint64_t* size;  ///< receives the number of entries, whether they fit or not
  bool refuse;          ///< whether too many entries are a fault
  early_words early{};  ///< the size among them

  /// Whether only neighbors are written.
  [[nodiscard]] bool plain() const { return keys == nullptr && first == nullptr && !separations(); }
  /// Whether vectors, distances or shifts are written.
  [[nodiscard]] QUADRAT_HD bool separations() const {
    return squared_distances != nullptr || vectors != nullptr || shifts != nullptr;
  }
  /// One thread calls this when counting is done. The words sent early do not change afterwards.
  QUADRAT_HD void report(std::size_t rows) const {
    if (offsets == nullptr) return;
    *size = offsets[rows];
    if (refuse && offsets[rows] > capacity) faults.raise_overflow(list_fault_base, offsets[rows]);
    early.send();
  }

  [[nodiscard]] QUADRAT_HD std::uint64_t begin(std::size_t row) const {
    return offsets != nullptr ? offsets[row] : row * width;
  }
  /// One past the last entry of a row that fits.
  [[nodiscard]] QUADRAT_HD std::uint64_t limit(std::size_t row) const {
    if (offsets == nullptr) return (row + 1) * width;
    return offsets[row + 1] <= capacity ? offsets[row + 1] : offsets[row];
  }
  QUADRAT_HD void store(std::uint64_t at, std::size_t row, particle_id j, const vec<int, D>& shift, const vec<T, D>& r,
                        T squared_distance) const {
    store_numbers(at, row, j, squared_distance);
    if (vectors != nullptr) vectors[at] = r;
    if (shifts != nullptr) shifts[at] = shift;
  }
  /// Stores everything except the vectors.
  QUADRAT_HD void store_numbers(std::uint64_t at, std::size_t row, particle_id j, T squared_distance) const {
    neighbors[at] = j;
    if (first != nullptr) first[at] = static_cast<particle_id>(row);
    if (squared_distances != nullptr) squared_distances[at] = squared_distance;
  }
  /// Sets the count of a row whose last entry is before `at`, reports an overflow, and pads the rest.
  QUADRAT_HD void finish_matrix_row(std::size_t row, std::uint64_t at, std::uint64_t end) const {
    counts[row] = static_cast<std::uint32_t>(at - begin(row));
    if (at > end) faults.raise_overflow(list_fault_base + row, at - begin(row));
    if (keys != nullptr) return;
    for (; at < end; ++at) neighbors[at] = no_particle;
  }
};

/// Bits of a component of S in a sorting key.
inline constexpr int bits_of_shift = 10;

/// Sorting keys: j, then S. They represent entries until the row is sorted.
template <int D>
[[nodiscard]] QUADRAT_HD std::uint64_t key_of_entry(particle_id j, const vec<int, D>& shift) {
  std::uint64_t key = j;
  for (int axis = 0; axis < D; ++axis) key = key << bits_of_shift | static_cast<std::uint64_t>(shift[axis] + 512);
  return key;
}
template <int D>
[[nodiscard]] QUADRAT_HD particle_id entry_of_key(std::uint64_t key, vec<int, D>& shift) {
  for (int axis = D - 1; axis >= 0; --axis) {
    shift[axis] = static_cast<int>(key & 1023) - 512;
    key >>= bits_of_shift;
  }
  return static_cast<particle_id>(key);
}

/// Index: row * lanes + lane. Turns sorted keys into entries; the threads of a row take consecutive entries, so that
/// their writes coalesce.
template <typename T, int D>
struct expand_row {
  neighbor_search<T, D> search;
  neighbor_sink<T, D> sink;
  unsigned lanes;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t row = i / lanes;
    const std::size_t lane = i % lanes;
    const std::uint64_t begin = sink.begin(row);
    std::uint64_t end = sink.limit(row);
    if (sink.offsets == nullptr && begin + sink.counts[row] < end) end = begin + sink.counts[row];
    if (sink.separations()) {
      expand_separations(row, begin + lane, end);
    } else {
      for (std::uint64_t at = begin + lane; at < end; at += lanes) {
        vec<int, D> shift{};
        sink.store(at, row, entry_of_key<D>(sink.keys[at], shift), shift, {}, T(0));
      }
    }
    if (sink.offsets == nullptr) {
      for (std::uint64_t at = end + lane; at < sink.limit(row); at += lanes) sink.neighbors[at] = no_particle;
    }
  }

 private:
  /// Entries from `at` on, with what depends on positions.
  QUADRAT_HD void expand_separations(std::size_t row, std::uint64_t at, std::uint64_t end) const {
    const search_query<T, D> query = search.query_of_row(row);
    const lattice<T, D>& shape = search.systems[query.system].shape;
    for (; at < end; at += lanes) {
      vec<int, D> shift{};
      const particle_id j = entry_of_key<D>(sink.keys[at], shift);
      vec<int, D> boxes{};
      const vec<T, D> there = search.wrapped_point(j, query.system, boxes);
      const vec<T, D> r = search.separation(query.position, there, shape.translation(shift));
      for (int axis = 0; axis < D; ++axis) shift[axis] += query.boxes[axis] - boxes[axis];
      sink.store(at, row, j, shift, r, squared_norm(r));
    }
  }
};

/// Index: 0.
template <typename T, int D>
struct report_size {
  neighbor_sink<T, D> sink;
  std::size_t rows;

  QUADRAT_HD void operator()(std::size_t) const { sink.report(rows); }
};

/// Entries of a row, for a sum without offsets.
struct count_of_row {
  const std::uint32_t* counts;

  QUADRAT_HD std::uint64_t operator()(std::size_t row) const { return counts[row]; }
};

}  // namespace quadrat::detail
