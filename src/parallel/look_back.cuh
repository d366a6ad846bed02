// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "parallel/look_back.hpp"

/// The sum over all blocks before this one, in one launch: decoupled look-back (Merrill and Garland, *Single-pass
/// Parallel Prefix Scan with Decoupled Look-back*, 2016). A block waits only for blocks with smaller numbers, which
/// start earlier.
namespace quadrat::detail {

inline constexpr unsigned look_back_sum_bits = 48, look_back_flag_bits = 2;

/// To be called before any block publishes its sum.
[[nodiscard]] __device__ inline std::uint64_t next_round(const look_back_state& state) {
  constexpr std::uint64_t rounds = std::uint64_t{1} << (64 - look_back_sum_bits - look_back_flag_bits);
  return (*static_cast<const volatile std::uint64_t*>(state.round) + 1) % rounds;
}

/// To be called by one warp. Publishes the block's sum and returns that of all blocks before it. Writes of this warp
/// before the call are visible to other blocks once they see the sum.
__device__ inline std::uint64_t look_back(const look_back_state& state, std::uint64_t round, std::uint64_t sum) {
  enum flag : std::uint64_t { of_block = 1, up_to_its_end = 2 };
  constexpr unsigned round_shift = look_back_sum_bits + look_back_flag_bits;
  const unsigned lane = threadIdx.x % 32, block = blockIdx.x;
  volatile std::uint64_t* words = state.words;
  const auto word_of = [&](flag what, std::uint64_t value) {
    return round << round_shift | static_cast<std::uint64_t>(what) << look_back_sum_bits | value;
  };
  __threadfence();
  if (lane == 0) words[block] = word_of(block == 0 ? up_to_its_end : of_block, sum);
  std::uint64_t before = 0;
  for (int at = static_cast<int>(block) - 1 - static_cast<int>(lane); block > 0; at -= 32) {
    std::uint64_t word = word_of(up_to_its_end, 0);  // before the first block
    while (at >= 0) {
      word = words[at];
      if (word >> round_shift == round) break;
    }
    const unsigned ended = __ballot_sync(~0u, (word >> look_back_sum_bits & up_to_its_end) != 0);
    const unsigned nearest = ended == 0 ? 31 : static_cast<unsigned>(__ffs(static_cast<int>(ended))) - 1;
    std::uint64_t part = lane <= nearest ? word & ((std::uint64_t{1} << look_back_sum_bits) - 1) : 0;
    for (int distance = 16; distance > 0; distance /= 2) part += __shfl_xor_sync(~0u, part, distance);
    before += part;
    if (ended != 0) break;
  }
  if (lane == 0 && block > 0) words[block] = word_of(up_to_its_end, before + sum);
  // The last block is done only after all others have published their sums, and so have read the round.
  if (lane == 0 && block == gridDim.x - 1) *state.round = round;
  __threadfence();
  return before;
}

}  // namespace quadrat::detail
