// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "mesh/sparse/load.cuh"
#include "mesh/sparse/single_mesh.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

/// Sums over the `unit` lanes that share a row, by a binomial tree; the first of them gets the sum. Both reductions add
/// in the same order.
template <unit_reduction Reduction, typename T>
__device__ T join(T sum, unsigned lane, unsigned unit, T* shared) {
  if constexpr (Reduction == unit_reduction::shuffle) {
    for (unsigned step = unit / 2; step > 0; step /= 2) {
      sum += __shfl_down_sync(0xffffffffu, sum, step, static_cast<int>(unit));
    }
  } else {
    shared[threadIdx.x] = sum;
    for (unsigned step = unit / 2; step > 0; step /= 2) {
      __syncwarp();
      if (lane < step) shared[threadIdx.x] += shared[threadIdx.x + step];
    }
    sum = shared[threadIdx.x];
  }
  return sum;
}

/// The sum of the entries from `begin` to `end`, `step` apart, of a row.
template <int Channels, typename T>
__device__ void add_entries(const mesh_entry<T>* entries, const channel_pair<T>& channels, std::uint64_t begin,
                            std::uint64_t end, unsigned step, T (&sum)[Channels]) {
#pragma unroll 4
  for (std::uint64_t e = begin; e < end; e += step) {
    const mesh_entry<T> entry = load_once(entries + e);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      sum[c] += entry.weight * __ldg(channels.value[c] + entry.column * channels.stride);
    }
  }
}

/// Joins the sums of the `unit` lanes that share a row; the first of them stores them.
template <unit_reduction Reduction, typename T, int Channels>
__device__ void store_row(const channel_pair<T>& channels, std::size_t row, bool stores, unsigned lane, unsigned unit,
                          T (&sum)[Channels], T* shared) {
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    sum[c] = join<Reduction>(sum[c], lane, unit, shared);
    if (stores) channels.store(c, row, sum[c]);
    if constexpr (Reduction == unit_reduction::shared_memory) __syncwarp();
  }
}

/// Listed rows that a block takes at a time.
constexpr unsigned most_rows_of_block = 64;
constexpr unsigned block_warps = cuda_launch::block / warp_threads;

struct row_span {
  std::size_t row;
  std::uint64_t begin, end;
};

/// Multiplies a row with this warp.
template <typename T, int Channels, unit_reduction Reduction>
__device__ void multiply_by_warp(const mesh_rows<T>& rows, const channel_pair<T>& channels, const row_span& span,
                                 T* shared) {
  const unsigned lane = threadIdx.x % warp_threads;
  T sum[Channels] = {};
  add_entries(rows.entries, channels, span.begin + lane, span.end, warp_threads, sum);
  store_row<Reduction>(channels, span.row, lane == 0, lane, warp_threads, sum, shared);
}

/// Multiplies a row with this block.
template <typename T, int Channels, unit_reduction Reduction>
__device__ void multiply_by_block(const mesh_rows<T>& rows, const channel_pair<T>& channels, const row_span& span,
                                  T* shared) {
  __shared__ T parts[Channels][block_warps];
  const unsigned warp = threadIdx.x / warp_threads, lane = threadIdx.x % warp_threads;
  T sum[Channels] = {};
  add_entries(rows.entries, channels, span.begin + threadIdx.x, span.end, cuda_launch::block, sum);
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    const T all = join<Reduction>(sum[c], lane, warp_threads, shared);
    if (lane == 0) parts[c][warp] = all;
    if constexpr (Reduction == unit_reduction::shared_memory) __syncwarp();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int c = 0; c < Channels; ++c) {
      T all = parts[c][0];
      for (unsigned w = 1; w < block_warps; ++w) all += parts[c][w];
      channels.store(c, span.row, all);
    }
  }
  __syncthreads();
}

template <typename T>
__device__ row_span span_of(const listed_rows<T>& all, std::uint64_t k) {
  const std::size_t row = all.long_rows.rows[k];
  return {row, all.rows.offsets[row], all.rows.offsets[row + 1]};
}

/// Multiplies the listed rows for warps: up to `most_rows_of_block` at a time for each of the first `blocks` blocks, or
/// fewer if there are not enough for all.
template <typename T, int Channels, unit_reduction Reduction>
__device__ void multiply_rows_of_warps(const listed_rows<T>& all, const channel_pair<T>& channels,
                                       std::uint32_t most_alone, unsigned blocks, row_span* spans, T* shared) {
  const std::uint32_t count = *all.long_rows.count;
  const unsigned fair = min(max((count + blocks - 1) / blocks, block_warps), most_rows_of_block);
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * fair; base < count; base += std::uint64_t{blocks} * fair) {
    const unsigned here = min(fair, static_cast<unsigned>(count - base));
    if (threadIdx.x < here) spans[threadIdx.x] = span_of(all, base + threadIdx.x);
    __syncthreads();
    for (unsigned k = threadIdx.x / warp_threads; k < here; k += block_warps) {
      const std::uint64_t length = spans[k].end - spans[k].begin;
      if (length <= most_alone || length > most_entries_of_warp) continue;
      multiply_by_warp<T, Channels, Reduction>(all.rows, channels, spans[k], shared);
    }
    __syncthreads();
  }
}

