// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/array.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// (key, element) pairs in order of key, and of element where keys are equal. `sorted_buckets` is made of them, and so
/// is what the other buckets hold where the context asks for reproducible results: a stable radix sort takes the same
/// time when all elements share one bucket, which sorting inside each bucket would not.
template <typename Context, typename Key = std::uint32_t>
class ordered_pairs {
 public:
  /// Asynchronous. Asks key_of for each element once.
  template <typename KeyOf>
  void make(const Context& context, std::size_t count, std::uint64_t bucket_count, const KeyOf& key_of);

  [[nodiscard]] const Key* keys() const { return keys_[current_].data(); }
  [[nodiscard]] const std::uint32_t* elements() const { return elements_[current_].data(); }
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
