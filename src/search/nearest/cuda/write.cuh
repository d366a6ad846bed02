// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "search/nearest/cuda/lane_list.cuh"
#include "search/nearest/rows.hpp"

/// Writes the neighbors that a thread has found for a row.
namespace quadrat::detail {

/// Whether a place of a row has no neighbor.
template <typename T, typename Entry>
[[nodiscard]] __device__ bool is_vacant(const Entry& entry, T squared_cutoff) {
  return entry.key() == 0 && !(entry.squared() < squared_cutoff);
}

/// Four places with each store: stores of single places would each write to 32 rows for a few bytes. `first`: a
/// multiple of 4.
template <nearest_keys Keys, int D, typename Entry, int Capacity>
__device__ void write_by_fours(const nearest_search<float, D>& search, const lane_list<Entry, Capacity>& list,
                               std::size_t first) {
#pragma unroll
  for (int place = 0; place < Capacity; place += 4) {
    if (static_cast<std::size_t>(place) >= search.sink.k) break;
    particle_id id[4];
    float squared[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const Entry& found = list.entry[place + k];
      const bool vacant = is_vacant(found, search.squared_cutoff);
      id[k] = vacant ? no_particle : nearest_key<Keys>::id(search.images, found.key());
      squared[k] = vacant ? nearest_infinity<float> : found.squared();
    }
    const std::size_t at = first + static_cast<std::size_t>(place);
    *reinterpret_cast<uint4*>(search.sink.neighbors + at) = {id[0], id[1], id[2], id[3]};
    *reinterpret_cast<float4*>(search.sink.squared_distances + at) = {squared[0], squared[1], squared[2], squared[3]};
  }
}

template <nearest_keys Keys, typename T, int D, typename Entry, int Capacity>
__device__ void write_nearest_row(const nearest_search<T, D>& search, const lane_list<Entry, Capacity>& list,
                                  std::size_t row, const vec<int, D>& boxes) {
  const nearest_sink<T, D>& sink = search.sink;
  if constexpr (sizeof(T) == 4) {
    if (sink.k % 4 == 0 && sink.shifts == nullptr) return write_by_fours<Keys>(search, list, row * sink.k);
  }
#pragma unroll
  for (int place = 0; place < Capacity; ++place) {
    if (static_cast<std::size_t>(place) >= sink.k) break;
    const std::size_t at = row * sink.k + static_cast<std::size_t>(place);
    const Entry& found = list.entry[place];
    if (is_vacant(found, search.squared_cutoff)) {
      sink.store_nothing(at);
      continue;
    }
    sink.store(at, nearest_key<Keys>::id(search.images, found.key()), found.squared(),
               nearest_key<Keys>::shift(search.images, found.key()), boxes);
  }
}

}  // namespace quadrat::detail
