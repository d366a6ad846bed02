// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "mesh/tiles/cuda/problem.hpp"
#include "parallel/atomic_row.hpp"

/// Reads and adds values of one or two channels; the two of a complex value in one access.
namespace quadrat::detail {

template <typename T>
using tile_pair = std::conditional_t<sizeof(T) == 4, float2, double2>;

template <typename T, int Channels>
__device__ __forceinline__ void load_tile_channels(const T* const* from, int stride, bool pairs, std::size_t i,
                                                   T (&value)[Channels]) {
  if constexpr (Channels == 2) {
    if (pairs) {
      const tile_pair<T> both = __ldg(reinterpret_cast<const tile_pair<T>*>(from[0]) + i);
      value[0] = both.x, value[1] = both.y;
      return;
    }
  }
#pragma unroll
  for (int c = 0; c < Channels; ++c) value[c] = __ldg(from[c] + i * static_cast<std::size_t>(stride));
}

/// The values of a point.
template <typename T, int Channels>
__device__ __forceinline__ void load_tile_values(const tile_channels<T>& channels, particle_id id,
                                                 T (&value)[Channels]) {
  load_tile_channels<T, Channels>(channels.values, channels.stride, channels.pairs, id, value);
}

/// The values of a mesh point.
template <typename T, int Channels>
__device__ __forceinline__ void load_tile_node(const tile_channels<T>& channels, std::size_t node,
                                               T (&value)[Channels]) {
  load_tile_channels<T, Channels>(channels.mesh, channels.stride, channels.pairs, node, value);
}

template <typename T, int Channels>
__device__ __forceinline__ void add_to_tile_mesh(const tile_channels<T>& channels, std::size_t node,
                                                 const T (&value)[Channels]) {
  if constexpr (Channels == 2 && sizeof(T) == 4) {
    if (channels.pairs) {
      atomic_add_row<2>(channels.mesh[0] + 2 * node, value);
      return;
    }
  }
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    atomicAdd(channels.mesh[c] + node * static_cast<std::size_t>(channels.stride), value[c]);
  }
}

}  // namespace quadrat::detail
