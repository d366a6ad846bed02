// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "keyed/folds.hpp"
#include "parallel/atomic_row.hpp"

/// Reading values and joining them to results in kernels, up to C components at a time.
namespace quadrat::detail {

/// The most components that one kernel takes.
inline constexpr int group_components = 4;

template <typename T, int Width>
struct alignas(sizeof(T) * Width <= 16 ? sizeof(T) * Width : 16) value_pack {
  T part[Width];
};

/// Some components of a reduction. If they are adjacent and aligned, one instruction moves them.
template <typename T, int C>
struct value_group {
  const T* values[C];  ///< nullptr first: all values are 1
  T* results[C];
  std::size_t value_stride;
  std::size_t result_stride;
  int components;    ///< at most C
  int value_width;   ///< components read at once: C or 1
  int result_width;  ///< components joined at once by one atomic operation: 4, 2 or 1

  __device__ __forceinline__ void load(std::size_t i, T (&value)[C]) const {
    if constexpr (C == 1) {
      value[0] = values[0] == nullptr ? T{1} : values[0][i * value_stride];
    } else if (value_width == C) {
      const auto pack = *reinterpret_cast<const value_pack<T, C>*>(values[0] + i * value_stride);
#pragma unroll
      for (int c = 0; c < C; ++c) value[c] = pack.part[c];
    } else {
#pragma unroll
      for (int c = 0; c < C; ++c) value[c] = c < components ? values[c][i * value_stride] : T{};
    }
  }

  /// Joins atomically to a result.
  template <typename Fold>
  __device__ __forceinline__ void join(std::uint32_t key, const T (&value)[C]) const {
    if constexpr (C == 4 && std::is_same_v<T, float> && std::is_same_v<Fold, sum_fold>) {
      float* const row = results[0] + key * result_stride;
      if (result_width == 4) {
        atomic_add_row<4>(row, value);
        return;
      }
      if (result_width == 2) {
        atomic_add_row<2>(row, value);
        return;
      }
    }
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if (c < components) Fold::join_atomic(results[c] + key * result_stride, value[c]);
    }
  }
};

/// The group of as many components as fit, from `first` on.
template <typename T, int C>
[[nodiscard]] value_group<T, C> make_group(const key_reduction<T>& reduction, int first) {
  const auto& values = reduction.values;
  const auto& results = reduction.results;
  value_group<T, C> group{};
  group.components = std::min(C, values.components - first);
  group.value_stride = values.stride;
  group.result_stride = results.stride;
  const auto together = [&](const auto& view, std::size_t bytes) {
    for (int c = 1; c < group.components; ++c) {
      if (view.component[first + c] != view.component[first] + c) return false;
    }
    return reinterpret_cast<std::uintptr_t>(view.component[first]) % bytes == 0 && view.stride * sizeof(T) % bytes == 0;
  };
  for (int c = 0; c < group.components; ++c) {
    group.values[c] = values.component[first + c];
    group.results[c] = results.component[first + c];
  }
  group.value_width = group.components == C && together(values, alignof(value_pack<T, C>)) ? C : 1;
  const bool pairs = group.components == 2 && together(results, 2 * sizeof(T));
  group.result_width = group.components == 4 && together(results, 4 * sizeof(T)) ? 4 : (pairs ? 2 : 1);
  return group;
}

/// Calls f(group) for groups of components that cover the reduction. A single remaining component forms a group.
template <typename T, typename F>
void for_each_group(const key_reduction<T>& reduction, F&& f) {
  for (int first = 0; first < reduction.values.components; first += group_components) {
    if (reduction.values.components - first == 1) {
      f(make_group<T, 1>(reduction, first));
    } else {
      f(make_group<T, group_components>(reduction, first));
    }
  }
}

/// Counting as a reduction: sums of ones.
[[nodiscard]] inline key_reduction<std::int64_t> counting(std::uint64_t* results, const key_source& keys,
                                                          bool accumulate) {
  key_reduction<std::int64_t> reduction{};
  reduction.fold = key_fold::sum;
  reduction.values = packed_values<const std::int64_t>(nullptr, keys.count);
  reduction.results = packed_values(reinterpret_cast<std::int64_t*>(results), keys.key_count);
  reduction.accumulate = accumulate;
  return reduction;
}

}  // namespace quadrat::detail
