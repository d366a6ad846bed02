// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cells/ordered_pairs_build.hpp"
#include "quadrat/cells/sorted.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace detail {

/// Finds where buckets begin and end, and carries data along. Index: place in the sorted order.
struct mark_bounds {
  const std::uint32_t* keys;
  const particle_id* elements;
  std::size_t count;
  std::uint32_t* begins;
  std::uint32_t* ends;
  carried_arrays carried;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::uint32_t key = keys[k];
    const bool first = first_of_bucket(keys, k);
    const bool last = last_of_bucket(keys, k, count);
    if (first) begins[key] = static_cast<std::uint32_t>(k);
    if (last) ends[key] = static_cast<std::uint32_t>(k) + 1;
    if (carried.count > 0) carried.move(elements[k], k);
  }
};

}  // namespace detail

template <typename Context>
void sorted_buckets<Context>::reserve(const Context& context, std::size_t count, std::size_t bucket_count) {
  bounds_.resize_discarding(context, 2 * bucket_count);
  pairs_.reserve(context, count, bucket_count);
}

template <typename Context>
template <typename KeyOf>
void sorted_buckets<Context>::build(const Context& context, std::size_t count, std::size_t bucket_count,
                                    const KeyOf& key_of, const fault_flag&, const detail::carried_arrays& carried) {
  bounds_.resize_discarding(context, 2 * bucket_count);
  fill_bytes(context, bounds_.data(), 0, 2 * bucket_count * sizeof(std::uint32_t));
  pairs_.make(context, count, bucket_count, key_of);
  const detail::mark_bounds body{pairs_.keys(), pairs_.elements(), count, bounds_.data(), bounds_.data() + bucket_count,
                                 carried};
  for_each(context, "cells.sorted.mark_bounds", count, body);
}

}  // namespace quadrat
