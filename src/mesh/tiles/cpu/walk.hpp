// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mesh/shape.hpp"
#include "mesh/tiles/cpu/mirrored.hpp"
#include "mesh/tiles/cpu/tiling.hpp"
#include "quadrat/mesh/window.hpp"

/// The inner loops of the method `tiles` on the CPU, by instruction set.
namespace quadrat::detail {

/// A section of a tile's rows that is contiguous in the mesh. Mesh points outside an open axis are in no piece.
struct row_piece {
  int local;   ///< first mesh point, relative to the start of the tile
  int global;  ///< the same in the mesh
  int length;
};

/// `begin` and `length`: start of the tile and mesh points of its rows along the last axis (with a footprint's reach).
/// Writes at most `length` pieces and returns their number.
[[nodiscard]] inline int make_row_pieces(const mesh_shape& shape, int begin, int length, row_piece* pieces) {
  int count = 0;
  for (int k = 0; k < length; ++k) {
    const int home = shape.home(begin + k, 2);
    if (home < 0) continue;
    if (count > 0) {
      row_piece& last = pieces[count - 1];
      if (last.local + last.length == k && last.global + last.length == home) {
        ++last.length;
        continue;
      }
    }
    pieces[count++] = {k, home, 1};
  }
  return count;
}

/// A point. Until its tile is first used it holds the caller's values; afterwards its place relative to the
/// tile.
template <typename T>
struct tile_point {
  static constexpr int z_bits = 12, y_bits = 10;
  static constexpr int most_size[3] = {1 << 10, 1 << y_bits, 1 << z_bits};  ///< of tiles, in mesh points

  T place[3];          ///< its coordinates; then as in placed_point
  std::uint32_t id;    ///< its index in the caller's order
  std::uint32_t spot;  ///< its system; then its first mesh point in the tile: x, y and z, from the highest bits on

