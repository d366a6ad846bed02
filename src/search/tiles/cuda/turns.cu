// SPDX-License-Identifier: BSD-3-Clause
#include "search/tiles/cuda/turns.hpp"

#include "parallel/warp_reduce.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

constexpr unsigned turns_block = 128;

/// A row, for all lanes of its warp.
struct row_of_masks {
  const std::uint8_t* masks;  ///< of this lane's point, by tile
  unsigned tiles;
  unsigned stages;

  __device__ row_of_masks(const masked_rows& what, std::size_t row)
      : masks(what.masks + points_of_row * what.offsets[row] + threadIdx.x % 32),
        tiles(static_cast<unsigned>(what.offsets[row + 1] - what.offsets[row])),
        stages(stages_of_tiles(tiles)) {}
};

/// The neighbors of this lane's point in a stage that have no turn yet: a bit per tile for each point of a group.
class neighbors_left {
 public:
  /// `memory`: a word of each lane for each point of a group.
  __device__ neighbors_left(std::uint32_t (&memory)[points_of_group][32], const row_of_masks& row, unsigned stage)
      : tiles_(memory) {
    std::uint32_t bits[points_of_group] = {};
    unsigned k = 0;
#pragma unroll 4
    for (unsigned tile = stage; tile < row.tiles; tile += row.stages, ++k) {
      const std::uint32_t mask = row.masks[points_of_row * static_cast<std::size_t>(tile)];
#pragma unroll
      for (unsigned b = 0; b < points_of_group; ++b) bits[b] |= (mask >> b & 1u) << k;
    }
#pragma unroll
    for (unsigned b = 0; b < points_of_group; ++b) {
      tiles_[b][threadIdx.x % 32] = bits[b];
      points_ |= (bits[b] != 0 ? 1u : 0u) << b;
    }
  }

  /// Takes a neighbor that is point b of its group, or else the next point that has one.
  __device__ unsigned take(unsigned b) {
    if (points_ == 0) return no_place;
    b = (b + lowest_bit((points_ | points_ << points_of_group) >> b)) % points_of_group;
    std::uint32_t& tiles = tiles_[b][threadIdx.x % 32];
    const std::uint32_t old = tiles, rest = old & (old - 1);
    tiles = rest;
    if (rest == 0) points_ &= ~(1u << b);
    return static_cast<unsigned>(points_of_group) * lowest_bit(old) + b;
  }

 private:
  std::uint32_t (&tiles_)[points_of_group][32];
  std::uint32_t points_ = 0;  // points of groups that have neighbors left
};

__global__ void __launch_bounds__(turns_block)
    count_turns(const __grid_constant__ masked_rows what, std::uint32_t* counts) {
  const std::size_t number = (static_cast<std::size_t>(blockIdx.x) * turns_block + threadIdx.x) / 32;
  if (number >= what.rows) return;  // the whole warp
  const row_of_masks row(what, number);
  unsigned most = 0;
  for (unsigned stage = 0; stage < row.stages; ++stage) {
    unsigned count = 0;
#pragma unroll 4
    for (unsigned tile = stage; tile < row.tiles; tile += row.stages) {
      count += static_cast<unsigned>(__popc(row.masks[points_of_row * static_cast<std::size_t>(tile)]));
    }
    most = max(most, count);
  }
  most = warp_max(most);
  if (threadIdx.x % 32 == 0) counts[number] = row.stages * ((most + places_of_turn - 1) / places_of_turn);
}

/// Neighboring lanes begin with different points of groups, and go on to the next point each time, so that they rarely
/// read from one bank of shared memory together.
__global__ void __launch_bounds__(turns_block)
    write_turns(const __grid_constant__ masked_rows what, const std::uint64_t* offsets, std::uint32_t* words) {
  __shared__ std::uint32_t memory[turns_block / 32][points_of_group][32];
  const unsigned lane = threadIdx.x % 32;
  const std::size_t number = (static_cast<std::size_t>(blockIdx.x) * turns_block + threadIdx.x) / 32;
  if (number >= what.rows) return;  // the whole warp
  const row_of_masks row(what, number);
  if (row.stages == 0) return;
  const unsigned turns = static_cast<unsigned>(offsets[number + 1] - offsets[number]) / row.stages;
  std::uint32_t* to = words + points_of_row * offsets[number] + lane;
  for (unsigned stage = 0; stage < row.stages; ++stage) {
    neighbors_left left(memory[threadIdx.x / 32], row, stage);
    unsigned b = lane % points_of_group;
    for (unsigned turn = 0; turn < turns; ++turn, to += points_of_row) {
      std::uint32_t word = 0;
#pragma unroll
      for (unsigned k = 0; k < places_of_turn; ++k, b = (b + 1) % points_of_group) word |= left.take(b) << 8 * k;
      *to = word;
    }
  }
}

}  // namespace

void enqueue_turn_counts(const cuda_context& context, const masked_rows& what, std::uint32_t* counts) {
  if (what.rows == 0) return;
  const cuda_launch launch(context, "search.count_turns");
  const unsigned blocks = cuda_launch::blocks(points_of_row * what.rows, turns_block);
  count_turns<<<blocks, turns_block, 0, context.stream()>>>(what, counts);
  launch.check();
}

void enqueue_turns(const cuda_context& context, const masked_rows& what, const std::uint64_t* offsets,
                   std::uint32_t* words) {
  if (what.rows == 0) return;
  const cuda_launch launch(context, "search.write_turns");
  const unsigned blocks = cuda_launch::blocks(points_of_row * what.rows, turns_block);
  write_turns<<<blocks, turns_block, 0, context.stream()>>>(what, offsets, words);
  launch.check();
}

}  // namespace quadrat::detail
