// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "parallel/partition.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

/// Throws argument_error for invalid arguments of a sort.
template <typename Key>
void require_sort_fits(std::size_t count, int key_bits) {
  constexpr int most_bits = static_cast<int>(8 * sizeof(Key));
  require_count_fits("sort_pairs", count);
  require(key_bits >= 0 && key_bits <= most_bits, "sort_pairs was asked to look at ", key_bits,
          " bits of its keys; they have ", most_bits);
}

/// Sorts in place with `sort(buffers, temporary)`, which returns the buffer that holds the result. The second buffer
/// and `temporary_bytes` come from the scratch memory.
template <typename Context, typename Key, typename Sort>
void sort_in_place(const Context& context, Key* keys, std::uint32_t* values, std::size_t count,
                   std::size_t temporary_bytes, workspace<Context>& scratch, const Sort& sort) {
  const std::size_t key_bytes = aligned_bytes(count * sizeof(Key));
  const std::size_t value_bytes = aligned_bytes(count * sizeof(std::uint32_t));
  std::byte* memory = scratch.request(context, key_bytes + value_bytes + temporary_bytes);
  auto* other_keys = reinterpret_cast<Key*>(memory);
  auto* other_values = reinterpret_cast<std::uint32_t*>(memory + key_bytes);
  const sort_buffers<Key> buffers{{keys, other_keys}, {values, other_values}};
  if (sort(buffers, memory + key_bytes + value_bytes) == 0) return;
  copy_bytes(context, other_keys, keys, count * sizeof(Key));
  copy_bytes(context, other_values, values, count * sizeof(std::uint32_t));
}

}  // namespace quadrat::detail
