// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

/// Groups elements with integer keys, on CUDA, by ranges of 2^shift consecutive keys. Blocks count the elements of each
/// range, and the last block to finish computes where the ranges begin. Then each block sorts its elements by range in
/// shared memory, reserves room for its run of each range, and writes the runs contiguously. Device functions for these
/// kernels: range_partition.cuh.
namespace quadrat::detail {

/// Number of ranges, and threads of a block: each thread plans one range.
inline constexpr std::uint32_t partition_ranges = 512;
/// With fewer elements the launches take longer than the work.
inline constexpr std::size_t partition_least = 200'000;

/// The words that blocks share. The totals and `done` must be zero at first, and are zero again afterwards; the other
/// words may have any value.
struct partition_control {
  std::uint32_t totals[partition_ranges];     ///< elements of each range
  std::uint32_t first[partition_ranges + 1];  ///< the first grouped element of each range, and their number
  std::uint32_t next_free[partition_ranges];  ///< the next free place among the grouped elements
  std::uint32_t done;                         ///< blocks that have counted
};

/// The smallest shift with which the ranges cover this many keys.
[[nodiscard]] constexpr unsigned partition_shift(std::size_t keys) {
  unsigned shift = 0;
  while (keys > std::size_t{partition_ranges} << shift) ++shift;
  return shift;
}

}  // namespace quadrat::detail
