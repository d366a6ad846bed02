// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "models/granular_engine.hpp"
#include "models/granular_force.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/grid.hpp"

/// Kernels of the fused engine. One time step is three of them:
///
///   offsets   exclusive scan of the cells' counts, which it sets back to zero
///   scatter   every grain to its place in cell order, and its compressed position beside
///   collide   forces on every grain, then the motion of the next step, and its rank in the cell it moves to
///
/// What is measured to matter, on an H200: a plain loop over candidates is bound by the L1 cache, which needs four
/// cycles for a warp's 16-byte positions, and executes the force for nearly every candidate because some lane needs it.
/// So candidates are first tested in 4 bytes each, conservatively, which leaves one bit a candidate; then every lane
/// walks its own hits. 1.75 times faster than the plain loop at 4 grains a cell.
namespace quadrat::detail {

/// A position or a velocity, and a word beside it: four components, which a GPU loads at once.
template <typename T>
struct alignas(4 * sizeof(T)) fused_record {
  vec<T, 3> value;
  particle_id word;
};

/// A grain where the kernels keep it: 32 bytes in float, one sector of memory. The position's word is the grain's id.
template <typename T>
struct grain {
  fused_record<T> position;
  fused_record<T> velocity;
};

/// Positions in 8 bits an axis, modulo 256 units: enough for differences below two cells, which is all that a
/// neighborhood needs. Differences of all axes come from one 32-bit subtraction: a borrow between the bytes changes the
/// next one by a unit, which the threshold allows for.
template <typename T>
struct compressed_positions {
  vec<T, 3> lower;
  T units_per_length;
  int threshold;  ///< minus the squared length, in units, below which a pair may touch

  [[nodiscard]] QUADRAT_HD std::uint32_t operator()(const vec<T, 3>& position, T rounding) const {
    std::uint32_t word = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const T units = (position[axis] - lower[axis]) * units_per_length + rounding;
      word |= (static_cast<std::uint32_t>(static_cast<int>(units)) & 255u) << (8 * axis);
    }
    return word;
  }
};

/// What all kernels of an engine work on.
template <typename T>
struct fused_state {
  granular_setup<T> setup;
  compressed_positions<T> compressed;
  std::uint32_t count;
  std::uint32_t cells;         ///< number of cells
  grain<T>* pending;           ///< moved and not yet in cell order; between runs, the state
  grain<T>* ordered;           ///< in cell order
  std::uint32_t* words;        ///< compressed positions of `ordered`, padded to whole groups of four
  std::uint32_t* rank;         ///< of a pending grain in its cell
  std::uint32_t* counts;       ///< grains a cell, padded to whole tiles
  std::uint32_t* offsets;      ///< first slot of each cell, and the end, padded likewise
  std::uint64_t* tile_states;  ///< of the scan
  unsigned long long* ticket;  ///< next tile of the scan to be taken
  std::uint64_t* moves;        ///< motions made so far: the number of the step
  particle_id* ids;            ///< of a cell in order of arrival; nullptr unless order is asked for
  granular_fault fault;

  [[nodiscard]] QUADRAT_HD cell_id cell_of(const vec<T, 3>& position) const {
    return row_major_numbering<3>{setup.space.cells}.id(setup.space.cell_of(position));
  }
};

inline constexpr unsigned scan_threads = 256;
inline constexpr unsigned scan_items = 16;
inline constexpr unsigned scan_tile = scan_threads * scan_items;

