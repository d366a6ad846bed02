// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cells/build_and_check.hpp"
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
void keyed_buckets<Context, Buckets>::reserve(std::size_t count, std::size_t bucket_count) {
  detail::require_count(count, "keys");
  detail::require_bucket_count(bucket_count);
  state_.reserve_in(buckets_, count, bucket_count);
}

template <typename Context, typename Buckets>
void keyed_buckets<Context, Buckets>::build(const std::uint32_t* keys, std::size_t count, std::size_t bucket_count) {
  detail::require_array(keys, count, "keys");
  detail::build_and_check(
      *this, state_, [&] { build_async(keys, count, bucket_count); }, count, bucket_count);
}

template <typename Context, typename Buckets>
void keyed_buckets<Context, Buckets>::build_async(const std::uint32_t* keys, std::size_t count,
                                                  std::size_t bucket_count) {
  detail::require_array(keys, count, "keys");
  detail::require_bucket_count(bucket_count);
  state_.begin(count, bucket_count, "keys");
  keys_ = keys;
  count_ = count;
  bucket_count_ = bucket_count;
  const given_keys key_of{keys, static_cast<std::uint32_t>(bucket_count), state_.flag()};
  buckets_.build(state_.context(), count, bucket_count, key_of, key_of.faults);
}

template <typename Context, typename Buckets>
void keyed_buckets<Context, Buckets>::check() {
  const fault_report found = state_.check();
  if (found.kind == fault_kind::none) return;
  if (found.kind == fault_kind::overflow) detail::throw_overflow(found, buckets_);
  if (found.index >= count_) throw data_error(message("key ", found.index, " of an earlier build was out of range"));
  throw data_error(message("key ", found.index, " is ", to_host(state_.context(), keys_ + found.index, 1)[0],
                           "; keys must be below the number of buckets, which is ", bucket_count_),
                   found.index);
}

namespace detail {

/// One bucket per element if the caller requests none.
[[nodiscard]] inline std::size_t buckets_for(std::size_t count, std::size_t bucket_count) {
  if (bucket_count == 0) bucket_count = count == 0 ? 1 : count;
  require_bucket_count(bucket_count);
  return bucket_count;
}

}  // namespace detail

template <typename Context, typename Buckets>
void hash_table<Context, Buckets>::reserve(std::size_t count, std::size_t bucket_count) {
  detail::require_count(count, "keys");
  state_.reserve_in(buckets_, count, detail::buckets_for(count, bucket_count));
}

template <typename Context, typename Buckets>
void hash_table<Context, Buckets>::build(const std::uint64_t* keys, std::size_t count, std::size_t bucket_count) {
  detail::require_array(keys, count, "keys");
  detail::build_and_check(
      *this, state_, [&] { build_async(keys, count, bucket_count); }, count, bucket_count);
}

template <typename Context, typename Buckets>
void hash_table<Context, Buckets>::build_async(const std::uint64_t* keys, std::size_t count, std::size_t bucket_count) {
  detail::require_array(keys, count, "keys");
  bucket_count = detail::buckets_for(count, bucket_count);
  state_.begin(count, bucket_count, "keys");
  keys_ = keys;
  bucket_count_ = bucket_count;
  const hashed_keys key_of{keys, static_cast<std::uint32_t>(bucket_count)};
  buckets_.build(state_.context(), count, bucket_count, key_of, state_.flag());
}

template <typename Context, typename Buckets>
void hash_table<Context, Buckets>::check() {
  const fault_report found = state_.check();
  if (found.kind == fault_kind::none) return;
  detail::throw_overflow(found, buckets_);
}

}  // namespace quadrat
