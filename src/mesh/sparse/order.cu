// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "mesh/sparse/rows.hpp"
#include "parallel/bitonic_sort.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

constexpr unsigned row_warps = 8;
/// Rows per warp: most rows are empty, and in crowds several warps share the long rows.
constexpr unsigned rows_a_warp = 8;
/// Bytes of entries that a block sorts in shared memory.
constexpr unsigned block_bytes = 32'768;
constexpr unsigned block_threads = 512;
/// Blocks that sort long rows: several per multiprocessor.
constexpr std::size_t long_row_blocks = 2048;

/// The order by column, then by the bits of the weight.
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
constexpr unsigned block_entries = block_bytes / sizeof(mesh_entry<T>);

/// Sorts a row in this warp's shared memory.
template <typename T>
__device__ void order_short_row(mesh_entry<T>* entries, unsigned length, mesh_entry<T>* staged) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned e = lane; e < length; e += 32) staged[e] = entries[e];
  __syncwarp();
  bitonic_sort(staged, length, lane, 32, comes_first{}, [] { __syncwarp(); });
  for (unsigned e = lane; e < length; e += 32) entries[e] = staged[e];
  __syncwarp();
}

/// A warp takes the rows among `rows_a_warp` that it can sort.
template <typename T>
__global__ void __launch_bounds__(32 * row_warps) order_short_rows(mesh_rows<T> rows) {
  __shared__ mesh_entry<T> shared[row_warps][most_sorted_by_warp<T>];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::size_t first = (static_cast<std::size_t>(blockIdx.x) * row_warps + warp) * rows_a_warp;
  const std::size_t mine = first + lane;
  const bool has_row = lane < rows_a_warp && mine < rows.rows;
  const std::uint64_t begin = has_row ? rows.offsets[mine] : 0;
  const std::uint64_t length = has_row ? rows.offsets[mine + 1] - begin : 0;
  for (unsigned rest = __ballot_sync(~0u, length >= 2 && length <= most_sorted_by_warp<T>); rest != 0;
       rest &= rest - 1) {
    const int source = __ffs(static_cast<int>(rest)) - 1;
    order_short_row(rows.entries + __shfl_sync(~0u, begin, source),
                    __shfl_sync(~0u, static_cast<unsigned>(length), source), shared[warp]);
  }
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

/// Blocks share the listed rows that are too long for a warp.
template <typename T>
__global__ void __launch_bounds__(block_threads) order_long_rows(mesh_rows<T> rows, long_row_list long_rows) {
  __shared__ mesh_entry<T> staged[block_entries<T>];
  const std::uint32_t count = *long_rows.count;
  for (std::uint32_t k = blockIdx.x; k < count; k += gridDim.x) {
    const std::size_t row = long_rows.rows[k];
    const std::uint64_t first = rows.offsets[row], length = rows.offsets[row + 1] - first;
    if (length > most_sorted_by_warp<T>) order_long_row(rows.entries + first, length, staged);
  }
}

}  // namespace

template <typename T>
void order_rows(const cuda_context& context, const listed_rows<T>& all) {
  const mesh_rows<T>& rows = all.rows;
  if (rows.rows == 0) return;
  const cuda_launch launch(context, "mesh.order_rows");
  order_short_rows<T>
      <<<cuda_launch::blocks(rows.rows, row_warps * rows_a_warp), 32 * row_warps, 0, context.stream()>>>(rows);
  launch.check();
  if (all.long_rows.capacity == 0) return;
  const auto blocks = static_cast<unsigned>(std::min(all.long_rows.capacity, long_row_blocks));
  order_long_rows<T><<<blocks, block_threads, 0, context.stream()>>>(rows, all.long_rows);
  launch.check();
}

template void order_rows(const cuda_context&, const listed_rows<float>&);
template void order_rows(const cuda_context&, const listed_rows<double>&);

}  // namespace quadrat::detail
