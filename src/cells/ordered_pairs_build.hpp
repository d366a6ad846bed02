// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "quadrat/cells/detail/ordered_pairs.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

template <typename KeyOf, typename Key>
struct write_pairs {
  KeyOf key_of;
  Key* keys;
  std::uint32_t* elements;  ///< nullptr if the sort generates them

  QUADRAT_HD void operator()(std::size_t i) const {
    keys[i] = key_of(i);
    if (elements != nullptr) elements[i] = static_cast<std::uint32_t>(i);
  }
};

template <typename Context, typename Key>
void ordered_pairs<Context, Key>::reserve(const Context& context, std::size_t count, std::uint64_t bucket_count) {
  for (int copy = 0; copy < 2; ++copy) {
    keys_[copy].resize_discarding(context, count);
    elements_[copy].resize_discarding(context, count);
  }
  static_cast<void>(scratch_.request(context, sort_scratch_bytes<Key>(context, count, key_bits_for(bucket_count))));
}

template <typename Context, typename Key>
template <typename KeyOf>
void ordered_pairs<Context, Key>::make(const Context& context, std::size_t count, std::uint64_t bucket_count,
                                       const KeyOf& key_of) {
  for (int copy = 0; copy < 2; ++copy) {
    keys_[copy].resize_discarding(context, count);
    elements_[copy].resize_discarding(context, count);
  }
  // On a GPU, elements are written with the keys, which saves a launch. The CPU's sort generates them in its first
  // pass.
  constexpr bool made_up = std::is_same_v<Context, cpu_context>;
  const write_pairs<KeyOf, Key> body{key_of, keys_[0].data(), made_up ? nullptr : elements_[0].data()};
  for_each(context, "cells.write_pairs", count, body);
  const sort_buffers<Key> buffers{{keys_[0].data(), keys_[1].data()}, {elements_[0].data(), elements_[1].data()}};
  current_ = sort_pairs(context, buffers, count, key_bits_for(bucket_count), scratch_,
                        made_up ? sort_values::index : sort_values::given);
}

/// Whether element k of sorted keys is the first of its bucket, and whether it is the last.
template <typename Key>
QUADRAT_HD bool first_of_bucket(const Key* keys, std::size_t k) {
  return k == 0 || keys[k - 1] != keys[k];
}
template <typename Key>
QUADRAT_HD bool last_of_bucket(const Key* keys, std::size_t k, std::size_t count) {
  return k + 1 == count || keys[k + 1] != keys[k];
}

}  // namespace quadrat::detail
