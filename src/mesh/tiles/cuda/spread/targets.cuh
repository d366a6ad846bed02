// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mesh/tiles/cuda/channels.cuh"
#include "mesh/tiles/cuda/cover.hpp"
#include "mesh/tiles/cuda/weights.cuh"

/// The destinations of the sums of a patch, plane by plane. A target determines the order of each eight columns in a
/// matrix product (`position`), and takes the sums of columns 2t and 2t + 1 of each layer.
namespace quadrat::detail {

/// A unit, the first mesh points of its patch, and a lane.
struct tile_unit_patch {
  std::uint32_t unit;
  int lane;
  int first, second, last;
};

__device__ __forceinline__ tile_unit_patch patch_of_unit(const tile_grid& grid, const tile_unit& unit,
                                                         std::uint32_t number, int lane) {
  const int row = static_cast<int>(unit.segment / static_cast<unsigned>(grid.segments));
  const int segment = static_cast<int>(unit.segment % static_cast<unsigned>(grid.segments));
  return {number, lane, grid.origin[0] + segment * grid.segment * grid.edge[0],
          grid.origin[1] + row / grid.tiles[2] * grid.edge[1], grid.origin[2] + row % grid.tiles[2] * grid.edge[2]};
}

/// Adds to the mesh, by atomic operations.
template <typename T, int Channels, int Layers>
class tile_mesh_target {
 public:
  __device__ tile_mesh_target(const tile_grid& grid, const tile_channels<T>& channels, T*, const tile_unit_patch& patch)
      : grid_(grid),
        channels_(channels),
        plane_step_(static_cast<std::ptrdiff_t>(grid.shape.extent[1]) * grid.shape.extent[2] * channels.stride) {
    tile_row_offsets<Layers>(grid, patch.second, patch.last, patch.lane, offset_);
  }

  /// Columns 2t and 2t + 1 are the mesh points t and t + 4, so that four lanes add to adjacent mesh points.
  [[nodiscard]] __device__ static int position(int column) { return column / 2 + 4 * (column % 2); }

  /// The index of a plane of the mesh; outside of it along an open axis.
  [[nodiscard]] __device__ int plane(int index) const {
    return grid_.shape.periodic[0] ? tile_home(grid_.shape, index, 0) : index;
  }
  struct place {
    bool inside;
    T* channel[Channels];
  };
  /// The plane `planes` after `plane`.
  [[nodiscard]] __device__ place after(int plane, int planes) const {
    const int n = grid_.shape.extent[0];
    int i = plane + planes;
    while (grid_.shape.periodic[0] && i >= n) i -= n;
    place at;
    at.inside = i >= 0 && i < n;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      at.channel[c] = channels_.mesh[c] + static_cast<std::ptrdiff_t>(i) * plane_step_;
    }
    return at;
  }
  __device__ void put(const place& at, int layer, const T (&value)[2][Channels]) const {
    if (!at.inside) return;
    if constexpr (Channels == 2 && sizeof(T) == 4) {
      if (channels_.pairs) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int offset = offset_[layer][half];
          if (offset >= 0 && (value[half][0] != T(0) || value[half][1] != T(0))) {
            atomic_add_row<2>(at.channel[0] + 2 * static_cast<std::ptrdiff_t>(offset), value[half]);
          }
        }
        return;
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int offset = offset_[layer][half];
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        if (offset >= 0 && value[half][c] != T(0)) {
          atomicAdd(at.channel[c] + static_cast<unsigned>(offset) * static_cast<unsigned>(channels_.stride),
                    value[half][c]);
        }
      }
    }
  }
  /// Called before the first of `count` planes is put, and after the last.
  __device__ void skip_to(int) {}
  __device__ void skip_written(int) {}

 private:
  const tile_grid& grid_;
  const tile_channels<T>& channels_;
  std::ptrdiff_t plane_step_;
  int offset_[Layers][2];
};

/// Writes the unit's entire share: planes that it never reaches are zeros.
template <typename T, int Channels, int Layers>
class tile_share_target {
 public:
  __device__ tile_share_target(const tile_grid& grid, const tile_channels<T>&, T* shares, const tile_unit_patch& patch)
      : own_(reinterpret_cast<tile_pair<T>*>(shares) +
             static_cast<std::size_t>(patch.unit) * static_cast<std::size_t>(grid.segment_reach()) * plane_pairs +
             static_cast<std::size_t>(patch.lane / 4 * (4 * Layers) + patch.lane % 4)),
        first_(patch.first) {}

  [[nodiscard]] __device__ static int position(int column) { return column; }

  [[nodiscard]] __device__ tile_pair<T>* plane(int index) const { return own_ + (index - first_) * plane_pairs; }
  [[nodiscard]] __device__ tile_pair<T>* after(tile_pair<T>* plane, int planes) const {
    return plane + planes * plane_pairs;
  }
  /// Four lanes write a row of eight mesh points, all lanes eight such rows.
  __device__ void put(tile_pair<T>* at, int layer, const T (&value)[2][Channels]) const {
#pragma unroll
    for (int c = 0; c < Channels; ++c) at[c * channel_pairs + 4 * layer] = {value[0][c], value[1][c]};
  }
  /// Writes zeros to the planes up to plane `index` of the mesh.
  __device__ void skip_to(int index) {
    const T zeros[2][Channels] = {};
    for (; next_ < index - first_; ++next_) {
#pragma unroll
      for (int layer = 0; layer < Layers; ++layer) put(own_ + next_ * plane_pairs, layer, zeros);
    }
  }
  __device__ void skip_written(int count) { next_ += count; }

 private:
  static constexpr int channel_pairs = tile_patch * 4 * Layers;
  static constexpr int plane_pairs = Channels * channel_pairs;

  tile_pair<T>* own_;
  int first_;
  int next_ = 0;  // next plane of the segment to write
};

}  // namespace quadrat::detail
