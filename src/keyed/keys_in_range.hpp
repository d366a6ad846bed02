// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Finds the elements of a range of keys, on a CPU's vector units.
namespace quadrat::detail {

/// The number of keys of a call is a multiple of this.
inline constexpr std::size_t keys_a_step = 16;

/// Writes j for each of keys[j] in [first, last), j < count, in order, and returns their number. Count: a multiple of
/// keys_a_step. `places` must have room for keys_a_step more.
template <typename Key>
using keys_in_range_function = std::size_t (*)(const Key* keys, std::size_t count, Key first, Key last,
                                               std::uint32_t* places);

/// In plain C++, for any count.
template <typename Key>
std::size_t keys_in_range_plain(const Key* keys, std::size_t count, Key first, Key last, std::uint32_t* places) {
  std::size_t found = 0;
  for (std::size_t j = 0; j < count; ++j) {
    places[found] = static_cast<std::uint32_t>(j);
    found += static_cast<Key>(keys[j] - first) < static_cast<Key>(last - first) ? 1 : 0;
  }
  return found;
}

/// The variants that this CPU can run, fastest first. Key: std::uint32_t or std::uint64_t.
template <typename Key>
[[nodiscard]] std::vector<keys_in_range_function<Key>> keys_in_range_functions();

}  // namespace quadrat::detail
