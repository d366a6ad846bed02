// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/channels.cuh"
#include "mesh/tiles/cuda/mma.cuh"
#include "mesh/tiles/cuda/problem.hpp"
#include "mesh/tiles/cuda/weights.cuh"

/// Long footprints in three dimensions. The footprints of a tile lie in a cube of 16 or 24 mesh points along each axis,
/// and 8 points at a time are one matrix product for the tensor cores. A cube is too large for one warp, so each warp
/// of a block has two of its planes, for Edge 24 a third of them along the last axis. A block goes through the points
/// of a unit, tile by tile along the first axis. Plane i from the segment's start is stored at i % Edge, and stays
/// there while the cube moves. Cubes of 24 are processed in two slabs of planes, because they exceed the registers.
namespace quadrat::detail {

inline constexpr int cube_batch = 32;
/// Slots of a row of weights, one per point of a batch; the rest avoids bank conflicts.
template <typename T>
inline constexpr int cube_pitch = cube_batch + (sizeof(T) == 8 ? 4 : 8);

template <int Edge>
struct cube_shape {
  static constexpr int pairs = Edge == 16 ? 8 : 6;  ///< of planes, in a slab
  static constexpr int slabs = Edge / 2 / pairs;
  static constexpr int blocks = Edge / 8;          ///< of eight mesh points along the second and the last axis
  static constexpr int held = Edge == 16 ? 2 : 1;  ///< blocks along the last axis that a warp has
  static constexpr int warps = pairs * blocks / held;
  static constexpr int resident = Edge == 16 ? 2 : 1;  ///< blocks of threads on a multiprocessor

  int pair;   ///< of a warp, in its slab
  int block;  ///< the warp's first block along the last axis

  __device__ explicit cube_shape(int warp) : pair(warp % pairs), block(warp / pairs * held) {}
};

/// The weights of a batch: along the first axis at the planes of a slab, along the others at the mesh points of a cube.
template <typename T, int Edge, int Second>
struct cube_weights {
  T first[2 * cube_shape<Edge>::pairs][cube_pitch<T>];
  T second[Edge][Second];
  T last[Edge][cube_pitch<T>];
};

/// The polynomials of a window, a row for each of its mesh points. The rest of a row avoids bank conflicts.
template <typename T>
struct cube_window {
  static constexpr int terms = (mesh_window<T>::most_terms + 7) / 8 * 8;
  T coefficient[mesh_window<T>::most_width][terms + 4];

  __device__ void load(const mesh_window<T>& window) {
    for (int i = threadIdx.x; i < mesh_window<T>::most_width * terms; i += blockDim.x) {
      const int j = i / terms, d = i % terms;
      coefficient[j][d] = j < window.width && d < window.terms ? window.coefficient[d][j] : T(0);
    }
  }
};

/// The first mesh points of a unit's segment.
struct cube_segment {
  int begin[3];

  __device__ cube_segment(const tile_grid& grid, std::uint32_t segment) {
    const auto along = static_cast<std::uint32_t>(grid.segments);
    const auto row = static_cast<int>(segment / along), number = static_cast<int>(segment % along);
    begin[0] = grid.origin[0] + number * grid.segment * grid.edge[0];
    begin[1] = grid.origin[1] + row / grid.tiles[2] * grid.edge[1];
    begin[2] = grid.origin[2] + row % grid.tiles[2] * grid.edge[2];
  }
};

/// The warp of a thread, in a register that all its lanes share.
__device__ __forceinline__ int cube_warp() { return __shfl_sync(~0u, static_cast<int>(threadIdx.x / 32), 0); }

/// All warps of a block share the weights of a batch. A piece of work is one axis of eight points.
template <int Edge>
struct cube_work {
  static constexpr int pieces = 3 * cube_batch / 8;
  static constexpr int most = (pieces + cube_shape<Edge>::warps - 1) / cube_shape<Edge>::warps;  ///< of a warp

  int warp, lane;

  [[nodiscard]] __device__ int piece(int i) const { return warp + i * cube_shape<Edge>::warps; }
};

/// A lane's data of a batch: along the first axis its own point, and the points of its warp's pieces of work.
template <typename T, int Edge>
struct cube_points {
  typename tile_record<T>::word first, own[cube_work<Edge>::most];

