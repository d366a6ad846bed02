// SPDX-License-Identifier: BSD-3-Clause
#include "search/levels/radius_classes.hpp"

#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

constexpr unsigned warps_of_block = cuda_launch::block / 32;

template <typename T>
__global__ void __launch_bounds__(cuda_launch::block) count_radii_by_blocks(count_radii<T> what) {
  __shared__ std::uint32_t counts[warps_of_block][radius_classes];
  for (unsigned k = threadIdx.x; k < warps_of_block * radius_classes; k += cuda_launch::block) {
    counts[k / radius_classes][k % radius_classes] = 0;
  }
  __syncthreads();
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * cuda_launch::block;
#pragma unroll 4
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x; i < what.points;
       i += step) {
    const int number = radius_class(static_cast<double>(what.sizes.part(what.radii[i])));
    atomicAdd(&counts[threadIdx.x / 32][number], 1u);
  }
  __syncthreads();
  if (threadIdx.x >= radius_classes) return;
  std::uint64_t sum = 0;
  for (const auto& of_warp : counts) sum += of_warp[threadIdx.x];
  if (sum > 0) atomic_add(what.counts + threadIdx.x, sum);
}

}  // namespace

template <typename T>
void count_radius_classes(const cuda_context& context, const count_radii<T>& what) {
  const cuda_launch launch(context, "search.count_radii");
  const unsigned most = 4 * static_cast<unsigned>(context.multiprocessors());
  const std::size_t wanted = (what.points + cuda_launch::block - 1) / cuda_launch::block;
  const unsigned blocks = wanted < most ? static_cast<unsigned>(wanted) : most;
  count_radii_by_blocks<<<blocks, cuda_launch::block, 0, context.stream()>>>(what);
  launch.check();
}

template void count_radius_classes(const cuda_context&, const count_radii<float>&);
template void count_radius_classes(const cuda_context&, const count_radii<double>&);

}  // namespace quadrat::detail
