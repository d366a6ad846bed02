// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "mesh/sparse/rows.hpp"
#include "parallel/bitonic_sort.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

constexpr unsigned row_warps = 8;
/// Bytes of entries that a block sorts in shared memory; a warp of short rows has 1/16 of it.
constexpr unsigned block_bytes = 32'768;
constexpr unsigned block_threads = 512;
/// Blocks that look for long rows: several per multiprocessor.
constexpr std::size_t long_row_blocks = 2048;

/// By column, then by the bits of the weight.
struct comes_first {
  __device__ bool operator()(const mesh_entry<float>& a, const mesh_entry<float>& b) const {
    if (a.column != b.column) return a.column < b.column;
    return __float_as_uint(a.weight) < __float_as_uint(b.weight);
  }
  __device__ bool operator()(const mesh_entry<double>& a, const mesh_entry<double>& b) const {
    if (a.column != b.column) return a.column < b.column;
    return __double_as_longlong(a.weight) < __double_as_longlong(b.weight);
  }
};

template <typename T>
constexpr unsigned warp_entries = block_bytes / 2 / row_warps / sizeof(mesh_entry<T>);
template <typename T>
constexpr unsigned block_entries = block_bytes / sizeof(mesh_entry<T>);

/// One warp per row; rows too long for it are left.
template <typename T>
__global__ void __launch_bounds__(32 * row_warps) order_short_rows(mesh_rows<T> rows) {
  __shared__ mesh_entry<T> shared[row_warps][warp_entries<T>];
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * row_warps + threadIdx.x / 32;
  if (row >= rows.rows) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t length = rows.offsets[row + 1] - rows.offsets[row];
  if (length < 2 || length > warp_entries<T>) return;
  mesh_entry<T>* entries = rows.entries + rows.offsets[row];
  mesh_entry<T>* staged = shared[threadIdx.x / 32];
  for (unsigned e = lane; e < length; e += 32) staged[e] = entries[e];
  __syncwarp();
  bitonic_sort(staged, length, lane, 32, comes_first{}, [] { __syncwarp(); });
  for (unsigned e = lane; e < length; e += 32) entries[e] = staged[e];
}

/// One block per row: in shared memory, or in place if it does not fit there.
template <typename T>
__device__ void order_long_row(mesh_entry<T>* entries, std::uint64_t length, mesh_entry<T>* staged) {
  if (length > block_entries<T>) {
    bitonic_sort(entries, length, threadIdx.x, block_threads, comes_first{}, [] { __syncthreads(); });
    return;
  }
  for (unsigned e = threadIdx.x; e < length; e += block_threads) staged[e] = entries[e];
  __syncthreads();
  bitonic_sort(staged, length, threadIdx.x, block_threads, comes_first{}, [] { __syncthreads(); });
  for (unsigned e = threadIdx.x; e < length; e += block_threads) entries[e] = staged[e];
  __syncthreads();
}

/// Blocks look for the rows that warps have left, `span` rows at a time.
template <typename T>
__global__ void __launch_bounds__(block_threads) order_long_rows(mesh_rows<T> rows, unsigned span) {
  __shared__ mesh_entry<T> staged[block_entries<T>];
  __shared__ std::size_t found[block_threads];
  __shared__ unsigned found_count;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * span;
  for (std::size_t base = static_cast<std::size_t>(blockIdx.x) * span; base < rows.rows; base += stride) {
    if (threadIdx.x == 0) found_count = 0;
    __syncthreads();
    const std::size_t mine = base + threadIdx.x;
    if (threadIdx.x < span && mine < rows.rows && rows.offsets[mine + 1] - rows.offsets[mine] > warp_entries<T>) {
      found[atomicAdd(&found_count, 1u)] = mine;
    }
    __syncthreads();
    const unsigned count = found_count;
    for (unsigned r = 0; r < count; ++r) {
      const std::uint64_t first = rows.offsets[found[r]];
      order_long_row(rows.entries + first, rows.offsets[found[r] + 1] - first, staged);
    }
    __syncthreads();
  }
}

}  // namespace

template <typename T>
void order_rows(const cuda_context& context, const mesh_rows<T>& rows) {
  if (rows.rows == 0) return;
  const cuda_launch launch(context, "mesh.order_rows");
  order_short_rows<T><<<cuda_launch::blocks(rows.rows, row_warps), 32 * row_warps, 0, context.stream()>>>(rows);
  launch.check();
  const std::size_t span = std::clamp<std::size_t>(rows.rows / long_row_blocks, 1, block_threads);
  const unsigned blocks = static_cast<unsigned>(std::min((rows.rows + span - 1) / span, long_row_blocks));
  order_long_rows<T><<<blocks, block_threads, 0, context.stream()>>>(rows, static_cast<unsigned>(span));
  launch.check();
}

template void order_rows(const cuda_context&, const mesh_rows<float>&);
template void order_rows(const cuda_context&, const mesh_rows<double>&);

}  // namespace quadrat::detail
