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

/// Slots k of all buckets are contiguous, as in uniform-grid-atomics, section 1: neighboring buckets share cache lines.
struct column_major_layout {
  [[nodiscard]] QUADRAT_HD static std::size_t at(cell_id bucket, std::uint32_t slot, std::size_t bucket_count,
                                                 std::uint32_t) {
    return bucket + slot * bucket_count;
  }
};

/// The slots of one bucket are contiguous.
struct row_major_layout {
  [[nodiscard]] QUADRAT_HD static std::size_t at(cell_id bucket, std::uint32_t slot, std::size_t,
                                                 std::uint32_t capacity) {
    return static_cast<std::size_t>(bucket) * capacity + slot;
  }
};

/// Each bucket has `capacity` slots; the first `counts[bucket]` are in use.
template <typename Layout>
struct fixed_buckets_view {
  const std::uint32_t* counts;  ///< may exceed the capacity after an overflow
  const particle_id* slots;
  std::size_t bucket_count;
  std::uint32_t capacity;

  template <typename F>
  QUADRAT_HD void for_each_in(cell_id bucket, F&& f) const {
    const std::uint32_t taken = counts[bucket] < capacity ? counts[bucket] : capacity;
    for (std::uint32_t k = 0; k < taken; ++k) f(slots[Layout::at(bucket, k, bucket_count, capacity)]);
  }
};

/// Buckets of a fixed capacity, filled with one atomic addition per element (uniform-grid-atomics, section 1, "Building
/// uniform grids using atomicAdd"). Memory: 4 + 4 * capacity bytes per bucket, and up to 16 more if the capacity is
/// chosen automatically. A bucket that overflows is a fault with the capacity that would have sufficed; the excess
/// elements are in no bucket.
///
/// Determinism: with `none`, the order of elements in a bucket is that of the atomic additions. With run_to_run and
/// canonical it is increasing, by a stable radix sort of (key, element) and two more passes: several times the time,
/// and 16 more bytes per element and 4 per bucket.
template <typename Context, typename Layout>
class fixed_buckets {
 public:
  using view_type = fixed_buckets_view<Layout>;
  static constexpr bool carries_data = false;

  /// capacity 0: chosen at each build from the mean occupancy; see cell_list_options::fixed_capacity.
  explicit fixed_buckets(std::uint32_t capacity = 0) : asked_(capacity) {}

  /// `reserve` and `build` are for keyed_buckets, hash_table and cell lists, which give buckets their keys. This makes
  /// room for builds of at most as many elements and buckets. Does not wait. May allocate.
  void reserve(const Context& context, std::size_t count, std::size_t bucket_count);
  /// Puts elements [0, count) into buckets [0, bucket_count). Does not wait; allocates only to grow. The caller has
  /// checked the sizes.
  template <typename KeyOf>
  void build(const Context& context, std::size_t count, std::size_t bucket_count, const KeyOf& key_of,
             const fault_flag& faults);

  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
  [[nodiscard]] view_type view() const { return {counts_.data(), slots_.data(), counts_.size(), capacity_}; }
  [[nodiscard]] std::size_t bytes() const {
    return counts_.bytes() + slots_.bytes() + starts_.bytes() + pairs_.bytes();
  }

 private:
  std::uint32_t asked_;
  std::uint32_t capacity_ = 0;
  array<std::uint32_t, Context> counts_;
  array<particle_id, Context> slots_;
  array<std::uint32_t, Context> starts_;
  detail::ordered_pairs<Context> pairs_;
};

namespace cell_methods {

struct fixed : grid_cells_method<fixed> {
  static constexpr std::string_view name = "fixed";
  static constexpr std::string_view summary = "atomic addition into cells of fixed capacity, column-major";
  template <typename Context>
  using buckets = fixed_buckets<Context, column_major_layout>;
};

struct fixed_row_major : grid_cells_method<fixed_row_major> {
  static constexpr std::string_view name = "fixed_row_major";
  static constexpr std::string_view summary = "atomic addition into cells of fixed capacity, row-major";
  template <typename Context>
  using buckets = fixed_buckets<Context, row_major_layout>;
};

}  // namespace cell_methods

}  // namespace quadrat
