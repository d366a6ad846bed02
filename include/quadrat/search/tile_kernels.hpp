// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if !defined(__CUDACC__)
#error "quadrat/search/tile_kernels.hpp is for sources that nvcc compiles"
#endif

#include <cstdint>

#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/search/cluster_pairs.hpp"

/// Sums over cluster pairs on a GPU, for visit_clusters.hpp: a warp per row. Each sum is added up by one thread,
/// without atomic operations.
namespace quadrat::detail {

/// Threads of a block. Each warp stages tiles in shared memory of its own.
inline constexpr unsigned tiles_block = 64;
/// Tiles that a warp stages at a time: more give threads with few pairs more of them before they wait for the others,
/// and take room from other warps.
inline constexpr unsigned staged_tiles = 32;

/// A point of a tile, moved to its image: one 16-byte load if T is float.
template <typename T, int D>
struct alignas(4 * sizeof(T)) staged_point {
  vec<T, D> position;
  particle_id id;
};

/// What a warp stages: the points of its tiles, and for each thread a word for every four tiles.
template <typename T, int D>
struct tile_stage {
  staged_point<T, D> points[staged_tiles * points_of_group];
  std::uint32_t words[staged_tiles / groups_of_row][32];

  /// Stages the tiles [first, last), at most staged_tiles.
  __device__ void fill(const cluster_pair_view<T, D>& view, std::uint64_t first, std::uint64_t last) {
    const unsigned lane = threadIdx.x % 32;
    const auto count = static_cast<unsigned>(last - first);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(view.masks);
    for (unsigned four = 0; groups_of_row * four < count; ++four) {
      const unsigned own = groups_of_row * four + lane / points_of_group;
      if (own < count) {
        const pair_tile<T, D> tile = view.tiles[first + own];
        const point_group<T, D>& group = view.groups[tile.group];
        const unsigned b = lane % points_of_group;
        points[32 * four + lane] = {group.position(b) + tile.translation, group.id[b]};
      }
      std::uint32_t word = 0;
#pragma unroll
      for (unsigned k = 0; k < groups_of_row; ++k) {
        const unsigned tile = groups_of_row * four + k;
        if (tile < count) word |= static_cast<std::uint32_t>(bytes[points_of_row * (first + tile) + lane]) << 8 * k;
      }
      words[four][lane] = word;
    }
  }
};

/// A thread a point, which goes from bit to bit of its own masks: only listed pairs cost anything, and threads wait for
/// each other at the end of the staged tiles only.
template <typename T, int D, typename Sum, typename F>
__global__ void __launch_bounds__(tiles_block)
    accumulate_by_bits(const __grid_constant__ cluster_pair_view<T, D> view, Sum* result, const F f) {
  __shared__ tile_stage<T, D> stages[tiles_block / 32];
  const unsigned lane = threadIdx.x % 32;
  const std::size_t row = (static_cast<std::size_t>(blockIdx.x) * tiles_block + threadIdx.x) / 32;
  if (row >= view.rows) return;  // the whole warp
  tile_stage<T, D>& stage = stages[threadIdx.x / 32];
  const std::size_t place = row * points_of_row + lane;
  const vec<T, D> from = view.groups[place / points_of_group].position(place % points_of_group);
  const particle_id i = view.id(place);
  const std::uint64_t end = view.offsets[row + 1];
  const T squared_cutoff = view.cutoff * view.cutoff;
  Sum sum{};
  for (std::uint64_t first = view.offsets[row]; first < end; first += staged_tiles) {
    const std::uint64_t last = first + staged_tiles < end ? first + staged_tiles : end;
    __syncwarp();
    stage.fill(view, first, last);
    __syncwarp();
    const unsigned fours = static_cast<unsigned>(last - first + groups_of_row - 1) / groups_of_row;
    unsigned four = 0;
    std::uint32_t word = stage.words[0][lane];
    for (;;) {
      while (word == 0 && ++four < fours) word = stage.words[four][lane];
      if (word == 0) break;
      const staged_point<T, D> to = stage.points[32 * four + lowest_bit(word)];
      word &= word - 1;
      const vec<T, D> r = to.position - from;
      const T squared = squared_norm(r);
      if (squared < squared_cutoff) sum += f(i, to.id, r, squared);
    }
  }
  if (i != no_particle) result[i] = sum;
}

}  // namespace quadrat::detail
