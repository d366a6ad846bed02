// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "quadrat/contacts/quaternion.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"

/// Bodies that can touch. All are convex and symmetric about their center.
namespace quadrat {

enum class body_shape : std::uint8_t {
  sphere,     ///< size (radius, -, -)
  ellipsoid,  ///< size: half-axes along the body's x, y, z
  capsule,    ///< size (radius, half the distance between the cap centers, -); along the body's z
  box         ///< size: half edges along the body's x, y, z
};

/// Names of the shapes, in the order of the enumeration.
inline constexpr std::array<std::string_view, 4> body_shape_names{"sphere", "ellipsoid", "capsule", "box"};

/// One body, or its image. Sizes are positive (a capsule's half distance may be 0), the orientation has unit length.
template <typename T>
struct body {
  body_shape shape;
  vec<T, 3> center;
  vec<T, 3> size;
  quaternion<T> orientation;
};

/// A wall: all points p with dot(normal, p) < offset are solid. The unit normal points out of the wall, towards the
/// bodies; it is 0 along periodic axes. A plane has no bounding box: every body is tested against every plane.
template <typename T>
struct plane {
  vec<T, 3> normal;
  T offset;
  std::uint32_t group = 0;
};

/// In contacts, plane k has the id first_plane + k, above all ids of bodies; adding bodies does not change it.
inline constexpr particle_id first_plane = 0x80000000u;

/// The caller's bodies, not copied. Arrays are in the memory of the context's device, planes on the host. Body i has
/// the shape shapes[i] (or `shape`), the size sizes[i] (spheres alone: radii[i], or `radius`), and the orientation
/// orientations[i] (or none).
///
/// Ids identify bodies from build to build. With ids, contacts can be matched after bodies have been inserted, removed
/// or reordered.
template <typename T>
struct bodies_view {
  points_view<T, 3> centers{};
  body_shape shape = body_shape::sphere;        ///< of all bodies, if `shapes` is nullptr
  const body_shape* shapes = nullptr;           ///< by body
  T radius = T(0);                              ///< of every sphere, if neither radii nor sizes are given
  const T* radii = nullptr;                     ///< by body; for spheres alone
  const vec<T, 3>* sizes = nullptr;             ///< by body, as the shape defines; may be nullptr for spheres alone
  const quaternion<T>* orientations = nullptr;  ///< by body, of any length but 0; nullptr: no rotations
  const std::uint32_t* groups = nullptr;        ///< by body, below 32: see pair_masks; nullptr: all in group 0
  const particle_id* ids = nullptr;  ///< by body, below first_plane, all different; nullptr: body i has the id i
  const std::uint32_t* system_of_body = nullptr;  ///< by body: see contact_options::domains; nullptr: all in one system
  std::span<const plane<T>> planes{};             ///< of every system

