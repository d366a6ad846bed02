// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// The primitives of parallel/ in a few serial lines, obviously right.

namespace quadrat::reference {

/// count + 1 entries: the sums before each element, then the sum of all.
template <typename Out, typename In>
[[nodiscard]] std::vector<Out> exclusive_scan_with_total(const std::vector<In>& in) {
  std::vector<Out> out(1, Out{0});
  for (const In value : in) out.push_back(static_cast<Out>(out.back() + value));
  return out;
}

/// Stable sort of (key, value) pairs by the lowest bits of the key.
template <typename Key>
void sort_pairs(std::vector<Key>& keys, std::vector<std::uint32_t>& values, int key_bits) {
  std::vector<std::pair<Key, std::uint32_t>> pairs;
  for (std::size_t i = 0; i < keys.size(); ++i) pairs.emplace_back(keys[i], values[i]);
  const Key mask = key_bits == 0 ? Key{0} : static_cast<Key>(~Key{0}) >> (8 * sizeof(Key) - std::size_t(key_bits));
  std::stable_sort(pairs.begin(), pairs.end(),
                   [mask](const auto& a, const auto& b) { return (a.first & mask) < (b.first & mask); });
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = pairs[i].first;
    values[i] = pairs[i].second;
  }
}

/// join(...join(join(identity, values[0]), values[1])...).
template <typename T, typename Operation>
[[nodiscard]] T reduce(const std::vector<T>& values, T identity, const Operation& join) {
  T result = identity;
  for (const T& value : values) result = join(result, value);
  return result;
}

}  // namespace quadrat::reference
