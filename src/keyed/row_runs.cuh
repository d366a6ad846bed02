// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "keyed/value_group.cuh"
#include "quadrat/parallel/warp_scan.hpp"

/// Runs of equal keys among the elements of a warp, four consecutive elements per lane.
namespace quadrat::detail {

inline constexpr int lane_items = 4;
inline constexpr int row_items = 32 * lane_items;
inline constexpr unsigned all_lanes = 0xffffffffu;

/// Whether loads of four consecutive keys or values can be one instruction.
struct row_loads {
  bool key_packs;
  bool value_packs;
};

template <typename T, int C>
[[nodiscard]] row_loads make_row_loads(const key_source& keys, const value_group<T, C>& group) {
  const auto aligned = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; };
  return {!keys.wide && aligned(keys.keys),
          C == 1 && group.values[0] != nullptr && group.value_stride == 1 && aligned(group.values[0])};
}

/// Loads a lane's items from `first` on: in one load with `packs`, or by one(i, item).
template <typename T, typename One>
__device__ __forceinline__ void load_packs(bool packs, const T* from, std::size_t first, T (&items)[lane_items],
                                           const One& one) {
  if (packs) {
    const auto pack = *reinterpret_cast<const value_pack<T, lane_items>*>(from + first);
#pragma unroll
    for (int item = 0; item < lane_items; ++item) items[item] = pack.part[item];
  } else {
#pragma unroll
    for (int item = 0; item < lane_items; ++item) one(first + item, items[item]);
  }
}

/// A lane's elements from `first` on; past the last element keys are no_key.
template <typename T, int C>
struct lane_elements {
  std::uint32_t key[lane_items];
  T value[lane_items][C];

  __device__ __forceinline__ void load(const key_source& keys, const value_group<T, C>& group, row_loads loads,
                                       std::size_t first) {
    if (first + lane_items <= keys.count) {
      load_all(keys, group, loads, first);
    } else {
#pragma unroll
      for (int item = 0; item < lane_items; ++item) {
        key[item] = no_key;
#pragma unroll
        for (int c = 0; c < C; ++c) value[item][c] = T{};
        if (first + item >= keys.count) continue;
        key[item] = keys[first + item];
        group.load(first + item, value[item]);
      }
    }
  }

 private:
  __device__ __forceinline__ void load_all(const key_source& keys, const value_group<T, C>& group, row_loads loads,
                                           std::size_t first) {
    std::uint32_t raw[lane_items];
    load_packs(loads.key_packs, static_cast<const std::uint32_t*>(keys.keys), first, raw,
               [&](std::size_t i, std::uint32_t& one) { one = keys.raw(i); });
    if constexpr (C == 1) {
      T loaded[lane_items];
      load_packs(loads.value_packs, group.values[0], first, loaded, [&](std::size_t i, T& one) {
        T whole[1];
        group.load(i, whole);
        one = whole[0];
      });
#pragma unroll
      for (int item = 0; item < lane_items; ++item) value[item][0] = loaded[item];
    } else {
#pragma unroll
      for (int item = 0; item < lane_items; ++item) group.load(first + item, value[item]);
    }
#pragma unroll
    for (int item = 0; item < lane_items; ++item) key[item] = keys.checked(raw[item], first + item);
  }
};

/// A sum and its rounding error: twice the digits. Source: Knuth's two-sum.
struct compensated_double {
  double high;
  double low;

  __device__ friend compensated_double operator+(const compensated_double& a, const compensated_double& b) {
    const double sum = __dadd_rn(a.high, b.high);
    const double part = __dadd_rn(sum, -a.high);
    const double lost = __dadd_rn(__dadd_rn(a.high, -__dadd_rn(sum, -part)), __dadd_rn(b.high, -part));
    return {sum, __dadd_rn(lost, __dadd_rn(a.low, b.low))};
  }
};

