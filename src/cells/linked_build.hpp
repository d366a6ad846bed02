// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cells/insertion.hpp"
#include "cells/ordered_pairs_build.hpp"
#include "quadrat/cells/linked.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace detail {

struct list_target {
  particle_id* heads;
  particle_id* nexts;

  QUADRAT_HD std::uint32_t reserve(cell_id bucket, particle_id element) const {
    return atomic_exchange(heads + bucket, element);
  }
  QUADRAT_HD void store(cell_id, particle_id element, std::uint32_t former_head) const { nexts[element] = former_head; }
};

/// Links sorted pairs, so that each list runs in increasing order. Index: place in the sorted order.
struct link_in_order {
  const std::uint32_t* keys;
  const particle_id* elements;
  std::size_t count;
  particle_id* heads;
  particle_id* nexts;

  QUADRAT_HD void operator()(std::size_t k) const {
    const particle_id element = elements[k];
    const particle_id next = last_of_bucket(keys, k, count) ? no_particle : elements[k + 1];
    if (first_of_bucket(keys, k)) heads[keys[k]] = element;
    nexts[element] = next;
  }
};

}  // namespace detail

template <typename Context>
void linked_buckets<Context>::reserve(const Context& context, std::size_t count, std::size_t bucket_count) {
  heads_.resize_discarding(context, bucket_count);
  nexts_.resize_discarding(context, count);
  if (context.reproducibility() != determinism::none) pairs_.reserve(context, count, bucket_count);
}

template <typename Context>
template <typename KeyOf>
void linked_buckets<Context>::build(const Context& context, std::size_t count, std::size_t bucket_count,
                                    const KeyOf& key_of, const fault_flag&) {
  heads_.resize_discarding(context, bucket_count);
  nexts_.resize_discarding(context, count);
  fill_bytes(context, heads_.data(), 0xff, bucket_count * sizeof(particle_id));
  if (context.reproducibility() == determinism::none) {
    const detail::list_target target{heads_.data(), nexts_.data()};
    for_each(context, "cells.linked.insert", count, detail::insertion{key_of, target});
    return;
  }
  pairs_.make(context, count, bucket_count, key_of);
  const detail::link_in_order body{pairs_.keys(), pairs_.elements(), count, heads_.data(), nexts_.data()};
  for_each(context, "cells.linked.link_in_order", count, body);
}

}  // namespace quadrat
