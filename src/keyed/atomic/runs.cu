// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/atomic/runs.hpp"

#include "keyed/row_runs.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

/// A warp takes one row. Eight blocks per multiprocessor, if registers allow, hide the latency of loads better than
/// more rows per warp.
template <typename T, int C, typename Fold>
__global__ void __launch_bounds__(cuda_launch::block, C == 1 ? 8 : 1)
    runs_kernel(const __grid_constant__ key_source keys, const __grid_constant__ value_group<T, C> group,
                const __grid_constant__ row_loads loads) {
  const std::size_t warp = (static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x) / 32;
  lane_elements<T, C> elements;
  elements.load(keys, group, loads, warp * row_items + threadIdx.x % 32 * lane_items);
  const auto emit = [&](std::uint32_t key, const T(&sum)[C]) {
    if (key != no_key) group.template join<Fold>(key, sum);
  };
  std::uint32_t carry_key = no_key;
  T carry[C] = {};
  auto runs = join_lane<Fold>(elements.key, elements.value, emit);
  join_row<Fold>(runs, carry_key, carry, emit);
  if (threadIdx.x % 32 == 0) emit(carry_key, carry);
}

}  // namespace

template <typename T>
void runs_engine::run(const key_reduction<T>& reduction) {
  clear_results(context_, reduction);
  if (keys_.count == 0) return;
  const cuda_launch launch(context_, "keyed.runs");
  const unsigned blocks = cuda_launch::blocks(keys_.count, cuda_launch::block * lane_items);
  for_each_group(reduction, [&]<int C>(const value_group<T, C>& group) {
    with_fold(reduction.fold, [&]<typename Fold>(Fold) {
      runs_kernel<T, C, Fold>
          <<<blocks, cuda_launch::block, 0, context_.stream()>>>(keys_, group, make_row_loads(keys_, group));
    });
  });
  launch.check();
}

void runs_engine::count(std::uint64_t* results, bool accumulate) { run(counting(results, keys_, accumulate)); }

template void runs_engine::run(const key_reduction<std::int32_t>&);
template void runs_engine::run(const key_reduction<std::int64_t>&);
template void runs_engine::run(const key_reduction<float>&);
template void runs_engine::run(const key_reduction<double>&);

}  // namespace quadrat::detail