/// Loads that the compiler may not move behind a branch, so that several are under way at once.
__device__ inline fused_record<float> load(const fused_record<float>* from) {
  float4 raw;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(raw.x), "=f"(raw.y), "=f"(raw.z), "=f"(raw.w)
               : "l"(from));
  return {{raw.x, raw.y, raw.z}, __float_as_uint(raw.w)};
}
__device__ inline fused_record<double> load(const fused_record<double>* from) {
  double2 low;
  double2 high;
  asm volatile("ld.global.v2.f64 {%0, %1}, [%2];" : "=d"(low.x), "=d"(low.y) : "l"(from));
  asm volatile("ld.global.v2.f64 {%0, %1}, [%2+16];" : "=d"(high.x), "=d"(high.y) : "l"(from));
  return {{low.x, low.y, high.x}, static_cast<particle_id>(__double_as_longlong(high.y))};
}
__device__ inline void store(fused_record<float>* to, const vec<float, 3>& value, particle_id word) {
  *reinterpret_cast<float4*>(to) = make_float4(value[0], value[1], value[2], __uint_as_float(word));
}
__device__ inline void store(fused_record<double>* to, const vec<double, 3>& value, particle_id word) {
  reinterpret_cast<double2*>(to)[0] = make_double2(value[0], value[1]);
  reinterpret_cast<double2*>(to)[1] = make_double2(value[2], __longlong_as_double(word));
}

/// Step 1 of the model for one grain, and its place in the cell that it comes to.
template <typename T>
__device__ void move_and_count(const fused_state<T>& state, std::uint32_t slot, vec<T, 3> position, vec<T, 3> velocity,
                               particle_id id) {
  if (!state.setup.motion(position, velocity)) state.fault.raise(*state.moves + 1, id);
  store(&state.pending[slot].position, position, id);
  store(&state.pending[slot].velocity, velocity, 0);
  state.rank[slot] = atomicAdd(state.counts + state.cell_of(position), 1u);
}

/// Index: pending grain. The motion of the first step of a run.
template <typename T>
__global__ void __launch_bounds__(256) move_kernel(fused_state<T> state) {
  const std::uint32_t slot = blockIdx.x * 256 + threadIdx.x;
  if (slot >= state.count) return;
  const auto position = load(&state.pending[slot].position);
  const auto velocity = load(&state.pending[slot].velocity);
  move_and_count(state, slot, position.value, velocity.value, position.word);
}

/// Running sum over the 32 lanes, own value included.
__device__ inline std::uint32_t warp_inclusive_sum(std::uint32_t value, unsigned lane) {
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t below = __shfl_up_sync(~0u, value, distance);
    if (lane >= distance) value += below;
  }
  return value;
}

/// Sum of all tiles before this one, by one warp looking back over 32 tiles at a time (decoupled look-back, Merrill and
/// Garland 2016). A tile's word holds (round << 2 | flag) above its sum; flag 1: of the tile, 2: up to its end. Rounds
/// tell the words of this scan from those of the last, so that nothing needs clearing.
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
    std::uint64_t word = (round << 2 | 2) << 32;  // before the first tile: a finished sum of nothing
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

/// Tile: 4096 cells. Offsets of the cells from their counts, in one pass; the counts are zero afterwards.
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
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;

  uint4* counts = reinterpret_cast<uint4*>(state.counts + tile * std::size_t{scan_tile}) + threadIdx.x * 4;
  uint4 values[4];
  std::uint32_t sum = 0;
  for (int k = 0; k < 4; ++k) {
    const uint4 read = counts[k];
    counts[k] = make_uint4(0, 0, 0, 0);
    values[k] = make_uint4(sum, sum + read.x, sum + read.x + read.y, sum + read.x + read.y + read.z);
    sum = values[k].w + read.w;
  }
  const std::uint32_t inclusive = warp_inclusive_sum(sum, lane);
  if (lane == 31) warp_totals[warp] = inclusive;
  __syncthreads();
  std::uint32_t before = inclusive - sum;
  std::uint32_t total = 0;
  for (unsigned other = 0; other < scan_threads / 32; ++other) {
    if (other < warp) before += warp_totals[other];
    total += warp_totals[other];
  }
  if (warp == 0) {
    const std::uint32_t tiles_before = look_back(state.tile_states, tile, round, total, lane);
    if (lane == 0) before_tile = tiles_before;
  }
  __syncthreads();
  before += before_tile;
  uint4* offsets = reinterpret_cast<uint4*>(state.offsets + tile * std::size_t{scan_tile}) + threadIdx.x * 4;
  for (int k = 0; k < 4; ++k) {
    offsets[k] = make_uint4(values[k].x + before, values[k].y + before, values[k].z + before, values[k].w + before);
  }
}

