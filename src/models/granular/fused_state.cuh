// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "models/granular/engine.hpp"
#include "models/granular/force.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/grid.hpp"

/// Kernels of the fused engine. One time step is three of them:
///
///   offsets   exclusive scan of the cells' counts, which are reset to zero
///   scatter   moves every grain, and its compressed position, to its place in cell order
///   collide   forces on every grain, then the motion of the next step, and its rank in the cell it moves to
///
/// Measured on an H200: a plain loop over candidates is bound by the L1 cache, which needs four cycles for a warp's
/// 16-byte positions, and executes the force for nearly every candidate because some lane needs it. Therefore
/// candidates are first tested conservatively with 4 bytes each, giving one bit per candidate; then every lane visits
/// its hits. This is 1.75 times faster than the plain loop at 4 grains per cell.
namespace quadrat::detail {

/// A position or a velocity, and a word: four components, loaded at once.
template <typename T>
struct alignas(4 * sizeof(T)) fused_record {
  vec<T, 3> value;
  particle_id word;
};

/// A grain as stored by the kernels: 32 bytes in float, one sector of memory. The position's word is the grain's id.
template <typename T>
struct grain {
  fused_record<T> position;
  fused_record<T> velocity;
};

/// Positions in 8 bits per axis, modulo 256 units: enough for the differences in a neighborhood, below two cells. One
/// 32-bit subtraction gives the differences along all axes: a borrow between bytes changes the next one by a unit,
/// which the threshold allows for.
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

/// The data of all kernels of an engine.
template <typename T>
struct fused_state {
  granular_setup<T> setup;
  compressed_positions<T> compressed;
  std::uint32_t count;
  std::uint32_t cells;         ///< number of cells
  grain<T>* pending;           ///< moved but not yet in cell order; between runs, the state
  grain<T>* ordered;           ///< in cell order
  std::uint32_t* words;        ///< compressed positions of `ordered`, padded to whole groups of four
  std::uint32_t* rank;         ///< of a pending grain in its cell
  std::uint32_t* counts;       ///< grains per cell, padded to whole tiles
  std::uint32_t* offsets;      ///< first slot of each cell, and the end, padded likewise
  std::uint64_t* tile_states;  ///< of the scan
  unsigned long long* ticket;  ///< next tile of the scan
  std::uint64_t* moves;        ///< motions so far: the number of the step
  particle_id* ids;            ///< of a cell in order of arrival; nullptr unless ordered by id
  run_fault fault;

  [[nodiscard]] QUADRAT_HD cell_id cell_of(const vec<T, 3>& position) const {
    return row_major_numbering<3>{setup.space.stored}.id(setup.space.cell_of(position));
  }
};

/// Loads that the compiler cannot move behind a branch, so that several are in flight.
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

/// Step 1 of the model for one grain, and its rank in its new cell.
template <typename T>
__device__ void move_and_count(const fused_state<T>& state, std::uint32_t slot, vec<T, 3> position, vec<T, 3> velocity,
                               particle_id id) {
  if (!state.setup.motion(position, velocity)) state.fault.raise(*state.moves + 1, id);
  store(&state.pending[slot].position, position, id);
  store(&state.pending[slot].velocity, velocity, 0);
  state.rank[slot] = atomicAdd(state.counts + state.cell_of(position), 1u);
}

}  // namespace quadrat::detail
