// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/contacts/quaternion.hpp"
#include "quadrat/contacts/rounding.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// Two ellipsoids in the frame of one of them, and the arithmetic of ellipsoid_search.hpp.
namespace quadrat::ellipsoids {

using rounding::fused;
using rounding::inverse;

/// 1 / sqrt(x), on the device by the hardware's instruction: accurate to two units in the last place.
template <typename T>
[[nodiscard]] QUADRAT_HD T inverse_root(T x) {
#if defined(__CUDA_ARCH__)
  return rsqrt(x);
#else
  return T(1) / std::sqrt(x);
#endif
}

template <typename T>
[[nodiscard]] QUADRAT_HD T inner(const vec<T, 3>& x, const vec<T, 3>& y) {
  return fused(x[2], y[2], fused(x[1], y[1], x[0] * y[0]));
}

template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> by_component(const vec<T, 3>& x, const vec<T, 3>& y) {
  return {x[0] * y[0], x[1] * y[1], x[2] * y[2]};
}

template <typename T>
struct symmetric_matrix {
  T xx, yy, zz, xy, xz, yz;

  [[nodiscard]] QUADRAT_HD vec<T, 3> operator*(const vec<T, 3>& v) const {
    return {fused(xz, v[2], fused(xy, v[1], xx * v[0])), fused(yz, v[2], fused(yy, v[1], xy * v[0])),
            fused(zz, v[2], fused(yz, v[1], xz * v[0]))};
  }
  /// The matrix squared.
  [[nodiscard]] QUADRAT_HD symmetric_matrix squared() const {
    const vec<T, 3> x{xx, xy, xz}, y{xy, yy, yz}, z{xz, yz, zz};
    return {inner(x, x), inner(y, y), inner(z, z), inner(x, y), inner(x, z), inner(y, z)};
  }
};

/// G = L D L^T for a positive definite matrix, to solve G x = v. Backward stable for any scales of the axes.
template <typename T>
struct factorization {
  T inverse_0, inverse_1, inverse_2, lower_10, lower_20, lower_21;

