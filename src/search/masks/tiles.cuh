// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "search/masks/search.cuh"

/// The search in batches of small systems: every pair is tested once, and both points get a bit.
namespace quadrat::detail {

inline constexpr unsigned tiles_block = 256;
/// The number of blocks that search systems too large for one block.
inline constexpr unsigned large_system_blocks = 256;

/// Bit b of lane l becomes bit l of lane b. Called by the whole warp.
[[nodiscard]] __device__ inline std::uint32_t transposed_bits(std::uint32_t bits, std::uint32_t lane) {
  std::uint32_t low = 0x0000ffffu;
#pragma unroll
  for (std::uint32_t step = 16; step > 0; step /= 2) {
    const std::uint32_t other = __shfl_xor_sync(~0u, bits, static_cast<int>(step));
    bits = (lane & step) == 0 ? (bits & low) | (other & low) << step : (bits & ~low) | (other >> step & low);
    low ^= low << (step / 2);
  }
  return bits;
}

/// Absolute components of the separation to the nearest image, for points in the box. Rounded like those of
/// `nearest_image`.
template <typename T, int D>
struct nearest_size {
  vec<T, D> length;

  __device__ explicit nearest_size(const lattice<T, D>& shape) {
    for (int axis = 0; axis < D; ++axis) length[axis] = shape.periodic[axis] ? shape.vectors[axis][axis] : T(INFINITY);
  }
  __device__ vec<T, D> operator()(vec<T, D> r) const {
    for (int axis = 0; axis < D; ++axis) r[axis] = fmin(fabs(r[axis]), length[axis] - fabs(r[axis]));
    return r;
  }
};

/// A warp tests 32 points against 32 others of its system, and stores the bits of both. word k of point i, with the
/// bits of points 32 k to 32 k + 31, is words[k * capacity + i].
template <bool Half, typename T, int D>
__device__ void test_tile(const masks_search<T, D>& a, const nearest_size<T, D>& image,
                          const search_point<T, D>* points, std::uint32_t count, std::uint32_t row,
                          std::uint32_t column, std::uint32_t* words) {
  const std::uint32_t lane = threadIdx.x % 32;
  const search_point<T, D> own = points[32 * row + lane];
  std::uint32_t near = 0, before = 0;  // closer than the cutoff; own id smaller
#pragma unroll 8
  for (std::uint32_t k = 0; k < 32; ++k) {
    const search_point<T, D> other = points[32 * column + k];
    near = __funnelshift_l(pair_sign<false>(a, own, other, image), near, 1);
    if constexpr (Half) before = __funnelshift_l(own.id - other.id, before, 1);
  }
  near = __brev(near);
  if constexpr (Half) before = __brev(before);
  const std::uint32_t left = count - 32 * column;
  if (left < 32) near &= (1u << left) - 1;
  if (row == column) near &= ~(1u << lane);
  words[column * a.tile_points + 32 * row + lane] = Half ? near & before : near;
  if (row == column) return;
  words[row * a.tile_points + 32 * column + lane] = transposed_bits(Half ? near & ~before : near, lane);
}

/// A block tests all pairs of a system.
template <bool Half, typename T, int D>
__device__ void test_tiles(const masks_search<T, D>& a, const nearest_size<T, D>& image,
                           const search_point<T, D>* points, std::uint32_t count, std::uint32_t* words) {
  const std::uint32_t groups = (count + 31) / 32;
  std::uint32_t row = 0, step = threadIdx.x / 32;  // tiles row by row, each from the diagonal on
  while (true) {
    while (row < groups && row + step >= groups) step -= groups - row++;
    if (row >= groups) break;
    test_tile<Half>(a, image, points, count, row, row + step, words);
    step += tiles_block / 32;
  }
}

/// The masks and the number of pairs of a row.
template <typename T, int D>
__device__ void store_row(const masks_search<T, D>& a, std::uint32_t slot, particle_id id, std::uint32_t first,
                          std::uint32_t groups, const std::uint32_t* words, std::uint32_t* counts) {
  std::uint32_t count = 0, used = 0;
  candidate_mask* to = a.words + slot * a.slot_stride;
  for (std::uint32_t k = 0; k < groups; ++k) {
    const std::uint32_t bits = words[k * a.tile_points];
    if (bits == 0) continue;
    if (used < a.words_a_row) *to = {bits, first + 32 * k - 1};
    to += a.mask_stride;
    ++used;
    count += static_cast<std::uint32_t>(__popc(bits));
  }
  a.shares[slot] = {count, used};
  counts[id] = count;
  if (used > a.words_a_row) atomic_max(a.most_used, static_cast<std::uint64_t>(used));
}

/// Finds the systems with more points than fit, and searches them with all these blocks, a thread per row.
template <bool Half, typename T, int D>
__device__ void count_large_systems(const masks_search<T, D>& a, std::uint32_t block, std::uint32_t* counts) {
  __shared__ std::uint32_t found[tiles_block];
  __shared__ std::uint32_t found_count;
  for (std::uint32_t base = 0; base < a.search.system_count; base += tiles_block) {
    if (threadIdx.x == 0) found_count = 0;
    __syncthreads();
    const std::uint32_t mine = base + threadIdx.x;
    if (mine < a.search.system_count) {
      const row_range<D> all = whole_system(a, a.search.systems[mine]);
      if (all.last - all.first > a.tile_points) found[atomicAdd(&found_count, 1u)] = mine;
    }
    __syncthreads();
    for (std::uint32_t k = 0; k < found_count; ++k) {
      const row_range<D> all = whole_system(a, a.search.systems[found[k]]);
      for (std::uint32_t slot = all.first + block * tiles_block + threadIdx.x; slot < all.last;
           slot += large_system_blocks * tiles_block) {
        count_one_row<Half, boxes_kind::many_small>(a, slot, counts);
      }
    }
    __syncthreads();
  }
}

/// A block per system, and some more.
template <bool Half, typename T, int D>
__global__ void __launch_bounds__(tiles_block)
    count_by_tiles(const __grid_constant__ masks_search<T, D> a, std::uint32_t* counts) {
  extern __shared__ float4 memory[];
  if (blockIdx.x >= a.search.system_count) {
    count_large_systems<Half>(a, blockIdx.x - a.search.system_count, counts);
    return;
  }
  auto* points = reinterpret_cast<search_point<T, D>*>(memory);
  auto* words = reinterpret_cast<std::uint32_t*>(points + a.tile_points);
  const search_system<T, D>& system = a.search.systems[blockIdx.x];
  const row_range<D> all = whole_system(a, system);
  const std::uint32_t count = all.last - all.first, groups = (count + 31) / 32;
  if (count > a.tile_points) return;
  for (std::uint32_t i = threadIdx.x; i < 32 * groups; i += tiles_block) {
    points[i] = load_point(a, all.first + min(i, count - 1));
  }
  __syncthreads();
  test_tiles<Half>(a, nearest_size<T, D>(system.shape), points, count, words);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < count; i += tiles_block) {
    store_row(a, all.first + i, points[i].id, all.first, groups, words + i, counts);
  }
}

}  // namespace quadrat::detail
