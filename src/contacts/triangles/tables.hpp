// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "quadrat/contacts/triangles.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// The bounds of some triangles, rounded outward.
template <typename T>
struct triangle_bounds {
  vec<T, 3> lower;
  vec<T, 3> upper;

  [[nodiscard]] QUADRAT_HD bool within(const vec<T, 3>& point, T reach) const {
    T squared = T(0);
    for (int axis = 0; axis < 3; ++axis) {
      const T away = std::fmax(std::fmax(lower[axis] - point[axis], point[axis] - upper[axis]), T(0));
      squared += away * away;
    }
    return squared <= reach * reach;
  }
};

/// What searches need to know of triangles, on the host. Vertices at one place, or at images of one place, are one
/// `point`. Corner k of triangle t has the number 3 t + k.
///
/// Triangles are the leaves of a binary tree, whose node at level l above leaf i, a multiple of 2^l, bounds leaves i to
/// i + 2^l - 1. It is number 2^(height - l) + i / 2^l: the root is 1. A node splits its leaves at the median along the
/// longest axis of their centers.
template <typename T>
struct triangle_tables {
  std::vector<vec<T, 3>> vertices;
  std::vector<vec<std::uint32_t, 3>> triangles;
  std::vector<vec<T, 3>> normals;
  std::vector<std::uint32_t> points;   ///< by vertex
  std::vector<std::uint32_t> offsets;  ///< by point: where its corners begin; one more entry
  std::vector<std::uint32_t> corners;  ///< by point, increasing
  std::vector<std::uint32_t> leaves;   ///< triangles, each once, also where several have the same corners
  std::vector<triangle_bounds<T>> nodes;
  int height = 0;
  T reach{};  ///< the largest magnitude of a coordinate
};

/// Throws argument_error for a group that is not below 32 or too many triangles; data_error naming the first triangle
/// without such vertices, with a coordinate beyond largest_length<T>, or that is not sound.
template <typename T>
void check_triangles(const triangles_view& mesh);

/// Throws what check_triangles throws.
template <typename T>
[[nodiscard]] triangle_tables<T> make_triangle_tables(const triangles_view& mesh, const box<T, 3>& domain);

}  // namespace quadrat::detail
