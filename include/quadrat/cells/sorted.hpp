// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "quadrat/cells/detail/ordered_pairs.hpp"
#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat {

/// Bucket b is the range [begins[b], ends[b]) of `elements`; both are 0 if it is empty.
struct sorted_buckets_view {
  const std::uint32_t* begins;  ///< bucket_count; also below
  const std::uint32_t* ends;
  const particle_id* elements;  ///< count
  std::size_t bucket_count;
  std::size_t count;

  [[nodiscard]] QUADRAT_HD std::uint32_t begin(cell_id bucket) const { return begins[bucket]; }
  [[nodiscard]] QUADRAT_HD std::uint32_t end(cell_id bucket) const { return ends[bucket]; }
  /// Empty buckets have no position, so every bucket of the run is read.
  [[nodiscard]] QUADRAT_HD slot_range run(cell_id first, cell_id last) const {
    slot_range result{0, 0};
    for (cell_id bucket = first; bucket <= last; ++bucket) {
      const std::uint32_t stop = ends[bucket];
      if (stop == 0) continue;
      if (result.last == 0) result.first = begins[bucket];
      result.last = stop;
    }
    return result;
  }
  [[nodiscard]] QUADRAT_HD particle_id particle(std::uint32_t slot) const { return elements[slot]; }

  template <typename F>
  QUADRAT_HD void for_each_in(cell_id bucket, F&& f) const {
    const std::uint32_t last = ends[bucket];
    for (std::uint32_t slot = begins[bucket]; slot < last; ++slot) f(elements[slot]);
  }
};

/// Buckets as ranges, by a stable radix sort of (key, element) pairs over the bits that the keys need; buckets begin
/// and end where adjacent keys differ (uniform-grid-atomics, section 1, "Building uniform grids using sorting"). Time
/// is linear in the elements; 8 bytes per bucket are cleared. Memory: 8 bytes per bucket and 16 per element.
///
/// Determinism: always canonical at no extra cost: the elements of a bucket come in increasing order.
template <typename Context>
class sorted_buckets {
 public:
  using view_type = sorted_buckets_view;
  static constexpr bool carries_data = true;

  /// `reserve` and `build` are for keyed_buckets, hash_table and cell lists, which give buckets their keys. This makes
  /// room for builds of at most as many elements and buckets. Does not wait. May allocate.
  void reserve(const Context& context, std::size_t count, std::size_t bucket_count);
  /// Puts elements [0, count) into buckets [0, bucket_count). Does not wait; allocates only to grow. The caller has
  /// checked the sizes. With `carried`, moves the records of element i to its slot.
  template <typename KeyOf>
  void build(const Context& context, std::size_t count, std::size_t bucket_count, const KeyOf& key_of,
             const fault_flag& faults, const detail::carried_arrays& carried = {});

  [[nodiscard]] view_type view() const {
    const std::size_t buckets = bounds_.size() / 2;
    return {bounds_.data(), bounds_.data() + buckets, pairs_.elements(), buckets, pairs_.size()};
  }
  [[nodiscard]] std::size_t bytes() const { return bounds_.bytes() + pairs_.bytes(); }

 private:
  array<std::uint32_t, Context> bounds_;  // begins, then ends: one array, so that one memset clears both
  detail::ordered_pairs<Context> pairs_;
};

namespace cell_methods {

struct sorted : grid_cells_method<sorted> {
  static constexpr std::string_view name = "sorted";
  static constexpr std::string_view summary = "radix sort of (cell, particle); cells are ranges, x fastest";
  template <typename Context>
  using buckets = sorted_buckets<Context>;
};

struct sorted_morton : grid_cells_method<sorted_morton> {
  static constexpr std::string_view name = "sorted_morton";
  static constexpr std::string_view summary = "radix sort, cells numbered along the Morton (Z) curve";
  template <int D>
  using numbering = morton_numbering<D>;
  template <typename Context>
  using buckets = sorted_buckets<Context>;
};

struct sorted_hilbert : grid_cells_method<sorted_hilbert> {
  static constexpr std::string_view name = "sorted_hilbert";
  static constexpr std::string_view summary = "radix sort, cells numbered along Hilbert's curve";
  template <int D>
  using numbering = hilbert_numbering<D>;
  template <typename Context>
  using buckets = sorted_buckets<Context>;
};

struct sorted_peano : grid_cells_method<sorted_peano> {
  static constexpr std::string_view name = "sorted_peano";
  static constexpr std::string_view summary = "radix sort, cells numbered along Peano's curve";
  template <int D>
  using numbering = peano_numbering<D>;
  template <typename Context>
  using buckets = sorted_buckets<Context>;
};

}  // namespace cell_methods

}  // namespace quadrat