/// Index: pending grain. Its id to the place in its cell that the order of arrival gave it.
template <typename T>
__global__ void __launch_bounds__(256) arrivals_kernel(fused_state<T> state) {
  const std::uint32_t slot = blockIdx.x * 256 + threadIdx.x;
  if (slot >= state.count) return;
  const auto position = load(&state.pending[slot].position);
  state.ids[state.offsets[state.cell_of(position.value)] + state.rank[slot]] = position.word;
}

/// Index: pending grain. To its slot in cell order; within a cell in order of arrival, or of id.
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

/// The rows of cells around one grain: one after the other, each a range of slots.
template <typename T>
struct neighbor_rows {
  const std::uint32_t* offsets;
  cell_range<3> range;
  vec<int, 3> cells;
  int y;
  int z;

  __device__ neighbor_rows(const fused_state<T>& state, const vec<T, 3>& position)
      : offsets(state.offsets),
        range(state.setup.space.reach(position, state.setup.law.diameter)),
        cells(state.setup.space.cells),
        y(range.first[1]),
        z(range.first[2]) {}

  [[nodiscard]] __device__ bool any() const { return z <= range.last[2]; }
  __device__ void next() {
    if (++y > range.last[1]) {
      y = range.first[1];
      ++z;
    }
  }
  __device__ void current(std::uint32_t& first, std::uint32_t& last) const {
    const int row = cells[0] * (y + cells[1] * z);
    first = offsets[row + range.first[0]];
    last = offsets[row + range.last[0] + 1];
  }
};

/// A run of up to 32 candidates that one lane has tested: bit 31 - k stands for its k-th, which is in slot
/// base + k for one lane a grain; with more lanes, groups of four candidates go to the lanes in turn.
struct tested_run {
  std::uint32_t hits;
  std::uint32_t base;
};

/// Adds the test of four candidates to the low end of `hits`.
__device__ inline std::uint32_t test_four(std::uint32_t hits, std::uint32_t own, uint4 others, int threshold) {
  const auto test = [&](std::uint32_t other) {
    const int difference = static_cast<int>(own - other);
    hits = __funnelshift_l(static_cast<std::uint32_t>(__dp4a(difference, difference, threshold)), hits, 1);
  };
  test(others.x);
  test(others.y);
  test(others.z);
  test(others.w);
  return hits;
}

/// Tests the candidates of [first, last) from slot `base` on, up to eight groups of four of this lane; clears the bit
/// of the grain itself.
template <int Lanes>
__device__ std::uint32_t test_run(const std::uint32_t* words, std::uint32_t own, int threshold, std::uint32_t base,
                                  std::uint32_t first, std::uint32_t last, std::uint32_t self) {
  std::uint32_t hits = 0;
  int unused = 32;
  std::uint32_t at = base;
  const std::uint32_t end = min(last, base + 32 * Lanes);
#pragma unroll 2
  for (; at < end; at += 4 * Lanes) {
    hits = test_four(hits, own, *reinterpret_cast<const uint4*>(words + at), threshold);
    unused -= 4;
  }
  at -= 4 * Lanes;
  if (at + 4 > last) hits &= ~0u << (at + 4 - last);
  hits <<= unused;
  if (base < first) hits &= ~0u >> (first - base);
  const std::uint32_t offset = self - base;
  if (offset < 32 * Lanes && offset % (4 * Lanes) < 4) {
    hits &= ~(0x80000000u >> (offset % 4 + 4 * (offset / (4 * Lanes))));
  }
  return hits;
}

