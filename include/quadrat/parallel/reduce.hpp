// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/for_each_part.hpp"
#include "quadrat/parallel/workspace.hpp"

#if defined(__CUDACC__)
#include "quadrat/parallel/cuda_launch.hpp"
#endif

/// Reductions of map(0), ..., map(count - 1) to one value. The order in which pairs are joined depends on `count`
/// alone, so the bits are the same for any number of threads, any timing and any load of the device (the level
/// `run_to_run`). On the CPU the rounding error of a sum grows as that of 128 additions, and beyond that with the
/// logarithm of the count. CPU and GPU use different orders, so their floating-point sums differ.

namespace quadrat {

/// Operations for reduce, associative and commutative up to rounding.
struct plus_operation {
  template <typename T>
  QUADRAT_HD T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
/// Ignores NaNs: of a NaN and a number, gives the number.
struct minimum_operation {
  template <typename T>
  QUADRAT_HD T operator()(const T& a, const T& b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a) return b;
    }
    return b < a ? b : a;
  }
};
struct maximum_operation {
  template <typename T>
  QUADRAT_HD T operator()(const T& a, const T& b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a) return b;
    }
    return a < b ? b : a;
  }
};

namespace detail {

/// The work of one thread. The values of a chunk are dealt to several lanes in turn, so that successive additions are
/// independent.
inline constexpr std::size_t reduce_chunk = 1024;
inline constexpr std::size_t reduce_lanes = 8;
/// The GPU launch has the same width on every device, because the width determines the order of summation. 1024 blocks
/// of 256 threads fill the 132 multiprocessors of an H200.
inline constexpr unsigned reduce_blocks = 1024;

/// The number of values that the first stage leaves in the scratch memory, at least one. The result may overwrite the
/// first.
[[nodiscard]] inline std::size_t reduce_partials_count(const cpu_context& /*context*/, std::size_t count) {
  return count <= reduce_chunk ? 1 : (count + reduce_chunk - 1) / reduce_chunk;
}
[[nodiscard]] inline std::size_t reduce_partials_count(const cuda_context& /*context*/, std::size_t /*count*/) {
  return reduce_blocks;
}

/// Joins adjacent pairs until one value is left; the same tree for every number of threads.
template <typename T, typename Operation>
T reduce_tree(T* values, std::size_t count, const Operation& join) {
  for (; count > 1; count = (count + 1) / 2) {
    for (std::size_t i = 0; i < count / 2; ++i) values[i] = join(values[2 * i], values[2 * i + 1]);
    if (count % 2 == 1) values[count / 2] = values[count - 1];
  }
  return values[0];
}

/// Joins map(first) to map(last - 1).
template <typename T, typename Map, typename Operation>
T reduce_range(std::size_t first, std::size_t last, const Map& map, const Operation& join, const T& identity) {
  T lanes[reduce_lanes] = {identity, identity, identity, identity, identity, identity, identity, identity};
  std::size_t i = first;
  for (; i + reduce_lanes <= last; i += reduce_lanes) {
    for (std::size_t lane = 0; lane < reduce_lanes; ++lane) {
      lanes[lane] = join(lanes[lane], static_cast<T>(map(i + lane)));
    }
  }
  for (std::size_t lane = 0; i + lane < last; ++lane) lanes[lane] = join(lanes[lane], static_cast<T>(map(i + lane)));
  return reduce_tree(lanes, reduce_lanes, join);
}

#if defined(__CUDACC__)

/// Joins the values of a block's threads into *result.
template <typename T, typename Operation>
__device__ void reduce_block(T value, const Operation& join, T* result) {
  // Raw bytes, because shared variables cannot have constructors.
  __shared__ alignas(T) unsigned char memory[cuda_launch::block * sizeof(T)];
  T* shared = reinterpret_cast<T*>(memory);
  shared[threadIdx.x] = value;
  for (unsigned half = cuda_launch::block / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) *result = shared[0];
}

/// Keeps four loads in flight: with one, memory latency would be the limit instead of bandwidth.
template <typename T, typename Map, typename Operation>
__global__ void __launch_bounds__(cuda_launch::block)
    reduce_kernel(std::size_t count, Map map, Operation join, T identity, T* result) {
  const std::size_t width = static_cast<std::size_t>(gridDim.x) * cuda_launch::block;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x;
  T value = identity;
  for (; i + 3 * width < count; i += 4 * width) {
    const T a = static_cast<T>(map(i));
    const T b = static_cast<T>(map(i + width));
    const T c = static_cast<T>(map(i + 2 * width));
    const T d = static_cast<T>(map(i + 3 * width));
    value = join(value, join(join(a, b), join(c, d)));
  }
  for (; i < count; i += width) value = join(value, static_cast<T>(map(i)));
  reduce_block(value, join, result + blockIdx.x);
}

/// Reads the values of the first stage.
template <typename T>
struct reduce_partials {
  const T* partials;
  QUADRAT_HD T operator()(std::size_t i) const { return partials[i]; }
};

#endif

}  // namespace detail