  /// The batch begins at `batch`; after `last`, the unit's last point is repeated.
  __device__ cube_points(const tile_record<T>* records, std::uint32_t batch, std::uint32_t last,
                         const cube_work<Edge>& work)
      : first(records[min(batch + work.lane, last)].place[0]) {
#pragma unroll
    for (int i = 0; i < cube_work<Edge>::most; ++i) {
      const int piece = min(work.piece(i), cube_work<Edge>::pieces - 1);
      own[i] = records[min(batch + piece / 3 * 8 + work.lane / 4, last)].place[piece % 3];
    }
  }
};

/// The weights of eight points at the rows [from, from + Count) of a cube; lane 4 g + t has point g. This is also a
/// matrix product, of polynomial coefficients and powers of places.
template <int Edge, typename T, int Count, int Pitch>
__device__ __forceinline__ void stage_cube_axis(const cube_window<T>& window, int terms,
                                                typename tile_record<T>::word own, int from, int lane,
                                                T (&weights)[Count][Pitch], int column) {
  using mma = tile_mma<T>;
  const int g = lane / 4, t = lane % 4;
  const T s = place_of<T>(own), square = s * s, fourth = square * square, eighth = fourth * fourth;
  T low = t == 0 ? T(1) : t == 1 ? s : t == 2 ? square : square * s, high = low * fourth;
  T sums[4] = {};
  for (int d = 0; d < terms; d += 8) {
    const typename mma::part right[2] = {mma::right_part(low), mma::right_part(high)};
    const typename mma::part left[4] = {
        mma::whole_part(window.coefficient[g][d + t]), mma::whole_part(window.coefficient[g + 8][d + t]),
        mma::whole_part(window.coefficient[g][d + t + 4]), mma::whole_part(window.coefficient[g + 8][d + t + 4])};
    mma::add(sums, left, right);
    low *= eighth;
    high *= eighth;
  }
  const int offset = offset_of<T>(own) % Edge;
  const auto put = [&](int row, int point, T weight) {
    row = (row < Edge ? row : row - Edge) - from;
    if (Count == Edge || (row >= 0 && row < Count)) weights[row][column + point] = weight;
  };
#pragma unroll
  for (int p = 0; p < 2; ++p) {
    const int point = 2 * t + p, begin = __shfl_sync(~0u, offset, 4 * point) + g;
    put(begin, point, sums[p]);
    put(begin + 8, point, sums[2 + p]);
    // Windows are narrower than a large cube.
    if (Edge > 16) put(begin + 16, point, T(0));
  }
}

template <int Edge, typename T, int Second>
__device__ __forceinline__ void stage_cube_weights(const cube_window<T>& window, int terms,
                                                   const cube_points<T, Edge>& points, const cube_work<Edge>& work,
                                                   int slab, cube_weights<T, Edge, Second>& weights) {
#pragma unroll
  for (int i = 0; i < cube_work<Edge>::most; ++i) {
    const int piece = work.piece(i), axis = piece % 3, column = piece / 3 * 8;
    if (piece >= cube_work<Edge>::pieces) break;
    if (axis == 0) {
      stage_cube_axis<Edge>(window, terms, points.own[i], slab * 2 * cube_shape<Edge>::pairs, work.lane, weights.first,
                            column);
    } else if (axis == 1) {
      stage_cube_axis<Edge>(window, terms, points.own[i], 0, work.lane, weights.second, column);
    } else {
      stage_cube_axis<Edge>(window, terms, points.own[i], 0, work.lane, weights.last, column);
    }
  }
}

/// Calls f(tile of the segment, begin, end) for each run of points of a batch in one tile, that of each lane's point.
template <typename F>
__device__ __forceinline__ void for_each_cube_run(int tile, int count, int lane, const F& f) {
  const int before = __shfl_up_sync(~0u, tile, 1);
  unsigned begins = __ballot_sync(~0u, lane < count && (lane == 0 || tile != before));
  while (begins != 0) {
    const int begin = __ffs(static_cast<int>(begins)) - 1;
    begins &= begins - 1;
    f(__shfl_sync(~0u, tile, begin), begin, begins == 0 ? count : __ffs(static_cast<int>(begins)) - 1);
  }
}

/// The plane, from the segment's start, that is stored at `row` of a cube that begins at plane `base`, minus `base`.
template <int Edge>
__device__ __forceinline__ int cube_plane(int row, int base) {
  const int after = (row - base) % Edge;
  return after < 0 ? after + Edge : after;
}

}  // namespace quadrat::detail