  [[nodiscard]] static constexpr std::uint32_t pack(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return (x << (y_bits + z_bits)) | (y << z_bits) | z;
  }
  /// Mesh points from the beginning of the tile to the first of the footprint.
  [[nodiscard]] constexpr int along(int axis) const {
    if (axis == 0) return static_cast<int>(spot >> (y_bits + z_bits));
    return static_cast<int>(axis == 1 ? (spot >> z_bits) & (most_size[1] - 1) : spot & (most_size[2] - 1));
  }
};

/// One value vector, with 1 or 2 adjacent components, for a walk over tiles.
template <typename T>
struct tile_walk {
  const mesh_shape* shape;
  const mesh_window<T>* window;        ///< coefficients beyond its width are zero
  const mirrored_window<T>* mirrored;  ///< the same if it is even; else nullptr
  const tile_point<T>* points;         ///< by tile, then by first mesh point along axis 0
  const T* values;                     ///< spreading: in the caller's order
  T* mesh;                             ///< spreading
  const T* mesh_values;                ///< interpolating
  T* results;                          ///< interpolating: in the caller's order; may be null with gradients
  T* gradients;     ///< interpolating gradients: in the caller's order, one for each axis of each value
  const T* scale;   ///< gradients: by axis
  bool accumulate;  ///< interpolating: adds to the results
};

/// One tile of it.
template <typename T>
struct tile_work {
  std::size_t first, last;  ///< its points
  int begin[3];             ///< first mesh points of footprints
  int rows;                 ///< along axis 1, with a footprint's reach
  int row;                  ///< along axis 2, with a footprint's reach
  /// Spreading row by row: whether the tile overwrites the mesh where no other tile has written. By region along axes 1
  /// and 2: shared with the previous tile, the tile's own, shared with the next.
  bool stores;
  bool adds[3][3];
  T* scratch;         ///< tile_scratch values, aligned to 64 bytes
  row_piece* pieces;  ///< room for `row` of them
};

/// Points whose weights are computed before they are used: few enough to fit in a level-one cache beside a tile.
inline constexpr int cpu_tile_batch = 16;
/// Rows are padded to a multiple of this many values, as is a point's row of weights.
inline constexpr int tile_row_unit = 16;

/// Values of a row in the scratch memory.
[[nodiscard]] constexpr int tile_row_stride(int row, int components) {
  return (row * components + tile_row_unit - 1) / tile_row_unit * tile_row_unit;
}
/// Values that the weights of a point take in a batch's memory: along axes 0 and 1, and, in a padded row, along axis 2.
inline constexpr int axis_room = mesh_window<double>::most_width;
inline constexpr int row_room = 48;
/// Values per point in a batch's memory: weights along axes 0 and 1, their derivatives, a row along axis 2, one of
/// derivatives.
inline constexpr int batch_weights = 4 * axis_room + 2 * row_room;

/// The most points held for a plane of a tile (see plane_points), and the values of each.
inline constexpr std::size_t plane_room = 512;
inline constexpr std::size_t plane_weights = 2 * axis_room + 2 * row_room;

/// Whether the planes of a footprint are too large for a level-one cache, so that a tile is taken plane by plane of the
/// mesh.
template <typename T>
[[nodiscard]] bool by_planes(const tile_walk<T>& walk, const tile_work<T>& work, int components) {
  constexpr std::size_t cache = 40 << 10;
  const int values = walk.shape->width[0] * work.rows * tile_row_stride(work.row, components);
  return walk.shape->first_axis == 0 && static_cast<std::size_t>(values) * sizeof(T) > cache;
}

/// Whether a tile is taken row by row: in one and two dimensions, with an even window.
template <typename T>
[[nodiscard]] bool by_rows(const tile_walk<T>& walk) {
  return walk.shape->first_axis > 0 && walk.mirrored != nullptr;
}

/// Values of the scratch memory of one thread: planes of a tile, one for each weight along axis 0, and a batch; or one
/// plane and the points that reach it.
[[nodiscard]] constexpr std::size_t tile_scratch(int planes, int rows, int row) {
  const std::size_t plane = static_cast<std::size_t>(rows) * static_cast<std::size_t>(tile_row_stride(row, 2));
  return std::max(static_cast<std::size_t>(planes) * plane + std::size_t{cpu_tile_batch} * batch_weights,
                  plane + plane_room * plane_weights) +
         64;
}

template <typename T>
struct tile_functions {
  /// Lanes of a vector: points of a plane are best ordered by their position modulo this along axis 2.
  int lanes;
  /// The tiles of the points [first, last), from found[0] on; adds to the number of points of each tile. Refused points
  /// raise their faults.
  void (*find_tiles)(const point_placement<T>& points, const mesh_tiles& tiles, std::size_t first, std::size_t last,
                     std::uint32_t* found, std::uint32_t* counts);
  /// Stores the same points, each at its tile's `next`, which it increments.
  void (*store)(const point_placement<T>& points, std::size_t first, std::size_t last, const std::uint32_t* found,
                std::uint32_t* next, tile_point<T>* stored);
  /// Makes `count` stored points of a tile that begins at `begin` ready for use. `how` is unchanged since they were
  /// stored; of its pointers only whether they are null matters.
  void (*place)(const point_placement<T>& how, const int* begin, tile_point<T>* points, std::size_t count);
  /// Index: components - 1.
  void (*spread[2])(const tile_walk<T>& walk, const tile_work<T>& work);
  void (*interpolate[2])(const tile_walk<T>& walk, const tile_work<T>& work);
  void (*interpolate_gradient[2])(const tile_walk<T>& walk, const tile_work<T>& work);
};

/// The functions of each instruction set; nullptr if this CPU does not have it. Plain C++ always exists.
[[nodiscard]] const tile_functions<float>* avx512_tile_functions(float);
[[nodiscard]] const tile_functions<double>* avx512_tile_functions(double);
[[nodiscard]] const tile_functions<float>* avx2_tile_functions(float);
[[nodiscard]] const tile_functions<double>* avx2_tile_functions(double);
[[nodiscard]] const tile_functions<float>* plain_tile_functions(float);
[[nodiscard]] const tile_functions<double>* plain_tile_functions(double);

/// The widest ones that this CPU supports.
template <typename T>
[[nodiscard]] const tile_functions<T>& best_tile_functions() {
  if (const auto* functions = avx512_tile_functions(T{})) return *functions;
  if (const auto* functions = avx2_tile_functions(T{})) return *functions;
  return *plain_tile_functions(T{});
}

}  // namespace quadrat::detail
