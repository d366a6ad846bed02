// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "mesh/tiles/cuda/cover.hpp"
#include "mesh/tiles/cuda/grid.hpp"
#include "mesh/tiles/cuda/patches.hpp"
#include "mesh/tiles/cuda/spread/candidates.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/mesh/window.hpp"

namespace quadrat::detail {

/// Warps of a block, which work independently; fewer if the weights of a batch take twice the space.
template <typename T>
inline constexpr int tile_warps = sizeof(T) == 4 ? 4 : 2;

/// The data that the kernels of tiles work on.
template <typename T>
struct tile_problem {
  tile_grid grid;
  mesh_window<T> window;
  const tile_record<T>* records;
  std::uint32_t count;
  const std::uint32_t* offsets;   ///< by tile, and the end
  const std::uint32_t* segments;  ///< by point; only for `interpolate_each_point`
  const tile_unit* units;
  const std::uint32_t* unit_count;
  std::uint32_t most_units;
};

/// Patches, and the extra blocks of crowded ones.
struct tile_patch_shares {
  tile_patches patches;
  const tile_extra* extras;
  const std::uint32_t* extra_count;
  std::size_t most_extras;

  [[nodiscard]] std::size_t most_blocks() const { return patches.total() + most_extras; }
};

/// The numbers of crowded patches and extra shares.
struct tile_crowd_counts {
  std::uint32_t extras, crowds;
};

/// The same, and the number of extra shares for interpolation.
struct tile_share_counts {
  tile_crowd_counts crowds;
  std::uint32_t extras;
};

/// The extra shares of crowded patches that collect points, and their sums.
template <typename T>
struct tile_crowd_shares {
  std::uint32_t share;  ///< most candidates of a warp
  std::uint32_t most_extras;
  const tile_crowd_counts* counts;
  const tile_extra* extras;
  const tile_crowd* crowds;
  T* sums;  ///< [extra][16 times the channels][lane]
};

/// The arrays of interpolation by patches, with `components` 1 or 2 (complex). A mesh row has an even number of points
/// and is aligned to 8 bytes, for complex values to 16.
struct tile_patch_values {
  const float* mesh;
  float* values;  ///< of point i from values[i * components]; with gradients, may be null
  /// The gradient of point i, times `scale`, begins at gradients[(i * 3 + axis) * components]; nullptr: none.
  float* gradients;
  float scale[3];
  bool accumulate;
};

/// The channels of one launch: for point i, values[c][i * stride], and likewise on the mesh.
template <typename T>
struct tile_channels {
  const T* values[2];  ///< only for spreading
  T* mesh[2];
  int count;   ///< 1 or 2
  int stride;  ///< 1, or 2 for complex values
  bool pairs;  ///< whether both channels of a complex value can be read and added in one access
};

/// The destination of results: values[c][i * stride] for channel c of point i, and gradients[c][i * gradient_stride +
/// axis * stride] for its derivatives along the axes of the mesh, times `scale`; axes begin with `first_axis`. With
/// gradients, `values` may be null.
template <typename T>
struct tile_results {
  T* values[2];
  T* gradients[2];
  int stride;  ///< 1, or 2 for complex values
  int gradient_stride;
  bool accumulate;
  bool gradient;
  int first_axis;
  T scale[3];
  bool pairs;  ///< whether both values of a complex number can be written in one access: see put_pair

  QUADRAT_HD void put_value(int channel, particle_id i, T value) const {
    put(values[channel] + static_cast<std::size_t>(i) * static_cast<std::size_t>(stride), value);
  }
  QUADRAT_HD void put_slope(int channel, int axis, particle_id i, T slope) const {
    put(gradients[channel] + static_cast<std::size_t>(i) * static_cast<std::size_t>(gradient_stride) +
            (axis - first_axis) * stride,
        scale[axis] * slope);
  }

#if defined(__CUDACC__)
  /// Writes both channels of a complex value in one access, which touches one memory sector instead of two.
  __device__ void put_pair(particle_id i, T re, T im) const {
    using pair = std::conditional_t<sizeof(T) == 4, float2, double2>;
    pair& to = reinterpret_cast<pair*>(values[0])[i];
    pair value;
    value.x = re, value.y = im;
    if (accumulate) value.x += to.x, value.y += to.y;
    to = value;
  }
#endif

 private:
  QUADRAT_HD void put(T* to, T value) const { *to = accumulate ? *to + value : value; }
};

/// Asynchronous.
template <typename T>
void interpolate_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                       const tile_results<T>& results);

/// Adds to the mesh. Asynchronous.
template <typename T>
void spread_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels);

/// The same for planar tiles.
template <typename T>
void interpolate_planar_tiles(const cuda_context& context, const tile_problem<T>& problem,
                              const tile_channels<T>& channels, const tile_results<T>& results);
template <typename T>
void spread_planar_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels);

/// Spreading and interpolation of long footprints, with cubes of `edge` 16 or 24 mesh points.
template <typename T>
void interpolate_cubes(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                       const tile_results<T>& results, int edge);
template <typename T>
void spread_cubes(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                  int edge);

/// Writes the mesh, or adds to it, with sums in an order that does not depend on timing. Asynchronous.
template <typename T>
void spread_tiles_in_order(const cuda_context& context, const tile_problem<T>& problem,
                           const tile_channels<T>& channels, const tile_shares<T>& shares, bool accumulate);

/// Writes the mesh, or adds to it, patch by patch, for few points per mesh point. Asynchronous. The order of sums is
/// that of tiles and their points, in a crowded patch share by share.
template <typename T>
void collect_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                   const tile_crowd_shares<T>& crowds, bool accumulate);

/// interpolate_tiles for few points per mesh point, point by point.
template <typename T>
void interpolate_each_point(const cuda_context& context, const tile_problem<T>& problem,
                            const tile_channels<T>& channels, const tile_results<T>& results);

/// Writes the shares of crowded patches after the first, and their numbers: of patches that collect points, unless
/// `limits` allow none, with a list of the crowded ones; and of `patches`, if there are any. Asynchronous. Their order
/// is that of atomic operations.
void find_tile_shares(const cuda_context& context, const tile_grid& grid, const std::uint32_t* offsets,
                      const tile_crowd_limits& limits, tile_extra* crowd_extras, tile_crowd* crowds,
                      const tile_patches& patches, tile_extra* extras, tile_share_counts* counts);

/// interpolate_tiles for real (1) or complex (2) components, with patches from make_patches. Asynchronous.
template <int Components>
void interpolate_patches(const cuda_context& context, const tile_problem<float>& problem,
                         const tile_patch_shares& shares, const tile_patch_values& values);

/// interpolate_each_point for real (1) or complex (2) components, with patches from make_direct_patches. Asynchronous.
template <int Components>
void interpolate_directly(const cuda_context& context, const tile_problem<float>& problem,
                          const tile_patch_shares& shares, const tile_patch_values& values);

}  // namespace quadrat::detail
