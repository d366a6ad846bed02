// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/context.hpp"
#include "quadrat/core/types.hpp"

/// Counting in two levels, for CUDA: elements are first grouped by ranges of buckets, through shared memory, so that
/// whole runs are written contiguously; then one block per range counts, scans and places them in shared memory. Three
/// kernels, one atomic operation in global memory per block and range, and no scattered writes. On an H200 with 2^18
/// buckets and points in random order: 0.028 ms for 2^20 points instead of 0.044 by count, scan and scatter, and 0.44
/// instead of 0.75 for 2^24.
namespace quadrat::detail {

/// Number of ranges of the first level.
inline constexpr std::uint32_t partition_ranges = 512;
/// The most buckets of a range: a block counts them in shared memory.
inline constexpr std::uint32_t partition_most_buckets = 32768;
/// Words of `control`: counts of ranges, first elements (and the end), next free places, finished blocks. The counts
/// and the last word must be zero before, and are zero again afterwards.
inline constexpr std::size_t partition_control_words = 3 * partition_ranges + 2;

struct partition_buffers {
  std::uint32_t* control;   ///< partition_control_words
  std::uint32_t* keys;      ///< by element
  std::uint16_t* low_keys;  ///< grouped: bucket within its range
  particle_id* grouped;     ///< elements grouped by range
  std::uint32_t* offsets;   ///< result: first slot of each bucket, and the end
  particle_id* elements;    ///< result: by slot
  std::uint32_t count;
  std::uint32_t bucket_count;
  unsigned shift;  ///< a range is 2^shift buckets
};

/// The shift for a number of buckets.
[[nodiscard]] constexpr unsigned partition_shift(std::size_t bucket_count) {
  unsigned shift = 0;
  while (bucket_count > std::size_t{partition_ranges} << shift) ++shift;
  return shift;
}

/// Whether two levels are possible and faster: with few elements, launches dominate.
[[nodiscard]] constexpr bool partition_pays(std::size_t count, std::size_t bucket_count) {
  return count >= 200000 && bucket_count <= std::size_t{partition_ranges} * partition_most_buckets;
}

/// The second and third kernel: from keys and counts to offsets and elements. Asynchronous.
void place_partitioned(const cuda_context& context, const partition_buffers& buffers);

}  // namespace quadrat::detail
