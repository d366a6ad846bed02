// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/cells/ordered_pairs.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat {

/// Slot k of all buckets side by side, as in uniform-grid-atomics, section 1: neighboring buckets share cache lines.
struct column_major_layout {
  [[nodiscard]] QUADRAT_HD static std::size_t at(cell_id bucket, std::uint32_t slot, std::size_t bucket_count,
                                                 std::uint32_t) {
    return bucket + slot * bucket_count;
  }
};

/// The slots of one bucket side by side.
struct row_major_layout {
  [[nodiscard]] QUADRAT_HD static std::size_t at(cell_id bucket, std::uint32_t slot, std::size_t,
                                                 std::uint32_t capacity) {
    return static_cast<std::size_t>(bucket) * capacity + slot;
  }
};

/// Each bucket is a row of a matrix of `capacity` slots, of which the first `counts[bucket]` are taken.
template <typename Layout>
struct fixed_buckets_view {
  const std::uint32_t* counts;  ///< may pass the capacity after an overflow
  const particle_id* slots;
  std::size_t bucket_count;
  std::uint32_t capacity;

  template <typename F>
  QUADRAT_HD void for_each_in(cell_id bucket, F&& f) const {
    const std::uint32_t taken = counts[bucket] < capacity ? counts[bucket] : capacity;
    for (std::uint32_t k = 0; k < taken; ++k) f(slots[Layout::at(bucket, k, bucket_count, capacity)]);
  }
};

/// Buckets of a fixed capacity, filled with one atomic addition an element (uniform-grid-atomics, section 1, "Building
/// uniform grids using atomicAdd"). Memory: 4 bytes and 4 times the capacity a bucket. A bucket that is too small is a
/// fault with the capacity that would have sufficed; elements beyond are in no bucket.
///
/// Determinism: none gives the elements of a bucket in whatever order the additions came. run_to_run and canonical give
/// them in increasing order, by a stable radix sort of (key, element) and two more passes: several times the time, and
/// 16 bytes an element and 4 a bucket more.
template <typename Context, typename Layout>
class fixed_buckets {
 public:
  using view_type = fixed_buckets_view<Layout>;
  static constexpr bool carries_data = false;

  /// capacity 0: chosen at each build from the mean occupancy, see cell_list_options::fixed_capacity.
  explicit fixed_buckets(std::uint32_t capacity = 0) : asked_(capacity) {}

  /// Puts elements [0, count) into buckets [0, bucket_count). Asynchronous; allocates when it grows only. The sizes
  /// have been checked by the caller.
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
