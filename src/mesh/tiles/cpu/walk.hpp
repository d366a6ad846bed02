// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/shape.hpp"
#include "mesh/tiles/cpu/tiling.hpp"
#include "quadrat/mesh/window.hpp"

/// The inner loops of the method `tiles` on the CPU, by instruction set.
namespace quadrat::detail {

/// A section of a tile's rows that is contiguous in the mesh. What is outside an open axis is in no piece.
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

/// One value vector, with 1 or 2 adjacent components, for a walk over tiles.
template <typename T>
struct tile_walk {
  const mesh_shape* shape;
  const mesh_window<T>* window;   ///< coefficients beyond its width are zero
  const placed_point<T>* points;  ///< by tile, then by first mesh point along axis 0
  const std::uint32_t* order;     ///< the caller's index of each
  std::size_t count;              ///< of points
  const T* values;                ///< spreading: in the caller's order
  T* mesh;                        ///< spreading
  const T* mesh_values;           ///< interpolating
  T* results;                     ///< interpolating: in the caller's order; with gradients possibly none
  T* gradients;                   ///< interpolating gradients: in the caller's order, one for each axis of each value
  const T* scale;                 ///< gradients: by axis
  bool accumulate;                ///< interpolating: adds to the results
};

/// One tile of it.
template <typename T>
struct tile_work {
  std::size_t first, last;  ///< its points
  int begin[3];             ///< first mesh points of footprints
  int rows;                 ///< along axis 1, with a footprint's reach
  int row;                  ///< along axis 2, with a footprint's reach
  T* scratch;               ///< tile_scratch values, aligned to 64 bytes
  row_piece* pieces;        ///< room for `row` of them
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

/// Values of the scratch memory of one thread: planes of a tile, one for each weight along axis 0, and a batch.
[[nodiscard]] constexpr std::size_t tile_scratch(int planes, int rows, int row) {
  return static_cast<std::size_t>(planes) * static_cast<std::size_t>(rows) *
             static_cast<std::size_t>(tile_row_stride(row, 2)) +
         std::size_t{cpu_tile_batch} * batch_weights + 64;
}

template <typename T>
struct tile_functions {
  /// Lanes of a vector: points of a plane are best ordered by their position modulo this along axis 2.
  int lanes;
  /// The keys of the points [first, last), from keys[0] on. Refused points raise their faults.
  void (*find_keys)(const point_placement<T>& points, const tile_keys& tiles, std::size_t first, std::size_t last,
                    std::uint32_t* keys);
  /// Places the points that are entries [first, last) of `chosen`, from placed[0] on.
  void (*place)(const point_placement<T>& points, const std::uint32_t* chosen, std::size_t first, std::size_t last,
                placed_point<T>* placed);
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
