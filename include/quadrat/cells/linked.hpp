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

/// Each bucket is a linked list: `heads[bucket]` is its first element, `nexts[element]` the next one; no_particle ends
/// it.
struct linked_buckets_view {
  const particle_id* heads;  ///< bucket_count
  const particle_id* nexts;  ///< count
  std::size_t bucket_count;
  std::size_t count;

  template <typename F>
  QUADRAT_HD void for_each_in(cell_id bucket, F&& f) const {
    for (particle_id i = heads[bucket]; i != no_particle;) {
      const particle_id after = nexts[i];
      f(i);
      i = after;
    }
  }
};

/// Buckets as linked lists, built in one pass with one atomic exchange per element (uniform-grid-atomics, section 2).
/// Buckets have no capacity limit. Memory: 4 bytes per bucket and 4 per element.
///
/// Determinism: with `none`, the order of elements in a bucket is that of the atomic exchanges. With run_to_run and
/// canonical it is increasing, by a stable radix sort of (key, element) and one linking pass instead of the exchanges:
/// several times the time, and 16 more bytes per element.
template <typename Context>
class linked_buckets {
 public:
  using view_type = linked_buckets_view;
  static constexpr bool carries_data = false;

  /// `reserve` and `build` are for keyed_buckets, hash_table and cell lists, which give buckets their keys. This makes
  /// room for builds of at most as many elements and buckets. Does not wait. May allocate.
  void reserve(const Context& context, std::size_t count, std::size_t bucket_count);
  /// Puts elements [0, count) into buckets [0, bucket_count). Does not wait; allocates only to grow. The caller has
  /// checked the sizes.
  template <typename KeyOf>
  void build(const Context& context, std::size_t count, std::size_t bucket_count, const KeyOf& key_of,
             const fault_flag& faults);

  [[nodiscard]] view_type view() const { return {heads_.data(), nexts_.data(), heads_.size(), nexts_.size()}; }
  [[nodiscard]] std::size_t bytes() const { return heads_.bytes() + nexts_.bytes() + pairs_.bytes(); }

 private:
  array<particle_id, Context> heads_;
  array<particle_id, Context> nexts_;
  detail::ordered_pairs<Context> pairs_;
};

namespace cell_methods {

struct linked_loose : grid_cells_method<linked_loose> {
  static constexpr std::string_view name = "linked_loose";
  static constexpr std::string_view summary = "linked lists by atomic exchange; a particle is stored by its center";
  template <typename Context>
  using buckets = linked_buckets<Context>;
};

struct linked_loose_low_vertex : grid_cells_method<linked_loose_low_vertex> {
  static constexpr std::string_view name = "linked_loose_low_vertex";
  static constexpr std::string_view summary = "linked lists; a particle is stored by the low vertex of its box";
  template <typename T, int D>
  using anchor = low_vertex_anchor<T, D>;
  template <typename Context>
  using buckets = linked_buckets<Context>;
};

}  // namespace cell_methods

}  // namespace quadrat
