// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/mma.cuh"
#include "mesh/tiles/cuda/weights.cuh"

/// Meshes of one or two dimensions: the patch of a tile is a square of 16 x 16 mesh points along the second and the
/// last axis, and a footprint is a product of two rows of weights. A warp takes the points of a unit, all of one tile,
/// 8 at a time in one matrix product: spread/planar.cuh, interpolate/planar.cuh.
namespace quadrat::detail {

/// The weights of a batch along one axis, over the 16 mesh points of a patch.
template <typename T>
struct planar_axis_weights {
  tile_axis_weights<T> layer[2];

  [[nodiscard]] __device__ T at(int point, int position) const {
    return layer[position / tile_patch].at(point, position % tile_patch);
  }
  __device__ void store(int point, const T (&w)[planar_patch]) {
    store_tile_weights(layer[0], point, w);
    store_tile_weights(layer[1], point, w + tile_patch);
  }
};

/// Eight weights, shifted to their place in a patch.
template <typename T>
__device__ __forceinline__ void place_planar_weights(const T* w, int offset, int edge, T (&placed)[planar_patch]) {
#pragma unroll
  for (int j = 0; j < planar_patch; ++j) placed[j] = j < tile_patch ? w[j] : T(0);
  shift_tile_weights(offset, edge, placed);
}

/// The patch of a unit, and a lane of the warp that works on it.
struct planar_place {
  tile_unit unit;
  int lane;
  int second, last;  ///< first mesh point of the patch

  __device__ planar_place(const tile_grid& grid, const tile_unit& of, int of_lane)
      : unit(of),
        lane(of_lane),
        second(grid.origin[1] + static_cast<int>(of.segment) / grid.tiles[2] * grid.edge[1]),
        last(grid.origin[2] + static_cast<int>(of.segment) % grid.tiles[2] * grid.edge[2]) {}
  /// The record of this lane's point of a batch, which begins at slot `batch`; that of the last point past the end.
  template <typename T>
  [[nodiscard]] __device__ tile_record<T> record(const tile_record<T>* records, std::uint32_t batch) const {
    return records[min(batch + static_cast<std::uint32_t>(lane), unit.last - 1)];
  }
};

/// Offsets in the mesh of a lane's mesh points in a patch: rows g and g + 8 along the second axis, t, t + 4, t + 8 and
/// t + 12 along the last; -1 for those that no footprint reaches.
struct planar_offsets {
  int row[2], along[4];

  __device__ planar_offsets(const tile_grid& grid, const planar_place& at) {
    const int g = at.lane / 4, t = at.lane % 4;
#pragma unroll
    for (int upper = 0; upper < 2; ++upper) {
      const int position = g + tile_patch * upper;
      const int j = position < grid.reach(1) ? tile_home(grid.shape, at.second + position, 1) : -1;
      row[upper] = j < 0 ? -1 : j * grid.shape.extent[2];
    }
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
      const int position = t + 4 * quarter;
      along[quarter] = position < grid.reach(2) ? tile_home(grid.shape, at.last + position, 2) : -1;
    }
  }
  [[nodiscard]] __device__ bool inside(int upper, int quarter) const { return row[upper] >= 0 && along[quarter] >= 0; }
  [[nodiscard]] __device__ std::size_t node(int upper, int quarter) const {
    return static_cast<std::size_t>(row[upper] + along[quarter]);
  }
};

}  // namespace quadrat::detail
