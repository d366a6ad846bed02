// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cells/counting_build.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Buckets as ranges, like counting_buckets, for points that may fill them very unevenly. On several levels most points
/// can be in a few adjacent cells; counting_buckets would give all of these to one block of a GPU.
template <typename Context>
class level_buckets {
 public:
  /// Asynchronous; allocates only to grow. `even`: whether the points are spread as evenly as those of one level are.
  template <typename KeyOf>
  void build(const Context& context, std::size_t count, std::size_t bucket_count, const KeyOf& key_of,
             const fault_flag& faults, bool even) {
    counted_ = std::is_same_v<Context, cuda_context> && !even && context.reproducibility() == determinism::none;
    if (counted_) {
      count_and_scatter(context, count, bucket_count, key_of);
    } else {
      buckets_.build(context, count, bucket_count, key_of, faults);
    }
  }
  [[nodiscard]] counting_buckets_view view() const {
    if (!counted_) return buckets_.view();
    return {offsets_.data(), elements_.data(), offsets_.size() - 1, elements_.size()};
  }
  [[nodiscard]] std::size_t bytes() const {
    return buckets_.bytes() + offsets_.bytes() + keys_.bytes() + ranks_.bytes() + elements_.bytes() + scratch_.bytes();
  }

 private:
  template <typename KeyOf>
  void count_and_scatter(const Context& context, std::size_t count, std::size_t bucket_count, const KeyOf& key_of) {
    offsets_.resize_discarding(context, bucket_count + 1);
    keys_.resize_discarding(context, count);
    ranks_.resize_discarding(context, count);
    elements_.resize_discarding(context, count);
    fill_bytes(context, offsets_.data(), 0, (bucket_count + 1) * sizeof(std::uint32_t));
    const rank_target target{offsets_.data(), keys_.data(), ranks_.data()};
    for_each(context, "search.count_cells", count, insertion{key_of, target});
    exclusive_scan(context, offsets_.data(), offsets_.data(), bucket_count + 1, scratch_);
    for_each(context, "search.scatter", count,
             scatter_by_rank<carried_arrays>{keys_.data(), ranks_.data(), offsets_.data(), elements_.data(), {}});
  }

  counting_buckets<Context> buckets_;
  bool counted_ = false;
  array<std::uint32_t, Context> offsets_;
  array<std::uint32_t, Context> keys_;
  array<std::uint32_t, Context> ranks_;
  array<particle_id, Context> elements_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
