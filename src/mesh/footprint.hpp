// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>

#include "mesh/shape.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/mesh/window.hpp"

namespace quadrat::detail {

/// The weights of one point, axis by axis. Loops over it have the constant bound Width, so that weights stay in
/// registers.
template <typename T, int Width>
struct footprint {
  T weight[3][Width];

  QUADRAT_HD footprint(const mesh_window<T>& window, const mesh_shape& shape, const placed_point<T>& point) {
    QUADRAT_UNROLL
    for (int axis = 0; axis < 3; ++axis) {
      if (axis < shape.first_axis) {
        for (int j = 0; j < Width; ++j) weight[axis][j] = j == 0 ? T(1) : T(0);
      } else {
        window.template weights<Width>(point.place[axis], weight[axis]);
      }
    }
  }

  /// Mesh points of a row: the constant Width, so that loops are unrolled, or the actual width for wide windows.
  [[nodiscard]] static int width_of(const mesh_shape& shape) {
    return Width <= mesh_window<T>::most_fixed_width ? Width : shape.width[2];
  }

  /// Calls f(node, weight) for every mesh point of the footprint, the last axis fastest; those outside an open axis are
  /// left out. For CPUs: kernels have footprint_rows.
  template <typename F>
  void for_each_node(const mesh_shape& shape, const placed_point<T>& point, F&& f) const {
    const int row = width_of(shape);
    const bool whole_rows = point.first[2] >= 0 && point.first[2] + row <= shape.extent[2];
    for (int a = 0; a < shape.width[0]; ++a) {
      const int i = shape.home(point.first[0] + a, 0);
      if (i < 0) continue;
      for (int b = 0; b < shape.width[1]; ++b) {
        const int j = shape.home(point.first[1] + b, 1);
        if (j < 0) continue;
        const T rows = weight[0][a] * weight[1][b];
        if (whole_rows) {
          const std::size_t start = shape.node(i, j, point.first[2]);
          for (int c = 0; c < row; ++c) f(start + static_cast<std::size_t>(c), rows * weight[2][c]);
          continue;
        }
        for (int c = 0; c < row; ++c) {
          const int k = shape.home(point.first[2] + c, 2);
          if (k >= 0) f(shape.node(i, j, k), rows * weight[2][c]);
        }
      }
    }
  }
};

/// Calls f(std::integral_constant<int, Width>) for the width, 1 to 8.
template <typename F>
void with_width(int width, F&& f) {
  // NOLINTNEXTLINE(bugprone-branch-clone): they differ in their argument
  switch (width) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 4:
      return f(std::integral_constant<int, 4>{});
    case 5:
      return f(std::integral_constant<int, 5>{});
    case 6:
      return f(std::integral_constant<int, 6>{});
    case 7:
      return f(std::integral_constant<int, 7>{});
    default:
      return f(std::integral_constant<int, 8>{});
  }
}

/// The same for any width; Width is 16 for all that are wider than 8.
template <typename F>
void with_any_width(int width, F&& f) {
  using window = mesh_window<double>;
  if (width > window::most_fixed_width) return f(std::integral_constant<int, window::most_width>{});
  with_width(width, f);
}

}  // namespace quadrat::detail
