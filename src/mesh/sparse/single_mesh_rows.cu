// SPDX-License-Identifier: BSD-3-Clause
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

/// What the entries from `begin` to `end` add to a row, `step` entries apart.
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

/// 2^unit_bits threads per row. Rows that have more than `most_alone` entries for each of these are taken by the whole
/// warp, one after another: where points crowd they would hold up everything else. All threads of a warp stay to the
/// end, because they shuffle.
template <typename T, int Channels, unit_reduction Reduction>
__global__ void __launch_bounds__(cuda_launch::block)
    multiply_kernel(mesh_rows<T> rows, channel_pair<T> channels, unsigned unit_bits, std::uint64_t most_alone) {
  __shared__ T shared[Reduction == unit_reduction::shared_memory ? cuda_launch::block : 1];
  const std::size_t thread = static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x;
  const std::size_t row = thread >> unit_bits;
  const unsigned unit = 1u << unit_bits;
  const unsigned lane = threadIdx.x & (unit - 1);
  const std::uint64_t begin = row < rows.rows ? rows.offsets[row] : 0;
  const std::uint64_t end = row < rows.rows ? rows.offsets[row + 1] : 0;
  const bool is_long = end - begin > most_alone << unit_bits;
  T sum[Channels] = {};
  add_entries(rows.entries, channels, begin + lane, is_long ? 0 : end, unit, sum);
  store_row<Reduction>(channels, row, lane == 0 && row < rows.rows && !is_long, lane, unit, sum, shared);
  const unsigned in_warp = threadIdx.x % warp_threads;
  for (unsigned rest = __ballot_sync(~0u, is_long && lane == 0); rest != 0; rest &= rest - 1) {
    const auto first = static_cast<unsigned>(__ffs(static_cast<int>(rest)) - 1);  // lane of the row
    const std::size_t joint = row - (in_warp >> unit_bits) + (first >> unit_bits);
    T all[Channels] = {};
    add_entries(rows.entries, channels, rows.offsets[joint] + in_warp, rows.offsets[joint + 1], warp_threads, all);
    store_row<Reduction>(channels, joint, in_warp == 0, in_warp, warp_threads, all, shared);
  }
}

template <int Channels, unit_reduction Reduction, typename T>
void launch_product(const cuda_context& context, const mesh_rows<T>& rows, const channel_pair<T>& channels,
                    const row_threads& threads) {
  const cuda_launch launch(context, "mesh.multiply_rows");
  unsigned bits = 0;
  while ((1 << bits) < threads.unit) ++bits;
  multiply_kernel<T, Channels, Reduction>
      <<<cuda_launch::blocks(rows.rows << bits), cuda_launch::block, 0, context.stream()>>>(rows, channels, bits,
                                                                                            threads.most_alone);
  launch.check();
}

}  // namespace

template <typename T>
void multiply_rows(const cuda_context& context, const mesh_rows<T>& rows, const channel_pair<T>& channels,
                   const row_threads& threads) {
  if (rows.rows == 0) return;
  constexpr auto shuffle = unit_reduction::shuffle;
  constexpr auto shared_memory = unit_reduction::shared_memory;
  if (threads.reduction == shuffle) {
    if (channels.count == 1) return launch_product<1, shuffle>(context, rows, channels, threads);
    return launch_product<2, shuffle>(context, rows, channels, threads);
  }
  if (channels.count == 1) return launch_product<1, shared_memory>(context, rows, channels, threads);
  launch_product<2, shared_memory>(context, rows, channels, threads);
}

template void multiply_rows(const cuda_context&, const mesh_rows<float>&, const channel_pair<float>&,
                            const row_threads&);
template void multiply_rows(const cuda_context&, const mesh_rows<double>&, const channel_pair<double>&,
                            const row_threads&);

}  // namespace quadrat::detail
