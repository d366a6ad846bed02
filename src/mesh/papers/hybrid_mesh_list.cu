// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/papers/hybrid_mesh.hpp"
#include "mesh/sparse/load.cuh"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/parallel/warp_scan.hpp"

namespace quadrat::detail {

namespace {

constexpr unsigned all_lanes = 0xffffffffu;

/// One thread per entry. Lanes of one row join their products by a segmented scan; the last of them adds the sum,
/// atomically because a row may continue in the next warp.
template <typename T, int Channels>
__global__ void __launch_bounds__(cuda_launch::block)
    add_kernel(const mesh_entry<T>* list, const std::uint32_t* rows, std::size_t count, channel_pair<T> channels) {
  const std::size_t e = static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const bool valid = e < count;
  // No row has this number: a mesh has at most 2^31 - 1 points.
  const std::uint32_t row = valid ? __ldcs(rows + e) : ~std::uint32_t{0};
  T sum[Channels] = {};
  if (valid) {
    const mesh_entry<T> entry = load_once(list + e);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      sum[c] = entry.weight * __ldg(channels.value[c] + entry.column * channels.stride);
    }
  }
  const std::uint32_t row_before = __shfl_up_sync(all_lanes, row, 1);
  const unsigned heads = __ballot_sync(all_lanes, lane == 0 || row_before != row);
  warp_segmented_scan(lanes_since_head(heads, lane), sum, [](T earlier, T later) { return earlier + later; });
  const bool last = lane == 31 || (heads >> lane >> 1) % 2 != 0;
  if (!valid || !last) return;
#pragma unroll
  for (int c = 0; c < Channels; ++c) atomic_add(channels.node[c] + row * channels.stride, sum[c]);
}

}  // namespace

template <typename T>
void add_list(const cuda_context& context, const mesh_entry<T>* list, const std::uint32_t* rows, std::size_t count,
              const channel_pair<T>& channels) {
  if (count == 0) return;
  const cuda_launch launch(context, "mesh.add_list");
  const unsigned blocks = cuda_launch::blocks(count);
  if (channels.count == 2) {
    add_kernel<T, 2><<<blocks, cuda_launch::block, 0, context.stream()>>>(list, rows, count, channels);
  } else {
    add_kernel<T, 1><<<blocks, cuda_launch::block, 0, context.stream()>>>(list, rows, count, channels);
  }
  launch.check();
}

template void add_list(const cuda_context&, const mesh_entry<float>*, const std::uint32_t*, std::size_t,
                       const channel_pair<float>&);
template void add_list(const cuda_context&, const mesh_entry<double>*, const std::uint32_t*, std::size_t,
                       const channel_pair<double>&);

}  // namespace quadrat::detail
