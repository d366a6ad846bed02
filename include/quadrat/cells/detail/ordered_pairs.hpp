// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/array.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// (key, element) pairs in order of key, then of element. `sorted_buckets` uses them, and so do the other buckets if
/// the context requires reproducible results: the time of a stable radix sort does not depend on how many elements
/// share a bucket, unlike that of sorting each bucket.
template <typename Context, typename Key = std::uint32_t>
class ordered_pairs {
 public:
  /// Makes room for as many elements and buckets.
  void reserve(const Context& context, std::size_t count, std::uint64_t bucket_count);
  /// Does not wait. Calls key_of once per element. Allocates only to grow.
  template <typename KeyOf>
  void make(const Context& context, std::size_t count, std::uint64_t bucket_count, const KeyOf& key_of);

  [[nodiscard]] const Key* keys() const { return keys_[current_].data(); }
  [[nodiscard]] const std::uint32_t* elements() const { return elements_[current_].data(); }
  [[nodiscard]] std::size_t size() const { return elements_[current_].size(); }
  [[nodiscard]] std::size_t bytes() const {
    return keys_[0].bytes() + keys_[1].bytes() + elements_[0].bytes() + elements_[1].bytes() + scratch_.bytes();
  }

 private:
  array<Key, Context> keys_[2];
  array<std::uint32_t, Context> elements_[2];
  workspace<Context> scratch_;
  int current_ = 0;
};

}  // namespace quadrat::detail