/// *result = join over i in [0, count) of map(i), and `identity` if count is 0. `result` is memory of the context's
/// device. `map` is a host-device functor. Joining `identity` must leave any value unchanged. CPU: finished on return.
/// Exceptions of `map` and `join` are rethrown; if several chunks of 1024 indices throw, that of the first such chunk.
template <typename T, typename Map, typename Operation>
void reduce_into(const cpu_context& context, const char* /*name*/, std::size_t count, const Map& map,
                 const Operation& join, T identity, T* result, workspace<cpu_context>& scratch) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 64, "reduce keeps its values in raw memory");
  if (count == 0) {
    *result = identity;
    return;
  }
  const std::size_t chunks = detail::reduce_partials_count(context, count);
  T* partials = reinterpret_cast<T*>(scratch.request(context, chunks * sizeof(T)));
  detail::for_each_part(chunks > 4 ? context.threads() : 1, chunks, [&](std::size_t chunk) {
    const std::size_t first = chunk * detail::reduce_chunk;
    const std::size_t last = first + detail::reduce_chunk < count ? first + detail::reduce_chunk : count;
    partials[chunk] = detail::reduce_range(first, last, map, join, identity);
  });
  *result = detail::reduce_tree(partials, chunks, join);
}

/// CUDA: two launches under `name` in profiles. Does not wait. Allocates scratch memory only to grow. Can be captured.
/// Only in sources that nvcc compiles. Throws backend_error if a launch is refused.
template <typename T, typename Map, typename Operation>
void reduce_into(const cuda_context& context, const char* name, std::size_t count, const Map& map,
                 const Operation& join, T identity, T* result, workspace<cuda_context>& scratch) {
#if defined(__CUDACC__)
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 64, "reduce keeps its values in raw memory");
  const cuda_launch launch(context, name);
  const std::size_t wanted = (count + cuda_launch::block - 1) / cuda_launch::block;
  const unsigned blocks = wanted < detail::reduce_blocks ? static_cast<unsigned>(wanted) : detail::reduce_blocks;
  T* partials =
      reinterpret_cast<T*>(scratch.request(context, detail::reduce_partials_count(context, count) * sizeof(T)));
  if (blocks > 0) {
    detail::reduce_kernel<<<blocks, cuda_launch::block, 0, context.stream()>>>(count, map, join, identity, partials);
    launch.check();
  }
  detail::reduce_kernel<<<1, cuda_launch::block, 0, context.stream()>>>(
      static_cast<std::size_t>(blocks), detail::reduce_partials<T>{partials}, join, identity, result);
  launch.check();
#else
  static_cast<void>(name);
  static_cast<void>(count);
  static_cast<void>(map);
  static_cast<void>(join);
  static_cast<void>(identity);
  static_cast<void>(result);
  static_cast<void>(scratch);
  context.activate();
  throw backend_error("reduce on a CUDA context was compiled by a host compiler; compile this source with nvcc");
#endif
}

/// The same, copied to the host. Waits. Allocates scratch memory only to grow.
template <typename Context, typename T, typename Map, typename Operation>
[[nodiscard]] T reduce(const Context& context, const char* name, std::size_t count, const Map& map,
                       const Operation& join, T identity, workspace<Context>& scratch) {
  T* result = reinterpret_cast<T*>(scratch.request(context, detail::reduce_partials_count(context, count) * sizeof(T)));
  reduce_into(context, name, count, map, join, identity, result, scratch);
  T value = identity;
  copy_bytes(context, result, &value, sizeof(T));
  context.synchronize();
  return value;
}

/// The type that map(i) gives.
template <typename Map>
using mapped_type = std::remove_cvref_t<std::invoke_result_t<const Map&, std::size_t>>;

/// Sum of map(i); T{} if count is 0. T needs only `+`, so it may be a vec. Waits. Allocates scratch memory only to
/// grow.
template <typename Context, typename Map>
[[nodiscard]] mapped_type<Map> reduce_sum(const Context& context, const char* name, std::size_t count, const Map& map,
                                          workspace<Context>& scratch) {
  return reduce(context, name, count, map, plus_operation{}, mapped_type<Map>{}, scratch);
}

/// Minimum of map(i), ignoring NaNs. Without numbers, the largest value of the type (infinity if it has one). Waits.
/// Allocates scratch memory only to grow.
template <typename Context, typename Map>
[[nodiscard]] mapped_type<Map> reduce_minimum(const Context& context, const char* name, std::size_t count,
                                              const Map& map, workspace<Context>& scratch) {
  using limits = std::numeric_limits<mapped_type<Map>>;
  const mapped_type<Map> identity = limits::has_infinity ? limits::infinity() : limits::max();
  return reduce(context, name, count, map, minimum_operation{}, identity, scratch);
}

/// Maximum of map(i), ignoring NaNs. Without numbers, the lowest value of the type (minus infinity if it has one).
/// Waits. Allocates scratch memory only to grow.
template <typename Context, typename Map>
[[nodiscard]] mapped_type<Map> reduce_maximum(const Context& context, const char* name, std::size_t count,
                                              const Map& map, workspace<Context>& scratch) {
  using limits = std::numeric_limits<mapped_type<Map>>;
  const mapped_type<Map> identity =
      limits::has_infinity ? static_cast<mapped_type<Map>>(-limits::infinity()) : limits::lowest();
  return reduce(context, name, count, map, maximum_operation{}, identity, scratch);
}

}  // namespace quadrat
