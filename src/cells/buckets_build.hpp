// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cells/checks.hpp"
#include "cells/insertion.hpp"
#include "core/point_checks.hpp"
#include "quadrat/cells/buckets.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace detail {

template <typename Buckets>
[[noreturn]] void throw_overflow(const fault_report& found, const Buckets& buckets) {
  if constexpr (requires { buckets.capacity(); }) {
    throw overflow_error(message("bucket ", found.index - overflow_fault_base, " holds more than its capacity of ",
                                 buckets.capacity(), " elements; a capacity of ", found.needed, " would have sufficed"),
                         found.needed);
  } else {
    throw error("buckets without a limit have reported an overflow");
  }
}

}  // namespace detail

template <typename Context, typename Buckets>
void keyed_buckets<Context, Buckets>::build(const Context& context, const std::uint32_t* keys, std::size_t count,
                                            std::size_t bucket_count) {
  detail::require_array(keys, count, "keys");
  detail::require_bucket_count(bucket_count);
  faults_.begin();
  keys_ = keys;
  count_ = count;
  bucket_count_ = bucket_count;
  const given_keys key_of{keys, static_cast<std::uint32_t>(bucket_count), faults_.flag()};
  buckets_.build(context, count, bucket_count, key_of, faults_.flag());
}

template <typename Context, typename Buckets>
void keyed_buckets<Context, Buckets>::check(const Context& context) {
  const fault_report found = faults_.check(context);
  if (found.kind == fault_kind::none) return;
  if (found.kind == fault_kind::overflow) detail::throw_overflow(found, buckets_);
  if (found.index >= count_) throw data_error(message("key ", found.index, " of an earlier build was out of range"));
  throw data_error(message("key ", found.index, " is ", to_host(context, keys_ + found.index, 1)[0],
                           "; keys must be below the number of buckets, which is ", bucket_count_),
                   found.index);
}

template <typename Context, typename Buckets>
void hash_table<Context, Buckets>::build(const Context& context, const std::uint64_t* keys, std::size_t count,
                                         std::size_t bucket_count) {
  detail::require_array(keys, count, "keys");
  if (bucket_count == 0) bucket_count = count == 0 ? 1 : count;
  detail::require_bucket_count(bucket_count);
  faults_.begin();
  keys_ = keys;
  bucket_count_ = bucket_count;
  const hashed_keys key_of{keys, static_cast<std::uint32_t>(bucket_count)};
  buckets_.build(context, count, bucket_count, key_of, faults_.flag());
}

template <typename Context, typename Buckets>
void hash_table<Context, Buckets>::check(const Context& context) {
  const fault_report found = faults_.check(context);
  if (found.kind == fault_kind::none) return;
  detail::throw_overflow(found, buckets_);
}

}  // namespace quadrat