  [[nodiscard]] QUADRAT_HD std::size_t size() const { return centers.count; }
  /// Whether all are spheres.
  [[nodiscard]] QUADRAT_HD bool spheres() const { return shapes == nullptr && shape == body_shape::sphere; }
  [[nodiscard]] QUADRAT_HD body_shape shape_of(std::size_t i) const { return shapes != nullptr ? shapes[i] : shape; }
  [[nodiscard]] QUADRAT_HD vec<T, 3> size_of(std::size_t i) const {
    if (sizes != nullptr) return sizes[i];
    return vec<T, 3>::filled(radii != nullptr ? radii[i] : radius);
  }
  [[nodiscard]] QUADRAT_HD body<T> operator[](std::size_t i) const {
    return {shape_of(i), centers[i], size_of(i),
            orientations != nullptr ? normalized(orientations[i]) : quaternion<T>::identity()};
  }
};

/// Which groups interact: bodies of groups g and h can touch if bit h of pair_masks[g] is set. Must be symmetric. Bit g
/// of pair_masks[g] concerns pairs within group g.
using pair_masks = std::array<std::uint32_t, 32>;

/// All groups interact.
[[nodiscard]] constexpr pair_masks all_groups_meet() {
  pair_masks masks{};
  masks.fill(0xffffffffu);
  return masks;
}

/// Half edges of the axis-aligned bounding box of a body.
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> half_extents(const body<T>& b) {
  if (b.shape == body_shape::sphere) return vec<T, 3>::filled(b.size[0]);
  const axes<T> frame = axes_of(b.orientation);
  vec<T, 3> half{};
  for (int axis = 0; axis < 3; ++axis) {
    const vec<T, 3> row{frame.axis[0][axis], frame.axis[1][axis], frame.axis[2][axis]};
    if (b.shape == body_shape::capsule) {
      half[axis] = b.size[0] + b.size[1] * std::fabs(row[2]);
    } else if (b.shape == body_shape::box) {
      half[axis] = b.size[0] * std::fabs(row[0]) + b.size[1] * std::fabs(row[1]) + b.size[2] * std::fabs(row[2]);
    } else {
      const vec<T, 3> scaled{b.size[0] * row[0], b.size[1] * row[1], b.size[2] * row[2]};
      half[axis] = std::sqrt(squared_norm(scaled));
    }
  }
  return half;
}

/// Radius of the smallest sphere around the center that contains the body.
template <typename T>
[[nodiscard]] QUADRAT_HD T bounding_radius(body_shape shape, const vec<T, 3>& size) {
  switch (shape) {
    case body_shape::sphere:
      return size[0];
    case body_shape::ellipsoid:
      return std::fmax(size[0], std::fmax(size[1], size[2]));
    case body_shape::capsule:
      return size[0] + size[1];
    default:
      return std::sqrt(squared_norm(size));
  }
}

/// The range of valid lengths: products of four valid lengths are normal numbers.
template <typename T>
inline constexpr T smallest_length = sizeof(T) == sizeof(float) ? T(1e-9) : T(1e-75);
template <typename T>
inline constexpr T largest_length = sizeof(T) == sizeof(float) ? T(1e9) : T(1e75);

/// The largest ratio of the longest to the shortest half-axis of an ellipsoid.
template <typename T>
inline constexpr T most_slender = sizeof(T) == sizeof(float) ? T(1e4) : T(1e8);

/// The relative rounding error of one operation.
template <typename T>
inline constexpr T rounding_unit = std::numeric_limits<T>::epsilon();

template <typename T>
inline constexpr T largest_number = std::numeric_limits<T>::max();

/// Below this squared length, a direction cannot be determined.
template <typename T>
inline constexpr T least_squared_length = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();

/// Whether a body is valid: a known shape, positive sizes (a capsule's half distance may be 0) from smallest_length to
/// largest_length (of an ellipsoid within most_slender), an orientation that can be normalized. Sizes that the shape
/// does not use are ignored. `squared_orientation` is the squared norm of the quaternion as given, 1 without
/// orientations.
template <typename T>
[[nodiscard]] QUADRAT_HD bool sizes_are_sound(body_shape shape, const vec<T, 3>& size, T squared_orientation) {
  if (!(squared_orientation >= least_squared_length<T> && std::isfinite(squared_orientation))) return false;
  if (shape > body_shape::box) return false;
  const bool capsule = shape == body_shape::capsule;
  const int sizes = shape == body_shape::sphere ? 1 : (capsule ? 2 : 3);
  for (int k = 0; k < sizes; ++k) {
    const bool none = capsule && k == 1 && size[k] == T(0);
    if (!none && !(size[k] >= smallest_length<T> && size[k] <= largest_length<T>)) return false;
  }
  if (shape != body_shape::ellipsoid) return true;
  const T shortest = std::fmin(size[0], std::fmin(size[1], size[2]));
  return std::fmax(size[0], std::fmax(size[1], size[2])) <= shortest * most_slender<T>;
}

}  // namespace quadrat
