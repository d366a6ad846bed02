// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "quadrat/cells/build_faults.hpp"
#include "quadrat/cells/counting.hpp"
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

/// Elements in buckets by given keys. Constructed once, rebuilt whenever the keys change; a build of the same size as
/// an earlier one allocates nothing. Determinism and memory: as `Buckets`.
template <typename Context, typename Buckets>
class keyed_buckets {
  static_assert(detail::instance<Context>::exists);

 public:
  using view_type = typename Buckets::view_type;

  explicit keyed_buckets(const Context& context, Buckets buckets = Buckets())
      : buckets_(std::move(buckets)), faults_(context) {}

  /// Puts element i into bucket keys[i], for i in [0, count). Asynchronous: `check` reports keys that are not below
  /// bucket_count; the keys must stay valid until then. Throws argument_error for impossible counts.
  void build(const Context& context, const std::uint32_t* keys, std::size_t count, std::size_t bucket_count);
  /// Synchronizes. Throws data_error naming the first element whose key is out of range in any build since the last
  /// check, or overflow_error with the capacity that would have sufficed. The buckets are then unusable until they are
  /// rebuilt.
  void check(const Context& context);

  /// Valid until the next build. Throws argument_error when nothing has been built, or the last check has thrown.
  [[nodiscard]] view_type view() const {
    faults_.require_usable();
    return buckets_.view();
  }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] std::size_t bytes() const { return buckets_.bytes() + faults_.bytes(); }

 private:
  Buckets buckets_;
  detail::build_faults<Context> faults_;
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
/// introduction). Lookups read the keys in the caller's memory.
template <typename Context, typename Buckets>
class hash_table {
  static_assert(detail::instance<Context>::exists);

 public:
  using view_type = hash_table_view<typename Buckets::view_type>;

  explicit hash_table(const Context& context, Buckets buckets = Buckets())
      : buckets_(std::move(buckets)), faults_(context) {}

  /// Inserts element i under keys[i], for i in [0, count). bucket_count 0: one bucket per element. Asynchronous. Throws
  /// argument_error for impossible counts.
  void build(const Context& context, const std::uint64_t* keys, std::size_t count, std::size_t bucket_count = 0);
  /// Synchronizes. Throws overflow_error if buckets of a fixed capacity were too small, with the capacity that would
  /// have sufficed.
  void check(const Context& context);

  /// Valid until the next build, and as long as the keys. Throws argument_error when nothing has been built, or the
  /// last check has thrown.
  [[nodiscard]] view_type view() const {
    faults_.require_usable();
    return {buckets_.view(), {keys_, static_cast<std::uint32_t>(bucket_count_)}};
  }
  [[nodiscard]] std::size_t bucket_count() const { return bucket_count_; }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] std::size_t bytes() const { return buckets_.bytes() + faults_.bytes(); }

 private:
  Buckets buckets_;
  detail::build_faults<Context> faults_;
  const std::uint64_t* keys_ = nullptr;
  std::size_t bucket_count_ = 1;
};

}  // namespace quadrat
