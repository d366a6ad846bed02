// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "quadrat/cells/counting.hpp"
#include "quadrat/cells/detail/build_state.hpp"
#include "quadrat/cells/fixed.hpp"
#include "quadrat/cells/keys.hpp"
#include "quadrat/cells/linked.hpp"
#include "quadrat/cells/sorted.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"

/// Elements in buckets, without geometry: by keys that are bucket numbers, or by hashes of arbitrary keys. `Buckets` is
/// one of linked_buckets, counting_buckets, sorted_buckets, fixed_buckets (column_major_layout or row_major_layout),
/// on the same context; views have `for_each_in(bucket, f)`, which calls f(element).

namespace quadrat {

/// Elements in buckets by given keys. Constructed once, rebuilt whenever the keys change. Memory as `Buckets`.
/// Determinism: as `Buckets`.
template <typename Context, typename Buckets>
class keyed_buckets {
  static_assert(detail::instance<Context>::exists);

 public:
  using view_type = typename Buckets::view_type;

  explicit keyed_buckets(const Context& context, Buckets buckets = Buckets())
      : buckets_(std::move(buckets)), state_(context) {}

  /// Puts element i into bucket keys[i], for i in [0, count). Waits. May allocate. Throws argument_error for impossible
  /// counts, and data_error naming the first element whose key is not below bucket_count, or overflow_error with the
  /// capacity that would have sufficed. After these two the buckets are unusable until they are rebuilt.
  void build(const std::uint32_t* keys, std::size_t count, std::size_t bucket_count);
  /// The same, but does not wait. Allocates nothing. Can be captured. `check` reports invalid keys; the keys must stay
  /// valid until then. Throws argument_error without room for as many elements and buckets, which an earlier build or
  /// `reserve` makes.
  void build_async(const std::uint32_t* keys, std::size_t count, std::size_t bucket_count);
  /// Makes room for builds of at most as many elements and buckets. Does not wait. May allocate; then the last build is
  /// lost. Throws argument_error for impossible counts.
  void reserve(std::size_t count, std::size_t bucket_count);
  /// Waits. Allocates nothing. Throws what `build` throws for the keys of build_async, for all calls since the last
  /// check or `build`; again at every call until the next build.
  void check();

  /// Valid until the next build. Throws argument_error when nothing has been built, or the last check has thrown.
  [[nodiscard]] view_type view() const {
    state_.require_usable();
    return buckets_.view();
  }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] std::size_t bytes() const { return buckets_.bytes() + state_.bytes(); }

 private:
  Buckets buckets_;
  detail::build_state<Context> state_;
  const std::uint32_t* keys_ = nullptr;
  std::size_t count_ = 0;
  std::size_t bucket_count_ = 0;
};

/// The device's view of a hash table with chaining.
template <typename BucketsView>
struct hash_table_view {
  BucketsView buckets;
  hashed_keys keys;

  /// Calls f(element) for each element with this key.
  template <typename F>
  QUADRAT_HD void for_each_with_key(std::uint64_t key, F&& f) const {
    buckets.for_each_in(keys.bucket_of(key), [&](particle_id element) {
      if (keys.keys[element] == key) f(element);
    });
  }
};

/// A hash table with chaining: finds elements by arbitrary 64-bit keys, which need not be unique (uniform-grid-atomics,
/// introduction). Lookups read the keys in the caller's memory. Determinism: as `Buckets`.
template <typename Context, typename Buckets>
class hash_table {
  static_assert(detail::instance<Context>::exists);

 public:
  using view_type = hash_table_view<typename Buckets::view_type>;

  explicit hash_table(const Context& context, Buckets buckets = Buckets())
      : buckets_(std::move(buckets)), state_(context) {}

  /// Inserts element i under keys[i], for i in [0, count). bucket_count 0: one bucket per element. Waits. May allocate.
  /// Throws argument_error for impossible counts, and overflow_error if buckets of a fixed capacity were too small,
  /// with the capacity that would have sufficed; the table is then unusable until it is rebuilt.
  void build(const std::uint64_t* keys, std::size_t count, std::size_t bucket_count = 0);
  /// The same, but does not wait. Allocates nothing. Can be captured. `check` reports overflows. Throws argument_error
  /// without room for as many elements and buckets, which an earlier build or `reserve` makes.
  void build_async(const std::uint64_t* keys, std::size_t count, std::size_t bucket_count = 0);
  /// Like keyed_buckets::reserve.
  void reserve(std::size_t count, std::size_t bucket_count = 0);
  /// Waits. Allocates nothing. Throws the overflow_error of build_async, for all calls since the last check or `build`;
  /// again at every call until the next build.
  void check();

  /// Valid until the next build, and as long as the keys. Throws argument_error when nothing has been built, or the
  /// last check has thrown.
  [[nodiscard]] view_type view() const {
    state_.require_usable();
    return {buckets_.view(), {keys_, static_cast<std::uint32_t>(bucket_count_)}};
  }
  [[nodiscard]] std::size_t bucket_count() const { return bucket_count_; }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] std::size_t bytes() const { return buckets_.bytes() + state_.bytes(); }

 private:
  Buckets buckets_;
  detail::build_state<Context> state_;
  const std::uint64_t* keys_ = nullptr;
  std::size_t bucket_count_ = 1;
};

}  // namespace quadrat
