// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// Triangles, and the point of a triangle that is closest to another point.
namespace quadrat {

/// The caller's triangles, on the host, not copied: those of io::triangle_mesh, for example. Both sides of a triangle
/// are solid; its corners run counterclockwise seen from its front.
struct triangles_view {
  std::span<const vec<double, 3>> vertices{};
  std::span<const vec<std::uint32_t, 3>> triangles{};  ///< by triangle: its vertices
  std::uint32_t group = 0;                             ///< below 32: see pair_masks
};

/// Whether three corners are accepted as a triangle: coordinates are finite and at most largest_length<double> in
/// magnitude, and the height over the longest edge is above 1e-12 of that edge.
[[nodiscard]] inline bool triangle_is_sound(const vec<double, 3>& a, const vec<double, 3>& b, const vec<double, 3>& c) {
  const auto magnitude = [](const vec<double, 3>& p) {
    return std::max({std::fabs(p[0]), std::fabs(p[1]), std::fabs(p[2])});
  };
  for (const vec<double, 3>& corner : {a, b, c}) {
    for (int axis = 0; axis < 3; ++axis) {
      if (!(std::fabs(corner[axis]) <= largest_length<double>)) return false;  // or not a number
    }
  }
  const vec<double, 3> sides[3] = {b - a, c - b, a - c};
  // Sides are scaled to about one: squares of short ones would underflow.
  const double most = std::max({magnitude(sides[0]), magnitude(sides[1]), magnitude(sides[2])});
  if (most < smallest_length<double>) return false;
  double longest = 0;
  for (const vec<double, 3>& side : sides) longest = std::max(longest, squared_norm(side * (1 / most)));
  return std::sqrt(squared_norm(cross(sides[0] * (1 / most), sides[1] * (1 / most)))) > 1e-12 * longest;
}

/// The parts of a triangle, as features of contacts: 0 is its face, 1 + k its edge from corner k to corner k + 1 (mod
/// 3), 4 + k its corner k.
inline constexpr std::uint32_t triangle_face = 0;
inline constexpr std::uint32_t triangle_edge = 1;
inline constexpr std::uint32_t triangle_corner = 4;

/// The point of a triangle that is closest to another point.
template <typename T>
struct nearest_on_triangle {
  vec<T, 3> way;       ///< from the other point
  T squared_distance;  ///< the square of its length
  T inside;            ///< distance of the foot of the other point from the nearest side, negative outside
  std::uint32_t part;  ///< of the triangle, where the point is
};

/// The point closest to the origin, for corners relative to it. `normal`: of the triangle, as accurate as can be; that
/// of rounded corners may be far off. The face extends beyond its sides by `tolerance`;
/// points of a side closer than that to a corner are there.
template <typename T>
[[nodiscard]] QUADRAT_HD_NOINLINE nearest_on_triangle<T> find_nearest_on_triangle(const vec<T, 3> (&corners)[3],
                                                                                  const vec<T, 3>& normal,
                                                                                  T tolerance) {
  nearest_on_triangle<T> best{{}, T(0), largest_number<T>, triangle_face};
  T inside[3];  // of each side
  for (int k = 0; k < 3; ++k) {
    const vec<T, 3> side = corners[(k + 1) % 3] - corners[k];
    const T length = std::sqrt(squared_norm(side));
    inside[k] = length > T(0) ? dot(cross(side, normal), corners[k]) / length : largest_number<T>;
    best.inside = std::fmin(best.inside, inside[k]);
  }
  if (best.inside >= -tolerance) {
    const T height = dot(normal, corners[0]);
    best.way = normal * height;
    best.squared_distance = height * height;
    return best;
  }
  // Distances of almost equal points do not tell which is closer: a point is closest to a side that it lies beside and
  // beyond, else to a corner. All in the plane: in space the height would hide the rest.
  bool beside_any = false;
  T least = largest_number<T>;
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3;
    const vec<T, 3> side = corners[next] - corners[k];
    const vec<T, 3> flat = corners[k] - normal * dot(normal, corners[k]);
    const T place = -dot(flat, side), squared = squared_norm(side), margin = tolerance * std::sqrt(squared);
    const bool at_begin = !(place > margin), at_end = place >= squared - margin;
    const bool beside = !at_begin && !at_end && inside[k] < T(0);
    const T part = at_begin ? T(0) : (at_end ? T(1) : place / squared);
    const T distance = squared_norm(flat + side * part);
    if (beside == beside_any ? !(distance < least) : beside_any) continue;
    beside_any = beside;
    least = distance;
    best.way = at_end && !at_begin ? corners[next] : corners[k] + side * part;
    best.part = static_cast<std::uint32_t>(at_begin ? 4 + k : (at_end ? 4 + next : 1 + k));
  }
  best.squared_distance = squared_norm(best.way);
  return best;
}

}  // namespace quadrat
