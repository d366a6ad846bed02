// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/atomic/cuda.hpp"

#include <type_traits>

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

constexpr unsigned warp_lanes = 32;

/// Rows of adjacent components, at any distances.
template <typename T>
struct adjacent_rows {
  const T* values;
  T* results;
  std::size_t value_stride;
  std::size_t result_stride;
  unsigned components;  ///< 2 to 32
};

/// One lane per component; a warp has whole rows. The L2 cache works on sectors: all components of a row joined by one
/// instruction cost hardly more than one component; in separate instructions each costs as much as the first.
template <typename T, typename Fold>
__global__ void __launch_bounds__(cuda_launch::block)
    atomic_rows_kernel(const __grid_constant__ key_source keys, const __grid_constant__ adjacent_rows<T> rows) {
  const unsigned lane = threadIdx.x % warp_lanes;
  const unsigned row = lane / rows.components;
  const unsigned rows_of_warp = warp_lanes / rows.components;
  const std::size_t warp = (static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x) / warp_lanes;
  const std::size_t i = warp * rows_of_warp + row;
  if (row >= rows_of_warp || i >= keys.count) return;
  const std::size_t component = lane - row * rows.components;
  const std::uint32_t raw = keys.raw(i);
  const T value = rows.values[i * rows.value_stride + component];
  const std::uint32_t key = keys.checked(raw, i);
  if (key != no_key) Fold::join_atomic(rows.results + key * rows.result_stride + component, value);
}

template <typename T>
[[nodiscard]] bool is_adjacent(const component_values<T>& values) {
  for (int c = 1; c < values.components; ++c) {
    if (values.component[c] != values.component[0] + c) return false;
  }
  return true;
}

/// Whether one operation joins all components of an element.
template <typename T>
[[nodiscard]] bool joins_rows_at_once(const key_reduction<T>& reduction) {
  const int components = reduction.values.components;
  if (components == 1) return true;
  if (!std::is_same_v<T, float> || reduction.fold != key_fold::sum || components > group_components) return false;
  return make_group<T, group_components>(reduction, 0).result_width == components;
}

}  // namespace

template <typename T>
void cuda_atomic_engine::run(const key_reduction<T>& reduction) {
  clear_results(context_, reduction);
  if (keys_.count == 0) return;
  const cuda_launch launch(context_, "keyed.atomic");
  if (!joins_rows_at_once(reduction) && is_adjacent(reduction.values) && is_adjacent(reduction.results)) {
    const auto components = static_cast<unsigned>(reduction.values.components);
    const adjacent_rows<T> rows{reduction.values.component[0], reduction.results.component[0], reduction.values.stride,
                                reduction.results.stride, components};
    const std::size_t rows_of_warp = warp_lanes / components;
    const unsigned blocks = cuda_launch::blocks((keys_.count + rows_of_warp - 1) / rows_of_warp * warp_lanes);
    with_fold(reduction.fold, [&]<typename Fold>(Fold) {
      atomic_rows_kernel<T, Fold><<<blocks, cuda_launch::block, 0, context_.stream()>>>(keys_, rows);
    });
    return launch.check();
  }
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