/// Multiplies the listed rows for blocks. Neighbors in the list go to different blocks, since a few rows may be most of
/// the work.
template <typename T, int Channels, unit_reduction Reduction>
__device__ void multiply_rows_of_blocks(const listed_rows<T>& all, const channel_pair<T>& channels,
                                        std::uint32_t most_alone, unsigned blocks, row_span* spans, T* shared) {
  __shared__ unsigned found;
  const std::uint32_t count = *all.long_rows.count;
  for (std::uint64_t base = blockIdx.x; base < count; base += std::uint64_t{blocks} * most_rows_of_block) {
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    const std::uint64_t k = base + std::uint64_t{threadIdx.x} * blocks;
    if (threadIdx.x < most_rows_of_block && k < count) {
      const row_span span = span_of(all, k);
      if (span.end - span.begin > max(most_alone, most_entries_of_warp)) spans[atomicAdd(&found, 1u)] = span;
    }
    __syncthreads();
    for (unsigned i = 0; i < found; ++i) {
      multiply_by_block<T, Channels, Reduction>(all.rows, channels, spans[i], shared);
    }
    __syncthreads();
  }
}

/// 2^unit_bits threads per row. The first blocks take rows with more than `most_alone` entries, because these would
/// finish last. No thread of a warp returns early, because all take part in shuffles.
template <typename T, int Channels, unit_reduction Reduction>
__global__ void __launch_bounds__(cuda_launch::block)
    multiply_kernel(const __grid_constant__ listed_rows<T> all, const __grid_constant__ channel_pair<T> channels,
                    unsigned unit_bits, std::uint32_t most_alone, unsigned long_row_blocks) {
  __shared__ T shared[Reduction == unit_reduction::shared_memory ? cuda_launch::block : 1];
  if (blockIdx.x < long_row_blocks) {
    __shared__ row_span spans[most_rows_of_block];
    multiply_rows_of_warps<T, Channels, Reduction>(all, channels, most_alone, long_row_blocks, spans, shared);
    multiply_rows_of_blocks<T, Channels, Reduction>(all, channels, most_alone, long_row_blocks, spans, shared);
    return;
  }
  const mesh_rows<T>& rows = all.rows;
  const std::size_t thread = static_cast<std::size_t>(blockIdx.x - long_row_blocks) * cuda_launch::block + threadIdx.x;
  const std::size_t row = thread >> unit_bits;
  const unsigned unit = 1u << unit_bits;
  const unsigned lane = threadIdx.x & (unit - 1);
  const std::uint64_t begin = row < rows.rows ? rows.offsets[row] : 0;
  const std::uint64_t end = row < rows.rows ? rows.offsets[row + 1] : 0;
  const bool is_long = end - begin > most_alone;
  T sum[Channels] = {};
  add_entries(rows.entries, channels, begin + lane, is_long ? 0 : end, unit, sum);
  store_row<Reduction>(channels, row, lane == 0 && row < rows.rows && !is_long, lane, unit, sum, shared);
}

template <int Channels, unit_reduction Reduction, typename T>
void launch_product(const cuda_context& context, const listed_rows<T>& all, const channel_pair<T>& channels,
                    const row_threads& threads) {
  constexpr std::size_t blocks_a_multiprocessor = 4;
  const cuda_launch launch(context, "mesh.multiply_rows");
  unsigned bits = 0;
  while ((1 << bits) < threads.unit) ++bits;
  const bool any_long = threads.most_alone != long_row_list::none;
  const std::size_t capacity = any_long ? all.long_rows.capacity : 0;
  const auto long_row_blocks =
      static_cast<unsigned>(std::min((capacity + block_warps - 1) / block_warps,
                                     blocks_a_multiprocessor * static_cast<std::size_t>(context.multiprocessors())));
  multiply_kernel<T, Channels, Reduction>
      <<<cuda_launch::blocks(all.rows.rows << bits) + long_row_blocks, cuda_launch::block, 0, context.stream()>>>(
          all, channels, bits, threads.most_alone, long_row_blocks);
  launch.check();
}

}  // namespace

template <typename T>
void multiply_rows(const cuda_context& context, const listed_rows<T>& all, const channel_pair<T>& channels,
                   const row_threads& threads) {
  if (all.rows.rows == 0) return;
  constexpr auto shuffle = unit_reduction::shuffle;
  constexpr auto shared_memory = unit_reduction::shared_memory;
  if (threads.reduction == shuffle) {
    if (channels.count == 1) return launch_product<1, shuffle>(context, all, channels, threads);
    return launch_product<2, shuffle>(context, all, channels, threads);
  }
  if (channels.count == 1) return launch_product<1, shared_memory>(context, all, channels, threads);
  launch_product<2, shared_memory>(context, all, channels, threads);
}

template void multiply_rows(const cuda_context&, const listed_rows<float>&, const channel_pair<float>&,
                            const row_threads&);
template void multiply_rows(const cuda_context&, const listed_rows<double>&, const channel_pair<double>&,
                            const row_threads&);

}  // namespace quadrat::detail
