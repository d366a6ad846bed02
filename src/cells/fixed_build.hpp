// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "cells/insertion.hpp"
#include "cells/ordered_pairs_build.hpp"
#include "quadrat/cells/fixed.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace detail {

template <typename Layout>
struct matrix_target {
  std::uint32_t* counts;
  particle_id* slots;
  std::size_t bucket_count;
  std::uint32_t capacity;
  fault_flag faults;

  QUADRAT_HD std::uint32_t reserve(cell_id bucket, particle_id) const { return atomic_add(counts + bucket, 1u); }
  QUADRAT_HD void store(cell_id bucket, particle_id element, std::uint32_t slot) const {
    if (slot < capacity) {
      slots[Layout::at(bucket, slot, bucket_count, capacity)] = element;
    } else {
      faults.raise_overflow(overflow_fault_base + bucket, std::uint64_t{slot} + 1);
    }
  }
};

/// starts[bucket] = place of its first element. Index: place in the sorted order. Empty buckets are not written.
struct mark_starts {
  const std::uint32_t* keys;
  std::uint32_t* starts;

  QUADRAT_HD void operator()(std::size_t k) const {
    if (first_of_bucket(keys, k)) starts[keys[k]] = static_cast<std::uint32_t>(k);
  }
};

/// Stores sorted elements at their rank in the bucket. Index: place in the sorted order.
template <typename Layout>
struct store_in_order {
  const std::uint32_t* keys;
  const particle_id* elements;
  const std::uint32_t* starts;
  std::size_t count;
  matrix_target<Layout> target;

  QUADRAT_HD void operator()(std::size_t k) const {
    const cell_id bucket = keys[k];
    const auto slot = static_cast<std::uint32_t>(k) - starts[bucket];
    const bool last = last_of_bucket(keys, k, count);
    target.store(bucket, elements[k], slot);
    if (last) target.counts[bucket] = slot + 1;
  }
};

/// See cell_list_options::fixed_capacity.
[[nodiscard]] inline std::uint32_t default_capacity(std::size_t count, std::size_t bucket_count) {
  const double mean = static_cast<double>(count) / static_cast<double>(bucket_count);
  return static_cast<std::uint32_t>(std::ceil((12 + 2 * mean + 4 * std::sqrt(mean)) / 4)) * 4;
}

/// An upper bound on b default_capacity(n, b) for all n <= `count` elements and b <= `bucket_count` buckets.
[[nodiscard]] inline std::size_t most_slots(std::size_t count, std::size_t bucket_count) {
  const auto elements = static_cast<double>(count), buckets = static_cast<double>(bucket_count);
  return static_cast<std::size_t>(16 * buckets + 2 * elements + 4 * std::sqrt(elements * buckets)) + 1;
}

}  // namespace detail

template <typename Context, typename Layout>
void fixed_buckets<Context, Layout>::reserve(const Context& context, std::size_t count, std::size_t bucket_count) {
  counts_.resize_discarding(context, bucket_count);
  slots_.resize_discarding(context, asked_ != 0 ? bucket_count * asked_ : detail::most_slots(count, bucket_count));
  if (context.reproducibility() == determinism::none) return;
  starts_.resize_discarding(context, bucket_count);
  pairs_.reserve(context, count, bucket_count);
}

template <typename Context, typename Layout>
template <typename KeyOf>
void fixed_buckets<Context, Layout>::build(const Context& context, std::size_t count, std::size_t bucket_count,
                                           const KeyOf& key_of, const fault_flag& faults) {
  capacity_ = asked_ != 0 ? asked_ : detail::default_capacity(count, bucket_count);
  counts_.resize_discarding(context, bucket_count);
  slots_.resize_discarding(context, bucket_count * capacity_);
  fill_bytes(context, counts_.data(), 0, bucket_count * sizeof(std::uint32_t));
  const detail::matrix_target<Layout> target{counts_.data(), slots_.data(), bucket_count, capacity_, faults};
  if (context.reproducibility() == determinism::none) {
    for_each(context, "cells.fixed.insert", count, detail::insertion{key_of, target});
    return;
  }
  starts_.resize_discarding(context, bucket_count);
  pairs_.make(context, count, bucket_count, key_of);
  for_each(context, "cells.fixed.mark_starts", count, detail::mark_starts{pairs_.keys(), starts_.data()});
  const detail::store_in_order<Layout> body{pairs_.keys(), pairs_.elements(), starts_.data(), count, target};
  for_each(context, "cells.fixed.store_in_order", count, body);
}

}  // namespace quadrat
