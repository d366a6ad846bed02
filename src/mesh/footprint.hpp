// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>

#include "mesh/mesh_shape.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/mesh/window.hpp"

/// Before a loop that kernels must not unroll, so that what it computes does not fill the registers.
#if defined(__CUDA_ARCH__)
#define QUADRAT_KEEP_LOOP _Pragma("unroll 1")
#else
#define QUADRAT_KEEP_LOOP
#endif

namespace quadrat::detail {

/// The weights of one point, axis by axis. Loops over it have the constant bound Width, so that weights stay in
/// registers.
template <typename T, int Width>
struct footprint {
  T weight[3][Width];

  /// All weights; along `derived`, if it is an axis, those of the derivative by mesh units.
  QUADRAT_HD footprint(const mesh_window<T>& window, const mesh_shape& shape, const placed_point<T>& point,
                       int derived = -1) {
    QUADRAT_UNROLL
    for (int axis = 0; axis < 3; ++axis) {
      if (axis < shape.first_axis) {
        for (int j = 0; j < Width; ++j) weight[axis][j] = j == 0 ? T(1) : T(0);
      } else if (axis == derived) {
        window.template derivatives<Width>(point.place[axis], weight[axis]);
      } else {
        window.template weights<Width>(point.place[axis], weight[axis]);
      }
    }
  }

  /// Calls f(node, weight) for every mesh point of the footprint, the last axis fastest; those outside an open axis are
  /// left out.
  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_node(const mesh_shape& shape, const placed_point<T>& point, F&& f) const {
    int column[Width];
    int row[Width];
    T first[Width];
    QUADRAT_UNROLL
    for (int j = 0; j < Width; ++j) {
      const int home = j < shape.width[1] ? shape.home(point.first[1] + j, 1) : -1;
      row[j] = home < 0 ? -1 : home * shape.extent[2];
      column[j] = shape.home(point.first[2] + j, 2);
      first[j] = weight[0][j];
    }
    QUADRAT_KEEP_LOOP
    for (int a = 0; a < shape.width[0]; ++a) {
      const int i = shape.home(point.first[0] + a, 0);
      if (i >= 0) {
        const int plane = i * shape.extent[1] * shape.extent[2];
        QUADRAT_UNROLL
        for (int b = 0; b < Width; ++b) {
          if (row[b] < 0) continue;
          const T rows = first[0] * weight[1][b];
          QUADRAT_UNROLL
          for (int c = 0; c < Width; ++c) {
            if (column[c] >= 0) f(static_cast<std::size_t>(plane + row[b] + column[c]), rows * weight[2][c]);
          }
        }
      }
      // The next weight comes to the front: an index that is not constant would put the weights in memory.
      QUADRAT_UNROLL
      for (int j = 0; j + 1 < Width; ++j) first[j] = first[j + 1];
    }
  }
};

/// Calls f(std::integral_constant<int, Width>) for the width, 1 to 8.
template <typename F>
void with_width(int width, F&& f) {
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

}  // namespace quadrat::detail
