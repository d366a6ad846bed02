// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace quadrat::bench {

/// Orders of keys. The first three are those of voting-and-shuffling, "Performance tests".
inline constexpr std::array<std::string_view, 10> key_orders{
    "random",           // uniform
    "ordered",          // the same, sorted
    "shifted",          // ordered, then moved by 1 along each axis of a periodic grid of cells with probability 1/2
    "one_key",          // all equal, the middle key
    "zipf",             // the r-th most frequent key appears about 1 / r as often as the first
    "sorted_blocks",    // random, each block of 4096 elements sorted
    "shuffled_blocks",  // ordered, the blocks of 256 elements in random order
    "runs",             // random, each key repeated eight times
    "nearly_ordered",   // ordered, one in a hundred swapped with a random one
    "round_robin"       // 0, 1, 2, ..., then again from 0
};

/// Keys from 0 to key_count - 1 for n elements, determined by the arguments. Throws argument_error for an unknown
/// order, or no keys.
[[nodiscard]] std::vector<std::uint32_t> make_keys(std::string_view order, std::size_t n, std::uint32_t key_count,
                                                   std::uint64_t seed = 61);

/// The grid of cells for `shifted`, whose cells are numbered by key, x fastest. It is as near to a cube as the divisors
/// of key_count allow.
[[nodiscard]] std::array<std::uint32_t, 3> key_grid(std::uint32_t key_count);

}  // namespace quadrat::bench
