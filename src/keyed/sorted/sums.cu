// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "keyed/row_runs.cuh"
#include "keyed/sorted/sums.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

/// A warp takes a row of consecutive elements. Runs of equal keys inside it are written; the first and the last run of
/// each row, its ends, are the elements of the next level, 1/64 as many. The last level is one block. The order of
/// joins depends only on the number of elements and their keys.
namespace quadrat::detail {

namespace {

constexpr unsigned last_threads = 1024;
constexpr unsigned last_warps = last_threads / 32;

/// Ends, two per row; the same key twice if a row has only one run.
template <typename A>
struct row_ends {
  std::uint32_t* key;
  A* sum;
};

template <typename A, typename T>
[[nodiscard]] __device__ __forceinline__ A accumulator(T value) {
  if constexpr (std::is_same_v<A, compensated_double>) {
    return {static_cast<double>(value), 0};
  } else {
    return static_cast<A>(value);
  }
}
template <typename T, typename A>
[[nodiscard]] __device__ __forceinline__ T rounded(const A& sum) {
  if constexpr (std::is_same_v<A, compensated_double>) {
    return sum.high - sum.high == 0 ? sum.high + sum.low : sum.high;  // infinite sums have NaN as their error
  } else {
    return static_cast<T>(sum);
  }
}

template <typename T, typename A, typename Fold>
struct ordered_results {
  T* results;
  std::size_t stride;
  bool accumulate;

  __device__ __forceinline__ void operator()(std::uint32_t key, const A& sum) const {
    T* const result = results + key * stride;
    const T value = Fold::settled(rounded<T>(sum));
    *result = accumulate ? Fold::join(*result, value) : value;
  }
};

/// The four consecutive elements of a lane.
template <typename A>
struct lane_sums {
  std::uint32_t key[lane_items];
  A sum[lane_items][1];
};

/// The rows of the first level: the elements themselves.
template <typename T, typename A>
struct element_rows {
  ordered_elements source;
  value_group<T, 1> group;
  row_loads loads;

  [[nodiscard]] QUADRAT_HD std::size_t size() const { return source.keys.count; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t key(std::size_t i) const {
    const std::uint32_t raw = source.keys.raw(i);
    return raw < source.keys.key_count ? raw : no_key;
  }
  __device__ __forceinline__ lane_sums<A> load(std::size_t first) const {
    lane_elements<T, 1> elements;
    value_group<T, 1> direct = group;
    if (source.order != nullptr) direct.values[0] = nullptr;
    elements.load(source.keys, direct, loads, first);
    lane_sums<A> row;
#pragma unroll
    for (int item = 0; item < lane_items; ++item) {
      if (source.order != nullptr && first + item < source.keys.count) {
        group.load(source.order[first + item], elements.value[item]);
      }
      row.key[item] = elements.key[item];
      row.sum[item][0] = accumulator<A>(elements.value[item][0]);
    }
    return row;
  }
  /// Raises a fault if a key is less than the previous one.
  __device__ __forceinline__ void check(const lane_sums<A>& row, std::uint32_t before, std::size_t first) const {
    std::uint32_t left = __shfl_up_sync(all_lanes, row.key[lane_items - 1], 1);
    if (threadIdx.x % 32 == 0) left = before;
#pragma unroll
    for (int item = 0; item < lane_items; ++item) {
      if (row.key[item] < left && left != no_key) source.keys.faults.raise(fault_kind::order, first + item);
      left = row.key[item];
    }
  }
  /// The key of the previous element.
  __device__ __forceinline__ std::uint32_t before(std::size_t first) const {
    return first == 0 ? no_key : key(first - 1);
  }
};

/// The rows of further levels: the ends of rows of the level before.
template <typename A>
struct end_rows {
  row_ends<A> ends;
  std::size_t count;

