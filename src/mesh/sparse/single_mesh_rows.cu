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

/// 2^unit_bits threads per row. All threads of a warp stay to the end, because they shuffle.
template <typename T, int Channels, unit_reduction Reduction>
__global__ void __launch_bounds__(cuda_launch::block)
    multiply_kernel(mesh_rows<T> rows, channel_pair<T> channels, unsigned unit_bits) {
  __shared__ T shared[Reduction == unit_reduction::shared_memory ? cuda_launch::block : 1];
  const std::size_t thread = static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x;
  const std::size_t row = thread >> unit_bits;
  const unsigned unit = 1u << unit_bits;
  const unsigned lane = threadIdx.x & (unit - 1);
  const std::uint64_t end = row < rows.rows ? rows.offsets[row + 1] : 0;
  const std::uint64_t begin = row < rows.rows ? rows.offsets[row] + lane : 0;
  T sum[Channels] = {};
#pragma unroll 4
  for (std::uint64_t e = begin; e < end; e += unit) {
    const mesh_entry<T> entry = load_once(rows.entries + e);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      sum[c] += entry.weight * __ldg(channels.value[c] + entry.column * channels.stride);
    }
  }
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    sum[c] = join<Reduction>(sum[c], lane, unit, shared);
    if (lane == 0 && row < rows.rows) channels.store(c, row, sum[c]);
    if constexpr (Reduction == unit_reduction::shared_memory) __syncwarp();
  }
}

template <int Channels, unit_reduction Reduction, typename T>
void launch_product(const cuda_context& context, const mesh_rows<T>& rows, const channel_pair<T>& channels, int unit) {
  const cuda_launch launch(context, "mesh.multiply_rows");
  unsigned bits = 0;
  while ((1 << bits) < unit) ++bits;
  multiply_kernel<T, Channels, Reduction>
      <<<cuda_launch::blocks(rows.rows << bits), cuda_launch::block, 0, context.stream()>>>(rows, channels, bits);
  launch.check();
}

}  // namespace

template <typename T>
void multiply_rows(const cuda_context& context, const mesh_rows<T>& rows, const channel_pair<T>& channels, int unit,
                   unit_reduction reduction) {
  if (rows.rows == 0) return;
  constexpr auto shuffle = unit_reduction::shuffle;
  constexpr auto shared_memory = unit_reduction::shared_memory;
  if (reduction == shuffle && channels.count == 1) return launch_product<1, shuffle>(context, rows, channels, unit);
  if (reduction == shuffle) return launch_product<2, shuffle>(context, rows, channels, unit);
  if (channels.count == 1) return launch_product<1, shared_memory>(context, rows, channels, unit);
  launch_product<2, shared_memory>(context, rows, channels, unit);
}

template void multiply_rows(const cuda_context&, const mesh_rows<float>&, const channel_pair<float>&, int,
                            unit_reduction);
template void multiply_rows(const cuda_context&, const mesh_rows<double>&, const channel_pair<double>&, int,
                            unit_reduction);

}  // namespace quadrat::detail
