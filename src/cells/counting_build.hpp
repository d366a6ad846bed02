// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include "cells/counting_few.hpp"
#include "cells/counting_partition_keys.hpp"
#include "cells/insertion.hpp"
#include "cells/ordered_pairs_build.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat {

namespace detail {

/// Counts, and stores each element's key and rank for the scatter.
struct rank_target {
  std::uint32_t* counts;
  std::uint32_t* keys;
  std::uint32_t* ranks;

  QUADRAT_HD std::uint32_t reserve(cell_id bucket, particle_id) const { return atomic_add(counts + bucket, 1u); }
  QUADRAT_HD void store(cell_id bucket, particle_id element, std::uint32_t rank) const {
    keys[element] = bucket;
    ranks[element] = rank;
  }
};

template <typename Carried>
struct scatter_by_rank {
  const std::uint32_t* keys;
  const std::uint32_t* ranks;
  const std::uint32_t* offsets;
  particle_id* elements;
  Carried carried;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint32_t slot = offsets[keys[i]] + ranks[i];
    elements[slot] = static_cast<particle_id>(i);
    carried.move(i, slot);
  }
};

/// Counts while computing keys, once per element.
template <typename KeyOf>
struct counted_key {
  KeyOf key_of;
  std::uint32_t* counts;

  QUADRAT_HD cell_id operator()(std::size_t i) const {
    const cell_id bucket = key_of(i);
    atomic_add(counts + bucket, 1u);
    return bucket;
  }
};

/// Index: slot.
template <typename Carried>
struct gather_carried {
  const particle_id* elements;
  Carried carried;

  QUADRAT_HD void operator()(std::size_t slot) const { carried.move(elements[slot], slot); }
};

}  // namespace detail

template <typename Context>
void counting_buckets<Context>::reserve(const Context& context, std::size_t count, std::size_t bucket_count) {
  offsets_.resize_discarding(context, bucket_count + 1);
  static_cast<void>(scratch_.request(context, scan_scratch_bytes(context, bucket_count + 1)));
  if (context.reproducibility() != determinism::none) return pairs_.reserve(context, count, bucket_count);
  keys_.resize_discarding(context, count);
  ranks_.resize_discarding(context, count);
  elements_.resize_discarding(context, count);
  if constexpr (std::is_same_v<Context, cuda_context>) {
    if (detail::partition_pays(count, 1, detail::partition_words(context))) reserve_partition(context, count);
    reserve_few(context, std::min<std::size_t>(bucket_count, detail::few_most_buckets));
  }
}

/// The additional memory for few elements.
template <typename Context>
void counting_buckets<Context>::reserve_few(const Context& context, std::size_t bucket_count) {
  const std::size_t words = detail::few_words(static_cast<std::uint32_t>(bucket_count));
  if (few_.size() >= words) return;
  few_.resize_discarding(context, words);
  fill_bytes(context, few_.data(), 0, few_.bytes());
}

/// The additional memory of two levels.
template <typename Context>
void counting_buckets<Context>::reserve_partition(const Context& context, std::size_t count) {
  low_keys_.resize_discarding(context, count);
  if (control_.size() > 0) return;
  control_.resize_discarding(context, detail::counting_control_words);
  fill_bytes(context, control_.data(), 0, control_.bytes());
}

template <typename Context>
template <typename KeyOf, typename Carried>
void counting_buckets<Context>::build(const Context& context, std::size_t count, std::size_t bucket_count,
                                      const KeyOf& key_of, const fault_flag&, const Carried& carried) {
  offsets_.resize_discarding(context, bucket_count + 1);
  ordered_ = context.reproducibility() != determinism::none;
  if (ordered_) {
    sort(context, count, bucket_count, key_of, carried);
  } else {
    scatter(context, count, bucket_count, key_of, carried);
  }
}

template <typename Context>
template <typename KeyOf>
void counting_buckets<Context>::count_elements(const Context& context, std::size_t count, std::size_t bucket_count,
                                               const KeyOf& key_of) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
#if defined(__CUDACC__)
    if (detail::counts_few(count, bucket_count)) {
      reserve_few(context, bucket_count);
      return detail::count_few(context,
                               {few_.data(), keys_.data(), ranks_.data(), offsets_.data(),
                                static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(bucket_count)},
                               key_of);
    }
#endif
  }
  fill_bytes(context, offsets_.data(), 0, (bucket_count + 1) * sizeof(std::uint32_t));
  const detail::rank_target target{offsets_.data(), keys_.data(), ranks_.data()};
  for_each(context, "cells.counting.count", count, detail::insertion{key_of, target});
  exclusive_scan(context, offsets_.data(), offsets_.data(), bucket_count + 1, scratch_);
}

template <typename Context>
template <typename KeyOf, typename Carried>
void counting_buckets<Context>::scatter(const Context& context, std::size_t count, std::size_t bucket_count,
                                        const KeyOf& key_of, const Carried& carried) {
  keys_.resize_discarding(context, count);
  ranks_.resize_discarding(context, count);
  elements_.resize_discarding(context, count);
  if constexpr (std::is_same_v<Context, cuda_context>) {
    if (detail::partition_pays(count, bucket_count, detail::partition_words(context))) {
      partition(context, count, bucket_count, key_of);
      carry(context, count, carried);
      return;
    }
  }
  count_elements(context, count, bucket_count, key_of);
  const detail::scatter_by_rank<Carried> body{keys_.data(), ranks_.data(), offsets_.data(), elements_.data(), carried};
  for_each(context, "cells.counting.scatter", count, body);
}

template <typename Context>
template <typename KeyOf, typename Carried>
void counting_buckets<Context>::sort(const Context& context, std::size_t count, std::size_t bucket_count,
                                     const KeyOf& key_of, const Carried& carried) {
  fill_bytes(context, offsets_.data(), 0, (bucket_count + 1) * sizeof(std::uint32_t));
  pairs_.make(context, count, bucket_count, detail::counted_key<KeyOf>{key_of, offsets_.data()});
  exclusive_scan(context, offsets_.data(), offsets_.data(), bucket_count + 1, scratch_);
  carry(context, count, carried);
}

template <typename Context>
template <typename KeyOf>
void counting_buckets<Context>::partition(const Context& context, std::size_t count, std::size_t bucket_count,
                                          const KeyOf& key_of) {
  reserve_partition(context, count);
  const detail::partition_buffers buffers{reinterpret_cast<detail::counting_control*>(control_.data()),
                                          keys_.data(),
                                          low_keys_.data(),
                                          ranks_.data(),
                                          offsets_.data(),
                                          elements_.data(),
                                          static_cast<std::uint32_t>(count),
                                          static_cast<std::uint32_t>(bucket_count),
                                          detail::partition_shift(bucket_count),
                                          detail::partition_words(context)};
  detail::partition(context, buffers, key_of);
}

template <typename Context>
template <typename Carried>
void counting_buckets<Context>::carry(const Context& context, std::size_t count, const Carried& carried) {
  if (carried.empty()) return;
  for_each(context, "cells.counting.carry", count, detail::gather_carried<Carried>{view().elements, carried});
}

}  // namespace quadrat