  QUADRAT_HD explicit factorization(const symmetric_matrix<T>& m) {
    inverse_0 = inverse(m.xx);
    lower_10 = m.xy * inverse_0;
    lower_20 = m.xz * inverse_0;
    const T least = rounding_unit<T>;  // rounding must not make a pivot negative
    inverse_1 = inverse(std::fmax(fused(-lower_10, m.xy, m.yy), least * m.yy));
    const T left = fused(-lower_10, m.xz, m.yz);
    lower_21 = left * inverse_1;
    inverse_2 = inverse(std::fmax(fused(-lower_21, left, fused(-lower_20, m.xz, m.zz)), least * m.zz));
  }
  [[nodiscard]] QUADRAT_HD vec<T, 3> solve(const vec<T, 3>& v) const {
    const T y = fused(-lower_10, v[0], v[1]);
    const T z = fused(-lower_21, y, fused(-lower_20, v[0], v[2])) * inverse_2;
    const T x_1 = fused(-lower_21, z, y * inverse_1);
    return {fused(-lower_20, z, fused(-lower_10, x_1, v[0] * inverse_0)), x_1, z};
  }
};

/// Two ellipsoids in the frame of a. Body a is the image of the unit ball under diag(half_axes), b under `stretch`.
template <typename T>
struct body_pair {
  vec<T, 3> half_axes;
  symmetric_matrix<T> stretch;
  vec<T, 3> offset;
  T flatness;  ///< the smaller of the ratios of the shortest to the longest half-axis
  T longest;   ///< half-axis of the two
};

/// The axes of a unit quaternion, as axes_of.
template <typename T>
[[nodiscard]] QUADRAT_HD axes<T> fused_axes(const quaternion<T>& q) {
  const T x = q.x + q.x, y = q.y + q.y, z = q.z + q.z;
  const T wx = q.w * x, wy = q.w * y, wz = q.w * z;
  return {{{fused(-q.y, y, fused(-q.z, z, T(1))), fused(q.x, y, wz), fused(q.x, z, -wy)},
           {fused(q.x, y, -wz), fused(-q.x, x, fused(-q.z, z, T(1))), fused(q.y, z, wx)},
           {fused(q.x, z, wy), fused(q.y, z, -wx), fused(-q.x, x, fused(-q.y, y, T(1)))}}};
}

/// conj(p) q: the orientation q as seen from the frame p.
template <typename T>
[[nodiscard]] QUADRAT_HD quaternion<T> relative(const quaternion<T>& p, const quaternion<T>& q) {
  return {fused(p.z, q.z, fused(p.y, q.y, fused(p.x, q.x, p.w * q.w))),
          fused(p.z, q.y, fused(-p.y, q.z, fused(-p.x, q.w, p.w * q.x))),
          fused(p.x, q.z, fused(-p.z, q.x, fused(-p.y, q.w, p.w * q.y))),
          fused(p.y, q.x, fused(-p.x, q.y, fused(-p.z, q.w, p.w * q.z)))};
}

/// R diag(size) R^T.
template <typename T>
[[nodiscard]] QUADRAT_HD symmetric_matrix<T> stretch_of(const quaternion<T>& orientation, const vec<T, 3>& size) {
  const axes<T> r = fused_axes(orientation);
  const vec<T, 3> x{r.axis[0][0], r.axis[1][0], r.axis[2][0]};
  const vec<T, 3> y{r.axis[0][1], r.axis[1][1], r.axis[2][1]};
  const vec<T, 3> z{r.axis[0][2], r.axis[1][2], r.axis[2][2]};
  const vec<T, 3> sx = by_component(size, x), sy = by_component(size, y), sz = by_component(size, z);
  return {inner(sx, x), inner(sy, y), inner(sz, z), inner(sx, y), inner(sx, z), inner(sy, z)};
}

template <typename T>
[[nodiscard]] QUADRAT_HD T shortest_of(const vec<T, 3>& size) {
  return std::fmin(size[0], std::fmin(size[1], size[2]));
}
template <typename T>
[[nodiscard]] QUADRAT_HD T longest_of(const vec<T, 3>& size) {
  return std::fmax(size[0], std::fmax(size[1], size[2]));
}

template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> components(const axes<T>& frame, const vec<T, 3>& v) {
  return {inner(frame.axis[0], v), inner(frame.axis[1], v), inner(frame.axis[2], v)};
}

/// Rotates from the frame of the pair to space.
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> to_space(const axes<T>& frame, const vec<T, 3>& v) {
  return fused(frame.axis[2], v[2], fused(frame.axis[1], v[1], frame.axis[0] * v[0]));
}

/// The frame of a pair: that of a, or of b if a is a sphere.
template <typename T>
[[nodiscard]] QUADRAT_HD quaternion<T> frame_of(const body<T>& a, const body<T>& b) {
  return a.shape == body_shape::sphere ? b.orientation : a.orientation;
}

template <typename T>
[[nodiscard]] QUADRAT_HD body_pair<T> pair_in_frame(const axes<T>& frame, const body<T>& a, const body<T>& b,
                                                    const vec<T, 3>& offset) {
  const vec<T, 3> size_a = a.shape == body_shape::sphere ? vec<T, 3>::filled(a.size[0]) : a.size;
  const vec<T, 3> size_b = b.shape == body_shape::sphere ? vec<T, 3>::filled(b.size[0]) : b.size;
  const bool aligned = a.shape == body_shape::sphere || b.shape == body_shape::sphere;
  const quaternion<T> turn = aligned ? quaternion<T>::identity() : relative(a.orientation, b.orientation);
  const T longest_a = longest_of(size_a), longest_b = longest_of(size_b);
  const T flatness = std::fmin(shortest_of(size_a) * inverse(longest_a), shortest_of(size_b) * inverse(longest_b));
  return {size_a, stretch_of(turn, size_b), components(frame, offset), flatness, std::fmax(longest_a, longest_b)};
}

template <typename T>
[[nodiscard]] QUADRAT_HD bool bounding_spheres_touch(const body<T>& a, const body<T>& b, const vec<T, 3>& offset) {
  const T reach = bounding_radius(a.shape, a.size) + bounding_radius(b.shape, b.size);
  return inner(offset, offset) < reach * reach;
}

}  // namespace quadrat::ellipsoids
