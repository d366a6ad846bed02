// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/contacts/rounding.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat {

/// An orientation: w + x i + y j + z k rotates vectors from a body's frame to space. Quaternions given by a caller need
/// not have unit length; see `normalized`.
template <typename T>
struct quaternion {
  T w, x, y, z;

  /// No rotation.
  [[nodiscard]] QUADRAT_HD static constexpr quaternion identity() { return {T(1), T(0), T(0), T(0)}; }
};

template <typename T>
[[nodiscard]] QUADRAT_HD T squared_norm(const quaternion<T>& q) {
  return rounding::fused(q.z, q.z, rounding::fused(q.y, q.y, rounding::fused(q.x, q.x, q.w * q.w)));
}

/// The quaternion scaled to unit length. The length must be positive and finite.
template <typename T>
[[nodiscard]] QUADRAT_HD quaternion<T> normalized(const quaternion<T>& q) {
  const T scale = T(1) / std::sqrt(squared_norm(q));
  return {q.w * scale, q.x * scale, q.y * scale, q.z * scale};
}

/// The three axes of a body in space: the columns of its rotation matrix.
template <typename T>
struct axes {
  vec<T, 3> axis[3];

  /// Rotates a vector from the body's frame to space.
  [[nodiscard]] QUADRAT_HD vec<T, 3> to_space(const vec<T, 3>& v) const {
    return axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2];
  }
  [[nodiscard]] QUADRAT_HD vec<T, 3> to_body(const vec<T, 3>& v) const {
    return {dot(axis[0], v), dot(axis[1], v), dot(axis[2], v)};
  }
};

/// The axes of a unit quaternion.
template <typename T>
[[nodiscard]] QUADRAT_HD axes<T> axes_of(const quaternion<T>& q) {
  const T xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  const T xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  const T wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  return {{{T(1) - T(2) * (yy + zz), T(2) * (xy + wz), T(2) * (xz - wy)},
           {T(2) * (xy - wz), T(1) - T(2) * (xx + zz), T(2) * (yz + wx)},
           {T(2) * (xz + wy), T(2) * (yz - wx), T(1) - T(2) * (xx + yy)}}};
}

}  // namespace quadrat
