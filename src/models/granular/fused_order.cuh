// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "models/granular/fused_state.cuh"
#include "parallel/block_scan.cuh"

/// The kernels of the fused engine that move grains and bring them into the order of cells.
namespace quadrat::detail {

inline constexpr unsigned scan_threads = 256;
inline constexpr unsigned scan_items = 16;
inline constexpr unsigned scan_tile = scan_threads * scan_items;

/// Index: pending grain. Makes the motion of the first step of a run.
template <typename T>
__global__ void __launch_bounds__(256) move_kernel(fused_state<T> state) {
  const std::uint32_t slot = blockIdx.x * 256 + threadIdx.x;
  if (slot >= state.count) return;
  const auto position = load(&state.pending[slot].position);
  const auto velocity = load(&state.pending[slot].velocity);
  move_and_count(state, slot, position.value, velocity.value, position.word);
}

/// Sum of all tiles before this one, by one warp looking back over 32 tiles at a time (decoupled look-back, Merrill and
/// Garland 2016). A tile's word holds (round << 2 | flag) above its sum; flag 1: sum of the tile, 2: sum up to its end.
/// Rounds distinguish the words of this scan from those of the previous one, so nothing needs clearing.
__device__ inline std::uint32_t look_back(volatile std::uint64_t* words, std::uint32_t tile, std::uint64_t round,
                                          std::uint32_t total, unsigned lane) {
  const auto publish = [&](std::uint64_t flag, std::uint32_t sum) {
    if (lane == 0) words[tile] = ((round << 2 | flag) << 32) | sum;
  };
  if (tile == 0) {
    publish(2, total);
    return 0;
  }
  publish(1, total);
  std::uint32_t before = 0;
  for (int at = static_cast<int>(tile) - 1 - static_cast<int>(lane);; at -= 32) {
    std::uint64_t word = (round << 2 | 2) << 32;  // before the first tile: a finished sum of 0
    if (at >= 0) {
      do {
        word = words[at];
      } while ((word >> 34) != round);
    }
    const unsigned finished = __ballot_sync(~0u, (word >> 32 & 3) == 2);
    const unsigned nearest = finished == 0 ? 31 : __ffs(static_cast<int>(finished)) - 1;
    std::uint32_t sum = lane <= nearest ? static_cast<std::uint32_t>(word) : 0;
    for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    before += sum;
    if (finished != 0) break;
  }
  publish(2, before + total);
  return before;
}

/// Tile: 4096 cells. Computes offsets of cells from their counts, in one pass, and resets the counts to zero.
template <typename T>
__global__ void __launch_bounds__(scan_threads) offsets_kernel(fused_state<T> state, std::uint32_t tiles) {
  __shared__ unsigned long long taken;
  __shared__ std::uint32_t warp_totals[scan_threads / 32];
  __shared__ std::uint32_t before_tile;
  if (threadIdx.x == 0) {
    taken = atomicAdd(state.ticket, 1ull);
    if (blockIdx.x == 0) ++*state.moves;
  }
  __syncthreads();
  const auto tile = static_cast<std::uint32_t>(taken % tiles);
  const std::uint64_t round = (taken / tiles + 1) & ((1u << 30) - 1);

  uint4* counts = reinterpret_cast<uint4*>(state.counts + tile * std::size_t{scan_tile}) + threadIdx.x * 4;
  uint4 values[4];
  std::uint32_t sum = 0;
  for (int k = 0; k < 4; ++k) {
    const uint4 read = counts[k];
    counts[k] = make_uint4(0, 0, 0, 0);
    values[k] = make_uint4(sum, sum + read.x, sum + read.x + read.y, sum + read.x + read.y + read.z);
    sum = values[k].w + read.w;
  }
  std::uint32_t before = block_exclusive_sum(sum, warp_totals);
  std::uint32_t total = 0;
  for (const std::uint32_t part : warp_totals) total += part;
  if (threadIdx.x < 32) {
    const std::uint32_t tiles_before = look_back(state.tile_states, tile, round, total, threadIdx.x);
    if (threadIdx.x == 0) before_tile = tiles_before;
  }
  __syncthreads();
  before += before_tile;
  uint4* offsets = reinterpret_cast<uint4*>(state.offsets + tile * std::size_t{scan_tile}) + threadIdx.x * 4;
  for (int k = 0; k < 4; ++k) {
    offsets[k] = make_uint4(values[k].x + before, values[k].y + before, values[k].z + before, values[k].w + before);
  }
}

/// Index: pending grain. Writes its id to its place in its cell, in order of arrival.
template <typename T>
__global__ void __launch_bounds__(256) arrivals_kernel(fused_state<T> state) {
  const std::uint32_t slot = blockIdx.x * 256 + threadIdx.x;
  if (slot >= state.count) return;
  const auto position = load(&state.pending[slot].position);
  state.ids[state.offsets[state.cell_of(position.value)] + state.rank[slot]] = position.word;
}

/// Index: pending grain. Moves it to its slot in cell order; within a cell in order of arrival, or of id.
template <typename T, bool ById>
__global__ void __launch_bounds__(256) scatter_kernel(fused_state<T> state) {
  const std::uint32_t slot = blockIdx.x * 256 + threadIdx.x;
  if (slot >= state.count) return;
  const auto position = load(&state.pending[slot].position);
  const auto velocity = load(&state.pending[slot].velocity);
  const cell_id cell = state.cell_of(position.value);
  std::uint32_t to = state.offsets[cell];
  if constexpr (ById) {
    const std::uint32_t last = state.offsets[cell + 1];
    std::uint32_t smaller = 0;
    for (std::uint32_t other = to; other < last; ++other) smaller += state.ids[other] < position.word ? 1 : 0;
    to += smaller;
  } else {
    to += state.rank[slot];
  }
  store(&state.ordered[to].position, position.value, position.word);
  store(&state.ordered[to].velocity, velocity.value, 0);
  state.words[to] = state.compressed(position.value, T(0));
}

}  // namespace quadrat::detail
