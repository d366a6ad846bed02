// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "search/nearest/tree.hpp"

/// The nearest neighbors that one thread has found, in registers. Candidates are merged into them eight at a time by
/// sorting networks (K. Batcher, "Sorting networks and their applications", 1968), without branches.
namespace quadrat::detail {

/// A distance and a key that breaks ties.
template <typename T, typename Key>
struct lane_entry {
  T distance;
  Key number;

  [[nodiscard]] static __device__ lane_entry make(T squared, Key key) { return {squared, key}; }
  [[nodiscard]] __device__ T squared() const { return distance; }
  [[nodiscard]] __device__ Key key() const { return number; }
  [[nodiscard]] __device__ bool before(const lane_entry& other) const {
    return distance < other.distance || (distance == other.distance && number < other.number);
  }
};

/// As one word. Nonnegative floats compare like their bits.
template <>
struct lane_entry<float, std::uint32_t> {
  std::uint64_t word;

  [[nodiscard]] static __device__ lane_entry make(float squared, std::uint32_t key) {
    return {static_cast<std::uint64_t>(__float_as_uint(squared)) << 32 | key};
  }
  [[nodiscard]] __device__ float squared() const { return __uint_as_float(static_cast<std::uint32_t>(word >> 32)); }
  [[nodiscard]] __device__ std::uint32_t key() const { return static_cast<std::uint32_t>(word); }
  [[nodiscard]] __device__ bool before(const lane_entry& other) const { return word < other.word; }
};

template <typename Entry>
__device__ __forceinline__ void put_in_order(Entry& first, Entry& second) {
  const Entry a = first, b = second;
  const bool swapped = b.before(a);
  first = swapped ? b : a;
  second = swapped ? a : b;
}

/// Candidates that are merged at a time.
inline constexpr int lane_batch = 8;

/// Batcher's odd-even merge sort of eight.
template <typename Entry>
__device__ __forceinline__ void sort_batch(Entry (&e)[lane_batch]) {
  constexpr int pairs[][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {1, 2}, {5, 6},
                              {0, 4}, {1, 5}, {2, 6}, {3, 7}, {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};
#pragma unroll
  for (int k = 0; k < 19; ++k) put_in_order(e[pairs[k][0]], e[pairs[k][1]]);
}

/// The first `Capacity` of all merged candidates, in order.
template <typename Entry, int Capacity>
struct lane_list {
  Entry entry[Capacity];

  __device__ void fill(const Entry& value) {
#pragma unroll
    for (Entry& e : entry) e = value;
  }

  /// The batch must be sorted.
  __device__ __forceinline__ void merge(const Entry (&batch)[lane_batch]) {
#pragma unroll
    for (int k = 0; k < lane_batch; ++k) {
      Entry& own = entry[Capacity - lane_batch + k];
      const Entry& other = batch[lane_batch - 1 - k];
      own = other.before(own) ? other : own;
    }
    // The sequence now rises, then falls (bitonic).
#pragma unroll
    for (int stride = Capacity / 2; stride > 0; stride /= 2) {
#pragma unroll
      for (int k = 0; k < Capacity; ++k) {
        if (k % (2 * stride) < stride) put_in_order(entry[k], entry[k + stride]);
      }
    }
  }

  /// Access by a run-time index without local memory.
  [[nodiscard]] __device__ Entry at(int place) const {
    Entry result = entry[Capacity - 1];
#pragma unroll
    for (int k = 0; k < Capacity - 1; ++k) {
      if (k == place) result = entry[k];
    }
    return result;
  }
};

}  // namespace quadrat::detail
