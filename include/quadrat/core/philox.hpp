// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/core/macros.hpp"

namespace quadrat {

/// Four random words.
struct philox_block {
  std::uint32_t word[4];
};

namespace detail {

[[nodiscard]] QUADRAT_HD inline philox_block philox_round(const philox_block& c, std::uint32_t key0,
                                                          std::uint32_t key1) {
  const std::uint64_t product0 = std::uint64_t{0xd2511f53u} * c.word[0];
  const std::uint64_t product1 = std::uint64_t{0xcd9e8d57u} * c.word[2];
  return {{static_cast<std::uint32_t>(product1 >> 32) ^ c.word[1] ^ key0, static_cast<std::uint32_t>(product1),
           static_cast<std::uint32_t>(product0 >> 32) ^ c.word[3] ^ key1, static_cast<std::uint32_t>(product0)}};
}

}  // namespace detail

/// Philox4x32-10: random words as a function of a counter and a key, without state, the same on the host and on the
/// device. Every counter gives independent words. Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy
/// as 1, 2, 3", SC 2011.
[[nodiscard]] QUADRAT_HD inline philox_block philox(philox_block counter, std::uint64_t key) {
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    counter = detail::philox_round(counter, key0, key1);
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return counter;
}

}  // namespace quadrat
