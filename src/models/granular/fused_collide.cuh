// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "models/granular/fused_state.cuh"

/// The kernel of the fused engine that finds contacts and adds up forces.
namespace quadrat::detail {

/// The rows of cells around one grain, one after another, each a range of slots; two if it crosses the end of a folded
/// row.
template <typename T, bool Folded>
class neighbor_rows {
 public:
  __device__ neighbor_rows(const fused_state<T>& state, const vec<T, 3>& position)
      : space_(state.setup.space),
        offsets_(state.offsets),
        range_(space_.reach(position, state.setup.law.diameter)),
        y_(range_.first[1]),
        z_(range_.first[2]) {}

  [[nodiscard]] __device__ bool any() const { return z_ <= range_.last[2]; }
  __device__ void next() {
    if constexpr (Folded) {
      beyond_end_ = crosses_end_ && !beyond_end_;
      if (beyond_end_) return;
    }
    if (++y_ > range_.last[1]) {
      y_ = range_.first[1];
      ++z_;
    }
  }
  __device__ void current(std::uint32_t& first, std::uint32_t& last) {
    vec<int, 3> row{0, y_, z_};
    index_range along{range_.first[0], range_.last[0]};
    if constexpr (Folded) along = place(row, along);
    const int before = space_.stored[0] * (row[1] + space_.stored[1] * row[2]);
    first = offsets_[before + along.first];
    last = offsets_[before + along.last + 1];
  }

 private:
  /// The part of a row's cells before or beyond the end of the stored row.
  [[nodiscard]] __device__ index_range place(vec<int, 3>& row, const index_range& along) {
    const int n = space_.stored[0];
    int first = along.first % n + space_.fold_row(row);
    if (first >= n) first -= n;
    const int last = first + along.last - along.first;
    crosses_end_ = last >= n;
    if (beyond_end_) return {0, last - n};
    return {first, crosses_end_ ? n - 1 : last};
  }

  const grid<T, 3>& space_;
  const std::uint32_t* offsets_;
  cell_range<3> range_;
  int y_;
  int z_;
  bool crosses_end_ = false;
  bool beyond_end_ = false;  ///< the current part
};

/// A run of up to 32 candidates tested by one lane: bit 31 - k is the k-th candidate, in slot base + k with one lane
/// per grain; with more lanes, groups of four candidates go to the lanes in turn.
struct tested_run {
  std::uint32_t hits;
  std::uint32_t base;
};

/// Shifts the results of four candidates into the low end of `hits`.
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
template <bool Folded, typename T, int Lanes, int Queue, int Threads>
__device__ vec<T, 3> contact_forces(const fused_state<T>& state, std::uint32_t slot, unsigned lane,
                                    const vec<T, 3>& position, const vec<T, 3>& velocity, tested_run* runs) {
  const std::uint32_t own = state.compressed(position, T(0.5));
  neighbor_rows<T, Folded> rows(state, position);
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
      // Both loads come before the test: nine in ten of these candidates touch.
      const fused_record<T> other_position = load(&other->position);
      const fused_record<T> other_velocity = load(&other->velocity);
      const vec<T, 3> separation = other_position.value - position;
      const T squared_distance = squared_norm(separation);
      if (state.setup.law.touches(squared_distance)) {
        force +=
            state.setup.law(separation, squared_distance, other_velocity.value - velocity, state.setup.law.diameter);
      }
    }
  } while (rows.any());
  return force;
}

/// `Lanes` threads per grain. Computes velocities after step 3 of the model; with MoveOn, also the motion of the next
/// step.
template <typename T, bool Folded, int Lanes, int Queue, int Threads, int Blocks, bool MoveOn>
__global__ void __launch_bounds__(Threads, Blocks) collide_kernel(fused_state<T> state) {
  __shared__ tested_run queue[Queue * Threads];
  const std::uint32_t thread = blockIdx.x * Threads + threadIdx.x;
  const unsigned lane = thread % Lanes;
  const bool surplus = thread / Lanes >= state.count;
  const std::uint32_t slot = surplus ? state.count - 1 : thread / Lanes;
  const auto position = load(&state.ordered[slot].position);
  const auto velocity = load(&state.ordered[slot].velocity);
  vec<T, 3> force = contact_forces<Folded, T, Lanes, Queue, Threads>(state, slot, lane, position.value, velocity.value,
                                                                     queue + threadIdx.x);
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