  [[nodiscard]] QUADRAT_HD std::size_t size() const { return count; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t key(std::size_t i) const { return ends.key[i]; }
  __device__ __forceinline__ lane_sums<A> load(std::size_t first) const {
    lane_sums<A> row;
#pragma unroll
    for (int item = 0; item < lane_items; ++item) {
      const bool there = first + item < count;
      row.key[item] = there ? ends.key[first + item] : no_key;
      row.sum[item][0] = there ? ends.sum[first + item] : accumulator<A>(0);
    }
    return row;
  }
  __device__ __forceinline__ void check(const lane_sums<A>&, std::uint32_t, std::size_t) const {}
  __device__ __forceinline__ std::uint32_t before(std::size_t) const { return no_key; }
};

template <typename Fold, typename A>
[[nodiscard]] __device__ __forceinline__ A nothing_joined() {
  if constexpr (std::is_same_v<A, compensated_double>) {
    return {0, 0};
  } else {
    return Fold::template identity<A>();
  }
}

/// A warp joins elements [begin, end). Runs inside are written, those at the ends become the ends number `place`.
template <typename Fold, typename A, typename Rows, typename Write>
__device__ __forceinline__ void join_elements(const Rows& rows, std::size_t begin, std::size_t end, const Write& write,
                                              const row_ends<A>& ends, std::size_t place) {
  const unsigned lane = threadIdx.x % 32;
  if (begin >= end) {
    if (lane < 2) ends.key[2 * place + lane] = no_key;
    return;
  }
  // All loads are in flight before any is needed.
  const std::uint32_t first_key = rows.key(begin), last_key = rows.key(end - 1);
  std::uint32_t before_key = rows.before(begin), carry_key = no_key;
  lane_sums<A> next = rows.load(begin + lane * lane_items);
  if (lane < 2) {
    ends.key[2 * place + lane] = lane == 0 ? first_key : last_key;
    ends.sum[2 * place + lane] = nothing_joined<Fold, A>();
  }
  __syncwarp();
  const auto emit = [&](std::uint32_t key, const A(&sum)[1]) {
    if (key == no_key) return;
    if (key == first_key) {
      ends.sum[2 * place] = sum[0];
    } else if (key == last_key) {
      ends.sum[2 * place + 1] = sum[0];
    } else {
      write(key, sum[0]);
    }
  };
  A carry[1] = {nothing_joined<Fold, A>()};
  for (std::size_t row = begin; row < end; row += row_items) {
    const lane_sums<A> current = next;
    if (row + row_items < end) next = rows.load(row + row_items + lane * lane_items);
    rows.check(current, before_key, row + lane * lane_items);
    auto runs = join_lane<Fold>(current.key, current.sum, emit);
    join_row<Fold>(runs, carry_key, carry, emit);
    before_key = carry_key;
  }
  if (lane == 0) emit(carry_key, carry);
}

template <typename Rows, typename T, typename A, typename Fold>
__global__ void __launch_bounds__(cuda_launch::block)
    ordered_kernel(const __grid_constant__ Rows rows, const ordered_results<T, A, Fold> results,
                   const row_ends<A> ends) {
  const std::size_t warp = (static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x) / 32;
  const std::size_t begin = warp * row_items, count = rows.size();
  if (begin >= count) return;
  join_elements<Fold>(rows, begin, begin + row_items < count ? begin + row_items : count, results, ends, warp);
}

/// One block; a warp takes `share` elements.
template <typename Rows, typename T, typename A, typename Fold>
__global__ void __launch_bounds__(last_threads)
    ordered_last_kernel(const __grid_constant__ Rows rows, const ordered_results<T, A, Fold> results,
                        std::size_t share) {
  __shared__ std::uint32_t keys[2 * last_warps + 2];
  __shared__ A sums[2 * last_warps + 2];
  const row_ends<A> ends{keys, sums};
  const std::size_t warp = threadIdx.x / 32, begin = warp * share, count = rows.size();
  join_elements<Fold>(rows, begin, begin + share < count ? begin + share : count, results, ends, warp);
  __syncthreads();
  if (warp != 0) return;
  constexpr std::size_t last = 2 * last_warps;
  join_elements<Fold>(end_rows<A>{ends, last}, 0, last, results, ends, last_warps);
  __syncwarp();
  if (threadIdx.x != 0) return;
  if (keys[last] != no_key) results(keys[last], sums[last]);
  if (keys[last + 1] != no_key && keys[last + 1] != keys[last]) results(keys[last + 1], sums[last + 1]);
}

/// The number of ends of `count` elements.
[[nodiscard]] std::size_t ends_of(std::size_t count) { return 2 * ((count + row_items - 1) / row_items); }
/// The most elements for one block: with more rows per warp, another level is faster.
constexpr std::size_t most_last = 2 * last_warps * row_items;
[[nodiscard]] std::size_t all_ends_of(std::size_t count) {
  std::size_t all = 0;
  while (count > most_last) {
    count = ends_of(count);
    all += count;
  }
  return all;
}

/// One level after another, each with its own memory for ends.
template <typename Rows, typename T, typename A, typename Fold>
void launch_levels(const cuda_context& context, const Rows& rows, const ordered_results<T, A, Fold>& results,
                   const row_ends<A>& memory) {
  const std::size_t count = rows.size();
  if (count <= most_last) {
    const std::size_t share = (count + last_warps * row_items - 1) / (last_warps * row_items) * row_items;
    ordered_last_kernel<<<1, last_threads, 0, context.stream()>>>(rows, results, share);
    return;
  }
  const std::size_t ends = ends_of(count);
  ordered_kernel<<<cuda_launch::blocks(ends / 2 * 32), cuda_launch::block, 0, context.stream()>>>(rows, results,
                                                                                                  memory);
  launch_levels(context, end_rows<A>{memory, ends}, results, row_ends<A>{memory.key + ends, memory.sum + ends});
}

template <typename A, typename Fold, typename T>
void launch_ordered(const cuda_context& context, const ordered_elements& elements, const value_group<T, 1>& group,
                    bool accumulate, std::byte* scratch) {
  const std::size_t ends = all_ends_of(elements.keys.count);
  const row_ends<A> memory{reinterpret_cast<std::uint32_t*>(scratch + ends * sizeof(A)), reinterpret_cast<A*>(scratch)};
  const ordered_results<T, A, Fold> results{group.results[0], group.result_stride, accumulate};
  row_loads loads = make_row_loads(elements.keys, group);
  if (elements.order != nullptr) loads.value_packs = false;
  launch_levels(context, element_rows<T, A>{elements, group, loads}, results, memory);
}

}  // namespace

std::size_t ordered_bytes(const cuda_context& /*context*/, std::size_t count) {
  return all_ends_of(count) * (sizeof(compensated_double) + sizeof(std::uint32_t));
}

template <typename T>
void reduce_ordered(const cuda_context& context, const ordered_elements& elements, const key_reduction<T>& reduction,
                    bool compensated, workspace<cuda_context>& scratch) {
  clear_results(context, reduction);
  if (elements.keys.count == 0) return;
  std::byte* const memory = scratch.request(context, ordered_bytes(context, elements.keys.count));
  const cuda_launch launch(context, "keyed.ordered");
  for (int c = 0; c < reduction.values.components; ++c) {
    const auto group = make_group<T, 1>(reduction, c);
    with_fold(reduction.fold, [&]<typename Fold>(Fold) {
      if constexpr (std::is_floating_point_v<T> && std::is_same_v<Fold, sum_fold>) {
        using twice = std::conditional_t<sizeof(T) == 4, double, compensated_double>;
        if (compensated) return launch_ordered<twice, Fold>(context, elements, group, reduction.accumulate, memory);
      }
      launch_ordered<T, Fold>(context, elements, group, reduction.accumulate, memory);
    });
  }
  launch.check();
}

void count_ordered(const cuda_context& context, const ordered_elements& elements, std::uint64_t* results,
                   bool accumulate, workspace<cuda_context>& scratch) {
  auto reduction = counting(results, elements.keys, accumulate);
  ordered_elements in_place = elements;
  in_place.order = nullptr;
  reduce_ordered(context, in_place, reduction, false, scratch);
}

template void reduce_ordered(const cuda_context&, const ordered_elements&, const key_reduction<std::int32_t>&, bool,
                             workspace<cuda_context>&);
template void reduce_ordered(const cuda_context&, const ordered_elements&, const key_reduction<std::int64_t>&, bool,
                             workspace<cuda_context>&);
template void reduce_ordered(const cuda_context&, const ordered_elements&, const key_reduction<float>&, bool,
                             workspace<cuda_context>&);
template void reduce_ordered(const cuda_context&, const ordered_elements&, const key_reduction<double>&, bool,
                             workspace<cuda_context>&);

}  // namespace quadrat::detail
