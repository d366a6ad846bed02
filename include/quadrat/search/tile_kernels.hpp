// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if !defined(__CUDACC__)
#error "quadrat/search/tile_kernels.hpp is for sources that nvcc compiles"
#endif

#include <cstdint>

#include "quadrat/parallel/bit_place.hpp"
#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/search/cluster_pairs.hpp"

/// Sums over cluster pairs on a GPU, for visit_clusters.hpp: a warp per row. Each sum is added up by one thread,
/// without atomic operations.
namespace quadrat::detail {

/// Threads of a block. Each warp stages tiles in shared memory of its own.
inline constexpr unsigned tiles_block = 64;
/// Tiles that a warp stages at a time, one for each lane: more give threads with few pairs more of them before they
/// wait for the others, and take room from other warps.
inline constexpr unsigned staged_tiles = 32;

/// A point of a tile, moved to its image: one 16-byte load if T is float.
template <typename T, int D>
struct alignas(4 * sizeof(T)) staged_point {
  vec<T, D> position;
  particle_id id;
};

/// What a warp stages: the points of its tiles, and for each thread a word for every four tiles. Point k of four tiles
/// is at the place of bit k.
template <typename T, int D>
struct tile_stage {
  static constexpr unsigned words_staged = staged_tiles / groups_of_row;

  staged_point<T, D> points[words_staged][32];
  std::uint32_t words[words_staged][32];

  /// Stages `count` tiles: `first`, and then each that is `step` after the one before. `tile`: the one of this lane.
  __device__ void fill(const cluster_pair_view<T, D>& view, std::uint64_t first, unsigned step, unsigned count,
                       const pair_tile<T, D>& tile) {
    const unsigned lane = threadIdx.x % 32, b = lane % points_of_group;
    const unsigned place = place_of_bit(1u << lane);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(view.masks) + points_of_row * first + lane;
    // In 32 bits: the masks of a row take much less memory than 2^32 bytes.
    const unsigned stride = static_cast<unsigned>(points_of_row) * step;
    // Loads of four turns overlap.
#pragma unroll 4
    for (unsigned four = 0; four < words_staged; ++four) {
      if (groups_of_row * four >= count) break;
      const unsigned own = groups_of_row * four + lane / points_of_group;  // beyond the last tile no bit is set
      const point_group<T, D>& group = view.groups[__shfl_sync(~0u, tile.group, own)];
      const auto translation = make_vec<T, D>([&](int axis) { return __shfl_sync(~0u, tile.translation[axis], own); });
      points[four][place] = {group.position(b) + translation, group.id[b]};
      std::uint32_t word = 0;
#pragma unroll
      for (unsigned k = 0; k < groups_of_row; ++k) {
        const unsigned next = groups_of_row * four + k;
        if (next < count) word |= static_cast<std::uint32_t>(bytes[stride * next]) << points_of_group * k;
      }
      words[four][lane] = word;
    }
  }

  /// Calls add(point, true) for the pairs of this lane in `count` staged tiles, two at a time, so that their loads
  /// overlap; and add(some point, false) where there is no second one.
  template <typename Add>
  __device__ void for_each_pair(unsigned count, const Add& add) const {
    const unsigned lane = threadIdx.x % 32, fours = (count + groups_of_row - 1) / groups_of_row;
    unsigned four = 0;
    std::uint32_t word = words[0][lane];
    const auto end_word = [&] {
      if (word == 0 && ++four < fours) word = words[four][lane];
    };
    while (four < fours) {
      const std::uint32_t one = lowest_bit_of(word);
      const staged_point<T, D> a = points[four][place_of_bit(one)];
      word ^= one;
      end_word();
      const std::uint32_t other = lowest_bit_of(word);
      const staged_point<T, D> b = points[four < fours ? four : 0][place_of_bit(other)];
      word ^= other;
      add(a, one != 0);
      add(b, other != 0);
      end_word();
    }
  }
};

/// A thread a point, which goes from bit to bit of its own masks: only listed pairs cost anything, and threads wait for
/// each other at the end of the staged tiles only. Successive tiles are on one side of the row, and have many bits for
/// the points there and none for others. So the tiles of a row are dealt out in turn to the stages that it takes. Tiles
/// are loaded while those before are summed.
template <typename T, int D, typename Sum, typename F>
__global__ void __launch_bounds__(tiles_block)
    accumulate_by_bits(const __grid_constant__ cluster_pair_view<T, D> view, Sum* result, const F f) {
  static_assert(staged_tiles == 32, "a tile for each lane");
  __shared__ tile_stage<T, D> shared[tiles_block / 32];
  const unsigned lane = threadIdx.x % 32;
  const std::size_t row = (static_cast<std::size_t>(blockIdx.x) * tiles_block + threadIdx.x) / 32;
  if (row >= view.rows) return;  // the whole warp
  tile_stage<T, D>& stage = shared[threadIdx.x / 32];
  const std::size_t place = row * points_of_row + lane;
  const vec<T, D> from = view.groups[place / points_of_group].position(place % points_of_group);
  const particle_id i = view.id(place);
  const std::uint64_t begin = view.offsets[row];
  const auto tiles = static_cast<unsigned>(view.offsets[row + 1] - begin);
  const unsigned stages = tiles / staged_tiles + (tiles % staged_tiles != 0 ? 1 : 0);
  const T squared_cutoff = view.cutoff * view.cutoff;
  Sum sum{};
  const auto add = [&](const staged_point<T, D>& to, bool listed) {
    const vec<T, D> r = to.position - from;
    const T squared = squared_norm(r);
    if (listed && squared < squared_cutoff) sum += f(i, to.id, r, squared);
  };
  pair_tile<T, D> tile{};
  if (lane * stages < tiles) tile = view.tiles[begin + lane * stages];
  for (unsigned number = 0; number < stages; ++number) {
    const unsigned count = (tiles - number - 1) / stages + 1;
    __syncwarp();
    stage.fill(view, begin + number, stages, count, tile);
    if (number + 1 + lane * stages < tiles) tile = view.tiles[begin + number + 1 + lane * stages];
    __syncwarp();
    stage.for_each_pair(count, add);
  }
  if (i != no_particle) result[i] = sum;
}

}  // namespace quadrat::detail