/// Sum of the contributions of all grains that touch this one, over the candidates of this lane. `runs` is this
/// thread's column of the block's queue.
template <typename T, int Lanes, int Queue, int Threads>
__device__ vec<T, 3> contact_forces(const fused_state<T>& state, std::uint32_t slot, unsigned lane,
                                    const vec<T, 3>& position, const vec<T, 3>& velocity, tested_run* runs) {
  const std::uint32_t own = state.compressed(position, T(0.5));
  neighbor_rows<T> rows(state, position);
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  rows.current(first, last);
  std::uint32_t base = (first & ~3u) + 4 * lane;
  vec<T, 3> force{};
  do {
    tested_run* top = runs;
    while (rows.any() && top != runs + Queue * Threads) {
      if (base < last) {
        const std::uint32_t hits =
            test_run<Lanes>(state.words, own, state.compressed.threshold, base, first, last, slot);
        if (hits != 0) {
          *top = {hits, base};
          top += Threads;
        }
        base += 32 * Lanes;
      }
      if (base >= last) {
        rows.next();
        if (rows.any()) rows.current(first, last);
        base = (first & ~3u) + 4 * lane;
      }
    }
    tested_run run{0, 0};
    for (const tested_run* next = runs; run.hits != 0 || next != top;) {
      if (run.hits == 0) {
        run = *next;
        next += Threads;
      }
      const auto bit = static_cast<std::uint32_t>(__clz(static_cast<int>(run.hits)));
      run.hits ^= 0x80000000u >> bit;
      const grain<T>* other = state.ordered + run.base + (Lanes == 1 ? bit : bit % 4 + (bit / 4) * (4 * Lanes));
      // Both loads before the test: nine in ten candidates that come here touch.
      const fused_record<T> other_position = load(&other->position);
      const fused_record<T> other_velocity = load(&other->velocity);
      const vec<T, 3> separation = other_position.value - position;
      const T squared_distance = squared_norm(separation);
      if (state.setup.law.touches(squared_distance)) {
        force += state.setup.law(separation, squared_distance, other_velocity.value - velocity, state.setup.law.diameter);
      }
    }
  } while (rows.any());
  return force;
}

/// Lanes threads a grain. Velocities after step 3 of the model; with MoveOn, the motion of the next step as well.
template <typename T, int Lanes, int Queue, int Threads, int Blocks, bool MoveOn>
__global__ void __launch_bounds__(Threads, Blocks) collide_kernel(fused_state<T> state) {
  __shared__ tested_run queue[Queue * Threads];
  const std::uint32_t thread = blockIdx.x * Threads + threadIdx.x;
  const unsigned lane = thread % Lanes;
  const bool surplus = thread / Lanes >= state.count;
  const std::uint32_t slot = surplus ? state.count - 1 : thread / Lanes;
  const auto position = load(&state.ordered[slot].position);
  const auto velocity = load(&state.ordered[slot].velocity);
  vec<T, 3> force =
      contact_forces<T, Lanes, Queue, Threads>(state, slot, lane, position.value, velocity.value, queue + threadIdx.x);
  for (int distance = 1; distance < Lanes; distance *= 2) {
    for (int axis = 0; axis < 3; ++axis) force[axis] += __shfl_xor_sync(~0u, force[axis], distance);
  }
  if (surplus || lane != 0) return;
  force += state.setup.obstacle.force(state.setup.law, position.value, velocity.value);
  vec<T, 3> gained = velocity.value + force;
  if (!is_finite(gained)) {
    state.fault.raise(*state.moves, position.word);
    gained = {};
  }
  if constexpr (MoveOn) {
    move_and_count(state, slot, position.value, gained, position.word);
  } else {
    store(&state.pending[slot].position, position.value, position.word);
    store(&state.pending[slot].velocity, gained, 0);
  }
}

}  // namespace quadrat::detail
