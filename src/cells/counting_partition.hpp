// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "parallel/range_partition.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/types.hpp"

/// Counting in two levels, for CUDA: elements are first grouped by ranges of buckets, through shared memory, so that
/// whole runs are written contiguously; then one block per range counts, scans and places them in shared memory. Three
/// kernels, one atomic operation in global memory per block and range, and no scattered writes. On an H200 with 2^18
/// buckets and points in random order: 0.028 ms for 2^20 points instead of 0.044 by count, scan and scatter, and 0.44
/// instead of 0.75 for 2^24.
namespace quadrat::detail {

/// The most buckets of a range: a block counts them in shared memory.
inline constexpr std::uint32_t partition_most_buckets = 32768;

struct partition_buffers {
  partition_control* control;
  std::uint32_t* keys;      ///< by element
  std::uint16_t* low_keys;  ///< grouped: bucket within its range
  particle_id* grouped;     ///< elements grouped by range
  std::uint32_t* offsets;   ///< result: first slot of each bucket, and the end
  particle_id* elements;    ///< result: by slot
  std::uint32_t count;
  std::uint32_t bucket_count;
  unsigned shift;  ///< a range is 2^shift buckets
};

/// Whether two levels are possible and faster.
[[nodiscard]] constexpr bool partition_pays(std::size_t count, std::size_t bucket_count) {
  return count >= partition_least && bucket_count <= std::size_t{partition_ranges} * partition_most_buckets;
}

/// The second and third kernel: from keys and counts to offsets and elements. Asynchronous.
void place_partitioned(const cuda_context& context, const partition_buffers& buffers);

}  // namespace quadrat::detail