__device__ __forceinline__ compensated_double shuffle_up(const compensated_double& value, int distance) {
  return {shuffle_up(value.high, distance), shuffle_up(value.low, distance)};
}
template <typename A>
__device__ __forceinline__ A shuffle_from(const A& value, int lane) {
  return __shfl_sync(all_lanes, value, lane);
}
__device__ __forceinline__ compensated_double shuffle_from(const compensated_double& value, int lane) {
  return {shuffle_from(value.high, lane), shuffle_from(value.low, lane)};
}

/// The sums of a lane's first and last run.
template <typename A, int C>
struct lane_runs {
  std::uint32_t first_key;
  std::uint32_t last_key;
  A first[C];
  A last[C];
  bool single;  ///< both are the same run
};

/// Joins the runs of a lane; calls emit(key, sum) for those between the first and the last.
template <typename Fold, typename A, int C, typename Emit>
__device__ __forceinline__ lane_runs<A, C> join_lane(const std::uint32_t (&key)[lane_items],
                                                     const A (&value)[lane_items][C], const Emit& emit) {
  lane_runs<A, C> runs;
  runs.first_key = runs.last_key = key[0];
  runs.single = true;
#pragma unroll
  for (int c = 0; c < C; ++c) runs.last[c] = runs.first[c] = value[0][c];
#pragma unroll
  for (int item = 1; item < lane_items; ++item) {
    const bool same = key[item] == runs.last_key;
    if (!same && !runs.single) emit(runs.last_key, runs.last);
    if (!same && runs.single) {
#pragma unroll
      for (int c = 0; c < C; ++c) runs.first[c] = runs.last[c];
    }
    runs.single = runs.single && same;
    runs.last_key = key[item];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      runs.last[c] = same ? Fold::join(runs.last[c], value[item][c]) : value[item][c];
    }
  }
  return runs;
}

/// Joins runs that continue across lanes, and from the previous row: `carry` is that row's last run, and becomes this
/// row's last run. Calls emit(key, sum) for every run that is complete. Called by all lanes of a warp.
template <typename Fold, typename A, int C, typename Emit>
__device__ __forceinline__ void join_row(lane_runs<A, C>& runs, std::uint32_t& carry_key, A (&carry)[C],
                                         const Emit& emit) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  std::uint32_t before_key = __shfl_up_sync(all_lanes, runs.last_key, 1);
  if (lane == 0) before_key = carry_key;
  const bool joined = before_key == runs.first_key;
  // The previous row acts as a lane before the first: lane 0 joins its last run before the scan if the key is the same.
  if (lane == 0) {
    if (!joined) {
      emit(carry_key, carry);
    } else if (runs.single) {
#pragma unroll
      for (int c = 0; c < C; ++c) runs.last[c] = Fold::join(carry[c], runs.last[c]);
    }
  }
  const unsigned heads = __ballot_sync(all_lanes, lane == 0 || !(joined && runs.single));
  warp_segmented_scan(lanes_since_head(heads, lane), runs.last,
                      [](const A& earlier, const A& later) { return Fold::join(earlier, later); });
  A before[C];
#pragma unroll
  for (int c = 0; c < C; ++c) {
    before[c] = shuffle_up(runs.last[c], 1);
    if (lane == 0) before[c] = carry[c];
  }
  if (!runs.single) {
    if (joined) {
#pragma unroll
      for (int c = 0; c < C; ++c) runs.first[c] = Fold::join(before[c], runs.first[c]);
    }
    emit(runs.first_key, runs.first);
  }
  const std::uint32_t after_key = __shfl_down_sync(all_lanes, runs.first_key, 1);
  if (lane < 31 && after_key != runs.last_key) emit(runs.last_key, runs.last);
  carry_key = __shfl_sync(all_lanes, runs.last_key, 31);
#pragma unroll
  for (int c = 0; c < C; ++c) carry[c] = shuffle_from(runs.last[c], 31);
}

}  // namespace quadrat::detail
