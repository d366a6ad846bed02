// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace quadrat::detail {

/// The words of a look-back (look_back.cuh). They must be zero at first, and serve one number of blocks.
struct look_back_state {
  std::uint64_t* words;  ///< by block: round, 14 bits; flag, 2 bits; sum, 48 bits
  std::uint64_t* round;  ///< of the last launch; words of other rounds are ignored, so nothing needs clearing

  /// Places the state in memory for `look_back_words` words.
  static look_back_state in(std::uint64_t* memory, std::size_t blocks) { return {memory, memory + blocks}; }
};

[[nodiscard]] constexpr std::size_t look_back_words(std::size_t blocks) { return blocks + 1; }

}  // namespace quadrat::detail
