// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/papers/cas_loop.hpp"

#include "keyed/value_group.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

template <typename Fold, typename T>
__device__ void join_by_swapping(T* target, T value) {
  using word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
  auto* const place = reinterpret_cast<word*>(target);
  union both {
    word bits;
    T number;
  };
  both old;
  old.bits = *place;
  word assumed;
  do {
    assumed = old.bits;
    both joined;
    joined.number = Fold::join(old.number, value);
    old.bits = atomicCAS(place, assumed, joined.bits);
  } while (old.bits != assumed);
}

template <typename T, typename Fold>
__global__ void __launch_bounds__(cuda_launch::block)
    cas_loop_kernel(const __grid_constant__ key_source keys, const __grid_constant__ value_group<T, 1> group) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x;
  if (i >= keys.count) return;
  const std::uint32_t key = keys[i];
  T value[1];
  group.load(i, value);
  if (key != no_key) join_by_swapping<Fold>(group.results[0] + key * group.result_stride, Fold::taken(value[0]));
}

}  // namespace

template <typename T>
void cas_loop_engine::run(const key_reduction<T>& reduction) {
  clear_results(context_, reduction);
  if (keys_.count == 0) return;
  const cuda_launch launch(context_, "keyed.cas_loop");
  const unsigned blocks = cuda_launch::blocks(keys_.count);
  for (int c = 0; c < reduction.values.components; ++c) {
    with_fold(reduction.fold, [&]<typename Fold>(Fold) {
      cas_loop_kernel<T, Fold>
          <<<blocks, cuda_launch::block, 0, context_.stream()>>>(keys_, make_group<T, 1>(reduction, c));
    });
  }
  launch.check();
}

void cas_loop_engine::count(std::uint64_t* results, bool accumulate) { run(counting(results, keys_, accumulate)); }

template void cas_loop_engine::run(const key_reduction<std::int32_t>&);
template void cas_loop_engine::run(const key_reduction<std::int64_t>&);
template void cas_loop_engine::run(const key_reduction<float>&);
template void cas_loop_engine::run(const key_reduction<double>&);

}  // namespace quadrat::detail
