// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/shape.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/mesh/window.hpp"

/// Before a loop: kernels must not unroll it, to save registers.
#if defined(__CUDA_ARCH__)
#define QUADRAT_KEEP_LOOP _Pragma("unroll 1")
#else
#define QUADRAT_KEEP_LOOP
#endif

namespace quadrat::detail {

/// A point's weights and the offsets of its rows along the last axis, which are cut into units of `Nodes` mesh points
/// that begin at multiples of Nodes: a unit is one aligned memory access, never crosses the periodic boundary, and has
/// weights of 0 outside the footprint. Nodes is 1, 2 or 4, and divides the extent along the last axis. Loops over the
/// arrays have constant bounds, so that kernels keep them in registers. Offsets are 32 bits: a mesh has fewer than 2^31
/// points.
template <typename T, int Width, int Nodes>
struct footprint_rows {
  static constexpr int units = (Width + 2 * Nodes - 2) / Nodes;  ///< the most that a row can touch
  static constexpr int lanes = units * Nodes;

  T weight[2][Width];  ///< along the first two axes
  T along[lanes];      ///< along the last one
  int row[Width];      ///< along the second axis: offset in a plane, in units; -1 outside an open axis
  int unit[units];     ///< along the last axis: offset in a row, in units; -1 if unused
  int shift;           ///< mesh points of the first unit before the footprint

  QUADRAT_HD footprint_rows(const mesh_window<T>& window, const mesh_shape& shape, const placed_point<T>& point)
      : shift(point.first[2] & (Nodes - 1)) {
    T last[Width];
    QUADRAT_UNROLL
    for (int axis = 0; axis < 3; ++axis) {
      weights_of(window, shape, axis, point.place[axis], axis == 2 ? last : weight[axis & 1]);
    }
    spread_lanes(last, shift, along);
    QUADRAT_UNROLL
    for (int b = 0; b < Width; ++b) {
      const int j = b < shape.width[1] ? shape.home(point.first[1] + b, 1) : -1;
      row[b] = j < 0 ? -1 : j * (shape.extent[2] / Nodes);
    }
    QUADRAT_UNROLL
    for (int u = 0; u < units; ++u) {
      const int k = shift + Width > u * Nodes ? shape.home(point.first[2] - shift + u * Nodes, 2) : -1;
      unit[u] = k < 0 ? -1 : k / Nodes;
    }
  }

  /// The weights along an axis; along one beyond the dimension, 1 for its only mesh point.
  QUADRAT_HD static void weights_of(const mesh_window<T>& window, const mesh_shape& shape, int axis, T place, T* w) {
    if (axis < shape.first_axis) {
      QUADRAT_UNROLL
      for (int j = 0; j < Width; ++j) w[j] = j == 0 ? T(1) : T(0);
    } else {
      window.template weights<Width>(place, w);
    }
  }

  /// Moves the weights of a row to their lanes by conditional moves, because indexing by a variable shift would put the
  /// lanes in memory.
  QUADRAT_HD static void spread_lanes(const T* w, int shift, T* lane) {
    QUADRAT_UNROLL
    for (int l = 0; l < lanes; ++l) lane[l] = l < Width ? w[l] : T(0);
    QUADRAT_UNROLL
    for (int step = 1; step < Nodes; step *= 2) {
      QUADRAT_UNROLL
      for (int l = lanes - 1; l >= 0; --l) {
        if ((shift & step) != 0) lane[l] = l < step ? T(0) : lane[l - step];
      }
    }
  }

  /// Whether a lane belongs to the footprint.
  [[nodiscard]] QUADRAT_HD bool inside(int lane) const { return lane >= shift && lane < shift + Width; }

  /// Offset, in units, of plane a of the footprint; -1 outside an open axis.
  [[nodiscard]] QUADRAT_HD static int plane(const mesh_shape& shape, const placed_point<T>& point, int a) {
    const int i = shape.home(point.first[0] + a, 0);
    return i < 0 ? -1 : i * (shape.extent[1] * (shape.extent[2] / Nodes));
  }

  /// Calls f(offset of the row in units, product of the weights along the first two axes); the offset is -1 where the
  /// row is outside an open axis. f handles that, because predicates may be faster than branches.
  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_row(const mesh_shape& shape, const placed_point<T>& point, F&& f) const {
    T first[Width];
    QUADRAT_UNROLL
    for (int a = 0; a < Width; ++a) first[a] = weight[0][a];
    QUADRAT_KEEP_LOOP
    for (int a = 0; a < shape.width[0]; ++a) {
      const int start = plane(shape, point, a);
      if (start >= 0) {
        QUADRAT_UNROLL
        for (int b = 0; b < Width; ++b) f(row[b] < 0 ? -1 : start + row[b], first[0] * weight[1][b]);
      }
      rotate(first);
    }
  }

  /// Rotates the next weight to the front, because indexing by a variable would put the weights in memory.
  QUADRAT_HD static void rotate(T* w) {
    QUADRAT_UNROLL
    for (int j = 0; j + 1 < Width; ++j) w[j] = w[j + 1];
  }
};

/// The offset of unit `unit` in a channel. It may exceed 2^31 values, but never 2^31 units.
[[nodiscard]] QUADRAT_HD inline std::size_t offset_of(int unit, int step) {
  return static_cast<std::size_t>(static_cast<std::uint32_t>(unit)) * static_cast<std::size_t>(step);
}

/// Whether arrays of `components` values per mesh point can be read and written in units of `nodes` mesh points.
template <typename T>
[[nodiscard]] bool has_units(const mesh_shape& shape, const T* mesh, int nodes, int components) {
  const std::size_t bytes = static_cast<std::size_t>(nodes * components) * sizeof(T);
  return shape.extent[2] % nodes == 0 && reinterpret_cast<std::uintptr_t>(mesh) % bytes == 0;
}

}  // namespace quadrat::detail
