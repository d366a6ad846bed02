// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if !defined(__CUDACC__)
#error "quadrat/search/tile_kernels.hpp is for sources that nvcc compiles"
#endif

#include <cstdint>
#include <limits>

#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/search/cluster_pairs.hpp"

/// Sums over cluster pairs on a GPU, for visit_clusters.hpp. Each sum is added up in a fixed order, without atomic
/// operations.
namespace quadrat::detail {

/// Warps of a block. Each stages tiles in a separate part of shared memory.
template <unsigned WarpsOfRow>
inline constexpr unsigned warps_of_tile_block = WarpsOfRow > 1 ? WarpsOfRow : 2;
/// The least number of blocks per multiprocessor: for sums with few numbers, 48 warps are faster than more
/// registers.
template <unsigned WarpsOfRow, typename T, typename Sum>
inline constexpr unsigned least_tile_blocks =
    sizeof(T) == 4 && sizeof(Sum) <= 16 ? 48 / warps_of_tile_block<WarpsOfRow> : 1;
/// Warps that share the stages of a row if there are so few rows that one warp each would leave the GPU idle.
inline constexpr unsigned warps_of_few_rows = 4;
[[nodiscard]] inline bool are_few_rows(const cuda_context& context, std::size_t rows) {
  return rows <= std::size_t{32} * static_cast<std::size_t>(context.multiprocessors());
}

/// A point of a tile, moved to its image: one 16-byte load if T is float.
template <typename T, int D>
struct alignas(4 * sizeof(T)) staged_point {
  vec<T, D> position;
  particle_id id;
};

/// The data that a warp stages: the points of its tiles, and one that is near nothing.
template <typename T, int D>
struct tile_stage {
  static constexpr T far = std::numeric_limits<T>::infinity();

  staged_point<T, D> points[no_place + 1];

  /// All lanes call it before the first stage.
  __device__ void begin() {
    if (threadIdx.x % 32 == 0) points[no_place] = {vec<T, D>::filled(far), no_particle};
  }

  /// Stages `count` tiles; each lane passes one of them.
  __device__ void fill(const cluster_pair_view<T, D>& view, unsigned count, const pair_tile<T, D>& tile) {
    const unsigned lane = threadIdx.x % 32, b = lane % points_of_group;
    // Loads of four turns overlap.
#pragma unroll 4
    for (unsigned k = 0; k < 32; k += groups_of_row) {
      if (k >= count) break;
      const unsigned own = k + lane / points_of_group;
      const point_group<T, D>& group = view.groups[__shfl_sync(~0u, tile.group, own)];
      const auto translation = make_vec<T, D>([&](int axis) { return __shfl_sync(~0u, tile.translation[axis], own); });
      if (own < staged_tiles) {
        points[points_of_group * own + b] = {group.position(b) + translation, group.id[b]};
      }
    }
  }
};

/// The row of a warp and the sum of its lane's point over every `Warps`th stage. All lanes call every function
/// together.
template <typename T, int D, typename Sum, typename F>
class row_of_tiles {
 public:
  __device__ row_of_tiles(const cluster_pair_view<T, D>& view, const staged_turns& turns, std::size_t row)
      : view_(view),
        begin_(view.offsets[row]),
        tiles_(static_cast<unsigned>(view.offsets[row + 1] - begin_)),
        stages_(stages_of_tiles(tiles_)),
        words_(turns.words + points_of_row * turns.offsets[row] + threadIdx.x % 32) {
    const std::size_t place = row * points_of_row + threadIdx.x % 32;
    from_ = view.groups[place / points_of_group].position(place % points_of_group);
    id_ = view.id(place);
    if (stages_ > 0) turns_ = static_cast<unsigned>(turns.offsets[row + 1] - turns.offsets[row]) / stages_;
  }

  [[nodiscard]] __device__ particle_id id() const { return id_; }

  /// A thread reads the staged places of its point's neighbors, four per turn, one turn ahead. Only listed pairs cost
  /// time, and threads wait for each other only at the end of the staged tiles.
  __device__ void add(tile_stage<T, D>& stage, unsigned first, unsigned step, const F& f, Sum& sum) const {
    const T squared_cutoff = view_.cutoff * view_.cutoff;
    const auto meet = [&](unsigned place) {
      const staged_point<T, D> to = stage.points[place];
      const vec<T, D> r = to.position - from_;
      const T squared = squared_norm(r);
      if (squared < squared_cutoff) sum += f(id_, to.id, r, squared);
    };
    stage.begin();
    for (unsigned number = first; number < stages_; number += step) {
      const std::uint32_t* words = words_ + points_of_row * number * turns_;
      std::uint32_t next = turns_ > 0 ? *words : 0;
      __syncwarp();
      fill(stage, number);
      __syncwarp();
      for (unsigned turn = 1; turn <= turns_; ++turn) {
        const std::uint32_t places = next;
        if (turn < turns_) next = words[points_of_row * turn];
#pragma unroll
        for (unsigned k = 0; k < places_of_turn; ++k) meet(places >> 8 * k & 0xffu);
      }
    }
  }

 private:
  __device__ void fill(tile_stage<T, D>& stage, unsigned number) const {
    const unsigned count = (tiles_ - number - 1) / stages_ + 1, lane = threadIdx.x % 32;
    pair_tile<T, D> tile{};
    if (lane < count) tile = view_.tiles[begin_ + number + lane * stages_];
    stage.fill(view_, count, tile);
  }

  const cluster_pair_view<T, D>& view_;
  std::uint64_t begin_;
  unsigned tiles_;
  unsigned stages_;
  const std::uint32_t* words_;
  unsigned turns_ = 0;  // of a stage
  vec<T, D> from_;
  particle_id id_;
};

/// `Warps` for each row.
template <unsigned Warps, typename T, int D, typename Sum, typename F>
__global__ void __launch_bounds__(32 * warps_of_tile_block<Warps>, least_tile_blocks<Warps, T, Sum>)
    accumulate_by_turns(const __grid_constant__ cluster_pair_view<T, D> view,
                        const __grid_constant__ staged_turns turns, Sum* result, const F f) {
  constexpr unsigned block = warps_of_tile_block<Warps>;
  __shared__ tile_stage<T, D> stages[block];
  const unsigned warp = threadIdx.x / 32;
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * (block / Warps) + warp / Warps;
  if (row >= view.rows) return;  // the whole warp; with several for a row, the block has only one
  const row_of_tiles<T, D, Sum, F> tiles(view, turns, row);
  Sum sum{};
  tiles.add(stages[warp], warp % Warps, Warps, f, sum);
  if constexpr (Warps > 1) {
    // Not an array of Sum, whose constructor would have to be trivial.
    __shared__ alignas(Sum) unsigned char memory[32 * block * sizeof(Sum)];
    Sum* const sums = reinterpret_cast<Sum*>(memory);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (warp != 0) return;
    for (unsigned k = 1; k < Warps; ++k) sum += sums[32 * k + threadIdx.x];
  }
  if (tiles.id() != no_particle) result[tiles.id()] = sum;
}

}  // namespace quadrat::detail
