// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/atomic/cuda.hpp"

#include "keyed/value_group.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

/// One thread per element. Keys are checked after the values are requested, so that both loads are in flight together.
template <typename T, int C, typename Fold>
__global__ void __launch_bounds__(cuda_launch::block)
    atomic_kernel(const __grid_constant__ key_source keys, const __grid_constant__ value_group<T, C> group) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x;
  if (i >= keys.count) return;
  const std::uint32_t raw = keys.raw(i);
  T value[C];
  group.load(i, value);
  const std::uint32_t key = keys.checked(raw, i);
  if (key != no_key) group.template join<Fold>(key, value);
}

}  // namespace

template <typename T>
void cuda_atomic_engine::run(const key_reduction<T>& reduction) {
  clear_results(context_, reduction);
  if (keys_.count == 0) return;
  const cuda_launch launch(context_, "keyed.atomic");
  const unsigned blocks = cuda_launch::blocks(keys_.count);
  for_each_group(reduction, [&]<int C>(const value_group<T, C>& group) {
    with_fold(reduction.fold, [&]<typename Fold>(Fold) {
      atomic_kernel<T, C, Fold><<<blocks, cuda_launch::block, 0, context_.stream()>>>(keys_, group);
    });
  });
  launch.check();
}

void cuda_atomic_engine::count(std::uint64_t* results, bool accumulate) { run(counting(results, keys_, accumulate)); }

template void cuda_atomic_engine::run(const key_reduction<std::int32_t>&);
template void cuda_atomic_engine::run(const key_reduction<std::int64_t>&);
template void cuda_atomic_engine::run(const key_reduction<float>&);
template void cuda_atomic_engine::run(const key_reduction<double>&);

}  // namespace quadrat::detail
