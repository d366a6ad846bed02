// SPDX-License-Identifier: BSD-3-Clause
#include "search/sort.hpp"

#include <algorithm>

#include "parallel/bitonic_sort.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

constexpr unsigned row_warps = 8;
/// The most keys that a warp sorts in its part of shared memory.
constexpr unsigned warp_keys = 128;
/// The most keys that a block sorts in shared memory; longer rows are sorted in place in global memory.
constexpr unsigned block_keys = 4096;
constexpr unsigned block_threads = 512;

/// A warp per row; longer rows are skipped.
template <typename Order>
__global__ void __launch_bounds__(32 * row_warps) sort_short_rows(key_rows rows, Order order) {
  __shared__ std::uint64_t shared[row_warps][warp_keys];
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * row_warps + threadIdx.x / 32;
  if (row >= rows.rows) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t length = rows.length(row);
  if (length < 2 || length > warp_keys) return;
  std::uint64_t* keys = rows.keys + rows.begin(row);
  std::uint64_t* staged = shared[threadIdx.x / 32];
  for (unsigned k = lane; k < length; k += 32) staged[k] = keys[k];
  __syncwarp();
  bitonic_sort(staged, length, lane, 32, order.of_row(row), [] { __syncwarp(); });
  for (unsigned k = lane; k < length; k += 32) keys[k] = staged[k];
}

/// Blocks look for the skipped rows, and sort them one by one.
template <typename Order>
__global__ void __launch_bounds__(block_threads) sort_long_rows(key_rows rows, Order order) {
  __shared__ std::uint64_t staged[block_keys];
  __shared__ std::size_t found[block_threads];
  __shared__ unsigned found_count;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * block_threads;
  for (std::size_t base = static_cast<std::size_t>(blockIdx.x) * block_threads; base < rows.rows; base += stride) {
    if (threadIdx.x == 0) found_count = 0;
    __syncthreads();
    const std::size_t mine = base + threadIdx.x;
    if (mine < rows.rows && rows.length(mine) > warp_keys) found[atomicAdd(&found_count, 1u)] = mine;
    __syncthreads();
    const unsigned count = found_count;
    for (unsigned k = 0; k < count; ++k) {
      std::uint64_t* keys = rows.keys + rows.begin(found[k]);
      const std::uint64_t length = rows.length(found[k]);
      const bool fits = length <= block_keys;
      if (fits) {
        for (std::uint64_t at = threadIdx.x; at < length; at += block_threads) staged[at] = keys[at];
        __syncthreads();
      }
      bitonic_sort(fits ? staged : keys, length, threadIdx.x, block_threads, order.of_row(found[k]),
                   [] { __syncthreads(); });
      if (fits) {
        for (std::uint64_t at = threadIdx.x; at < length; at += block_threads) keys[at] = staged[at];
        __syncthreads();
      }
    }
    __syncthreads();
  }
}

}  // namespace

template <typename Order>
void sort_rows(const cuda_context& context, const key_rows& rows, const Order& order) {
  if (rows.rows == 0) return;
  const cuda_launch launch(context, "search.sort_rows");
  sort_short_rows<<<cuda_launch::blocks(rows.rows, row_warps), 32 * row_warps, 0, context.stream()>>>(rows, order);
  launch.check();
  const unsigned blocks = std::min(cuda_launch::blocks(rows.rows, block_threads), 512u);
  sort_long_rows<<<blocks, block_threads, 0, context.stream()>>>(rows, order);
  launch.check();
}

template void sort_rows(const cuda_context&, const key_rows&, const key_order&);
template void sort_rows(const cuda_context&, const key_rows&, const given_order<2>&);
template void sort_rows(const cuda_context&, const key_rows&, const given_order<3>&);

}  // namespace quadrat::detail
