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
#include "quadrat/parallel/workspace.hpp"

namespace quadrat {

/// Bucket b is the range [offsets[b], offsets[b + 1]) of `elements`.
struct counting_buckets_view {
  const std::uint32_t* offsets;  ///< bucket_count + 1
  const particle_id* elements;   ///< count
  std::size_t bucket_count;
  std::size_t count;

  [[nodiscard]] QUADRAT_HD std::uint32_t begin(cell_id bucket) const { return offsets[bucket]; }
  [[nodiscard]] QUADRAT_HD std::uint32_t end(cell_id bucket) const { return offsets[bucket + 1]; }
  [[nodiscard]] QUADRAT_HD slot_range run(cell_id first, cell_id last) const {
    return {offsets[first], offsets[last + 1]};
  }
  [[nodiscard]] QUADRAT_HD particle_id particle(std::uint32_t slot) const { return elements[slot]; }

  template <typename F>
  QUADRAT_HD void for_each_in(cell_id bucket, F&& f) const {
    const std::uint32_t last = end(bucket);
    for (std::uint32_t slot = begin(bucket); slot < last; ++slot) f(elements[slot]);
  }
};

/// Buckets as ranges: count, exclusive scan, scatter (uniform-grid-atomics, section 1: the atomicAdd method, extended
/// to buckets without a limit). The atomic additions of the counting pass return each element's rank in its bucket, so
/// that the scatter needs no atomics. Time is linear in elements and buckets. Memory: 4 bytes per bucket and 12 per
/// element. On CUDA, many elements in at most 2^24 buckets are counted in two levels, through shared memory, up to
/// twice as fast (src/cells/counting_partition.hpp), with 14 bytes per element; few elements in few buckets take two
/// launches (src/cells/counting_few.hpp), with 4 more bytes per bucket.
///
/// Determinism: with `none`, the order of elements in a bucket is that of the atomic additions. With run_to_run and
/// canonical it is increasing, by a stable radix sort of (key, element) instead of the scatter: 1.2 to 2.4 times the
/// time on a GPU, and 16 bytes per element instead of 12.
template <typename Context>
class counting_buckets {
 public:
  using view_type = counting_buckets_view;
  static constexpr bool carries_data = true;

  /// `reserve` and `build` are for keyed_buckets, hash_table and cell lists, which give buckets their keys. This makes
  /// room for builds of at most as many elements and buckets. Does not wait. May allocate.
  void reserve(const Context& context, std::size_t count, std::size_t bucket_count);
  /// Puts elements [0, count) into buckets [0, bucket_count). Does not wait; allocates only to grow. The caller has
  /// checked the sizes. Unless `carried` is empty, calls carried.move(i, its slot) once for each element.
  template <typename KeyOf, typename Carried = detail::carried_arrays>
  void build(const Context& context, std::size_t count, std::size_t bucket_count, const KeyOf& key_of,
             const fault_flag& faults, const Carried& carried = {});

  [[nodiscard]] view_type view() const {
    const std::size_t buckets = offsets_.size() == 0 ? 0 : offsets_.size() - 1;
    if (ordered_) return {offsets_.data(), pairs_.elements(), buckets, pairs_.size()};
    return {offsets_.data(), elements_.data(), buckets, elements_.size()};
  }
  [[nodiscard]] std::size_t bytes() const {
    return offsets_.bytes() + keys_.bytes() + ranks_.bytes() + low_keys_.bytes() + control_.bytes() + few_.bytes() +
           elements_.bytes() + pairs_.bytes() + scratch_.bytes();
  }

 private:
  template <typename KeyOf, typename Carried>
  void scatter(const Context& context, std::size_t count, std::size_t bucket_count, const KeyOf& key_of,
               const Carried& carried);
  template <typename KeyOf, typename Carried>
  void sort(const Context& context, std::size_t count, std::size_t bucket_count, const KeyOf& key_of,
            const Carried& carried);

  /// From keys to keys, ranks and offsets.
  template <typename KeyOf>
  void count_elements(const Context& context, std::size_t count, std::size_t bucket_count, const KeyOf& key_of);
  void reserve_partition(const Context& context, std::size_t count);
  void reserve_few(const Context& context, std::size_t bucket_count);
  template <typename KeyOf>
  void partition(const Context& context, std::size_t count, std::size_t bucket_count, const KeyOf& key_of);
  template <typename Carried>
  void carry(const Context& context, std::size_t count, const Carried& carried);

  array<std::uint32_t, Context> offsets_;
  array<std::uint32_t, Context> keys_;
  array<std::uint32_t, Context> ranks_;     ///< with two levels: elements grouped by range
  array<std::uint16_t, Context> low_keys_;  ///< with two levels
  array<std::uint32_t, Context> control_;   ///< with two levels
  array<std::uint32_t, Context> few_;       ///< for few elements: zeros between two builds
  array<particle_id, Context> elements_;
  detail::ordered_pairs<Context> pairs_;
  workspace<Context> scratch_;
  bool ordered_ = false;
};

namespace cell_methods {

struct counting : grid_cells_method<counting> {
  static constexpr std::string_view name = "counting";
  static constexpr std::string_view summary = "count, exclusive scan, scatter; cells are ranges";
  template <typename Context>
  using buckets = counting_buckets<Context>;
  /// Measured on whole steps of the granular model: 0.344 ms for 1,048,576 grains on an H200, 76 ms for 262,144 on two
  /// cores.
  static double cost(const cell_load& load) { return load.cuda ? 0.01 + 3.2e-7 * load.points : 2.9e-4 * load.points; }
};

}  // namespace cell_methods

}  // namespace quadrat
