// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "search/masks/masks.hpp"

/// Loads of points.
namespace quadrat::detail {

/// The wrapped point of a slot, and its id: one 16-byte load through the read-only path if the record has 16 bytes.
template <typename T, int D>
__device__ search_point<T, D> load_point(const masks_search<T, D>& a, std::uint32_t slot) {
  if constexpr (sizeof(search_point<T, D>) == 16) {
    const float4 words = __ldg(reinterpret_cast<const float4*>(a.search.records) + slot);
    search_point<T, D> record;
    record.position[0] = words.x;
    record.position[1] = words.y;
    if constexpr (D == 3) record.position[2] = words.z;
    record.id = __float_as_uint(D == 3 ? words.w : words.z);
    return record;
  } else {
    return a.search.records[slot];
  }
}

/// Loads four numbers at once. The compiler cannot delay these loads, so those of a block are in flight together.
__device__ inline void load_four(const float* from, float (&to)[4]) {
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(from));
}
__device__ inline void load_four(const double* from, double (&to)[4]) {
  for (int k = 0; k < 4; k += 2) {
    asm volatile("ld.global.nc.v2.f64 {%0, %1}, [%2];" : "=d"(to[k]), "=d"(to[k + 1]) : "l"(from + k));
  }
}
__device__ inline void load_four(const particle_id* from, particle_id (&to)[4]) {
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "l"(from));
}

/// Whether a search reads records, with the ids that half lists need, instead of blocks. One load then reads a whole
/// point, and ranges may begin anywhere.
template <bool Half, typename T, int D>
inline constexpr bool reads_records = Half && sizeof(search_point<T, D>) == 16;

template <typename T, int D>
using four_records = search_point<T, D>[point_block<T, D>::points];

/// The four points from a slot on, which begins a block unless records are read.
template <bool Half, typename T, int D>
__device__ auto four_points_at(const masks_search<T, D>& a, std::uint32_t slot) {
  if constexpr (reads_records<Half, T, D>) {
    return reinterpret_cast<const four_records<T, D>*>(a.search.records + slot);
  } else {
    return a.blocks + slot / point_block<T, D>::points;
  }
}
template <bool Half, typename T, int D>
__device__ void load_points(const four_records<T, D>* from, four_records<T, D>& to) {
  float words[4][4];
#pragma unroll
  for (int k = 0; k < 4; ++k) load_four(reinterpret_cast<const float*>(*from + k), words[k]);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    for (int axis = 0; axis < D; ++axis) to[k].position[axis] = words[k][axis];
    to[k].id = __float_as_uint(words[k][D]);
  }
}
/// Loads ids only for half lists.
template <bool Half, typename T, int D>
__device__ void load_points(const point_block<T, D>* from, four_records<T, D>& to) {
  point_block<T, D> four;
  for (int axis = 0; axis < D; ++axis) load_four(from->position[axis], four.position[axis]);
  if constexpr (Half) load_four(from->ids, four.ids);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    for (int axis = 0; axis < D; ++axis) to[k].position[axis] = four.position[axis][k];
    if constexpr (Half) to[k].id = four.ids[k];
  }
}

}  // namespace quadrat::detail
