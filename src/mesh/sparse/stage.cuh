// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mesh/sparse/rows.hpp"

/// Shared by kernels with p^3 threads per point: a block takes several points, computes their mesh indices and weights
/// once, axis by axis, in shared memory, and then processes their contributions with all threads
/// (particle-mesh-spreading, section 3.1).
namespace quadrat::detail {

inline constexpr unsigned stage_threads = 256;
inline constexpr unsigned most_staged = 32;
inline constexpr unsigned stage_width = 16;  ///< mesh_window::most_width

/// Points of a block: about eight contributions per thread.
[[nodiscard]] inline unsigned staged_points(const mesh_shape& shape) {
  const unsigned points = 8 * stage_threads / static_cast<unsigned>(shape.footprint_size());
  return points < 1 ? 1 : points > most_staged ? most_staged : points;
}

struct staged_homes {
  int at[most_staged][3][stage_width];  ///< -1: clipped
};
template <typename T>
struct staged_weights {
  T at[most_staged][3][stage_width];
};

/// Calls f(point of the block, axis, j) for all of them, distributed over the threads. No barrier.
template <typename F>
__device__ void for_each_staged(const mesh_shape& shape, unsigned points, F f) {
  for (unsigned t = threadIdx.x; t < points * 3 * stage_width; t += stage_threads) {
    const unsigned j = t % stage_width;
    const unsigned axis = t / stage_width % 3;
    if (j < static_cast<unsigned>(shape.width[axis])) f(t / (3 * stage_width), axis, j);
  }
}

/// Calls f(point of the block, mesh point, a, b, c) for all contributions that are not clipped, distributed over the
/// threads.
template <typename F>
__device__ void for_each_contribution(const mesh_shape& shape, const staged_homes& homes, unsigned points, F f) {
  const unsigned row = static_cast<unsigned>(shape.width[2]);
  const unsigned plane = static_cast<unsigned>(shape.width[1]) * row;
  const unsigned footprint = static_cast<unsigned>(shape.width[0]) * plane;
  for (unsigned t = threadIdx.x; t < points * footprint; t += stage_threads) {
    const unsigned point = t / footprint;
    const unsigned in_footprint = t - point * footprint;
    const unsigned a = in_footprint / plane;
    const unsigned in_plane = in_footprint - a * plane;
    const unsigned b = in_plane / row;
    const unsigned c = in_plane - b * row;
    const int i = homes.at[point][0][a];
    const int j = homes.at[point][1][b];
    const int k = homes.at[point][2][c];
    if ((i | j | k) >= 0) f(point, shape.node(i, j, k), a, b, c);
  }
}

}  // namespace quadrat::detail
