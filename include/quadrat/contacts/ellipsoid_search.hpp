// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/contacts/quaternion.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// How ellipsoid_contact.hpp finds common normals.
namespace quadrat::ellipsoids {

/// x y + z, rounded the same wherever it is inlined: touch and contact must not differ by what a compiler fuses.
template <typename T>
[[nodiscard]] QUADRAT_HD T fused(T x, T y, T z) {
#if defined(__CUDA_ARCH__)
  return std::fma(x, y, z);
#else
  return x * y + z;
#endif
}

template <typename T>
[[nodiscard]] QUADRAT_HD T inner(const vec<T, 3>& x, const vec<T, 3>& y) {
  return fused(x[2], y[2], fused(x[1], y[1], x[0] * y[0]));
}

/// x scale + z
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> fused(const vec<T, 3>& x, T scale, const vec<T, 3>& z) {
  return {fused(x[0], scale, z[0]), fused(x[1], scale, z[1]), fused(x[2], scale, z[2])};
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
  /// Times itself.
  [[nodiscard]] QUADRAT_HD symmetric_matrix squared() const {
    const vec<T, 3> x{xx, xy, xz}, y{xy, yy, yz}, z{xz, yz, zz};
    return {inner(x, x), inner(y, y), inner(z, z), inner(x, y), inner(x, z), inner(y, z)};
  }
};

/// G = L D L^T for a positive definite matrix: to solve G x = v. Backward stable whatever the scales of the axes.
template <typename T>
struct factorization {
  T inverse_0, inverse_1, inverse_2, lower_10, lower_20, lower_21;

  QUADRAT_HD explicit factorization(const symmetric_matrix<T>& m) {
    inverse_0 = T(1) / m.xx;
    lower_10 = m.xy * inverse_0;
    lower_20 = m.xz * inverse_0;
    const T least = rounding_unit<T>;  // rounding must not make a pivot negative
    inverse_1 = T(1) / std::fmax(fused(-lower_10, m.xy, m.yy), least * m.yy);
    const T left = fused(-lower_10, m.xz, m.yz);
    lower_21 = left * inverse_1;
    inverse_2 = T(1) / std::fmax(fused(-lower_21, left, fused(-lower_20, m.xz, m.zz)), least * m.zz);
  }
  [[nodiscard]] QUADRAT_HD vec<T, 3> solve(const vec<T, 3>& v) const {
    const T y = fused(-lower_10, v[0], v[1]);
    const T z = fused(-lower_21, y, fused(-lower_20, v[0], v[2])) * inverse_2;
    const T x_1 = fused(-lower_21, z, y * inverse_1);
    return {fused(-lower_20, z, fused(-lower_10, x_1, v[0] * inverse_0)), x_1, z};
  }
};

/// Two ellipsoids in the frame of a. Body a is what diag(half_axes) makes of the unit ball, b what `stretch` does.
template <typename T>
struct body_pair {
  vec<T, 3> half_axes;
  symmetric_matrix<T> stretch;
  vec<T, 3> offset;
  T flatness;  ///< the smaller of the ratios of the shortest to the longest half-axis
};

/// The axes of a quaternion of length one, as axes_of.
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
[[nodiscard]] QUADRAT_HD T flatness_of(const vec<T, 3>& size) {
  return std::fmin(size[0], std::fmin(size[1], size[2])) / std::fmax(size[0], std::fmax(size[1], size[2]));
}

template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> components(const axes<T>& frame, const vec<T, 3>& v) {
  return {inner(frame.axis[0], v), inner(frame.axis[1], v), inner(frame.axis[2], v)};
}

/// The frame in which a pair is looked at: that of a, or of b where a is a sphere.
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
  return {size_a, stretch_of(turn, size_b), components(frame, offset),
          std::fmin(flatness_of(size_a), flatness_of(size_b))};
}

template <typename T>
[[nodiscard]] QUADRAT_HD bool bounding_spheres_touch(const body<T>& a, const body<T>& b, const vec<T, 3>& offset) {
  const T reach = bounding_radius(a.shape, a.size) + bounding_radius(b.shape, b.size);
  return inner(offset, offset) < reach * reach;
}

enum class overlap { none, close, certain };

/// Whether the bodies overlap, as far as the contact function of Perram and Wertheim (1985) says it cheaply, and the
/// direction (of any length) in which to look for the common normal.
///
/// With A and B the matrices of the bodies (squares of the stretches) and n = ((1 - l) A + l B)^-1 offset, the function
/// is concave in l, with its maximum where l = h_a(n) / (h_a(n) + h_b(n)). Any n with h_a + h_b <= n . offset proves
/// that the bodies do not overlap; the point (1 - l) A n = offset - l B n lies in a where (1 - l) h_a < 1 and in b
/// where l h_b < 1, which proves that they do. `close` is said where neither is clear to 2 %.
template <typename T>
[[nodiscard]] QUADRAT_HD overlap find_overlap(const body_pair<T>& bodies, vec<T, 3>& direction) {
  const vec<T, 3>& half_axes = bodies.half_axes;
  const T squared_distance = inner(bodies.offset, bodies.offset);
  direction = bodies.offset;
  T reach_a = std::sqrt(inner(by_component(half_axes, direction), by_component(half_axes, direction)));
  T reach_b = std::sqrt(inner(bodies.stretch * direction, bodies.stretch * direction));
  if (!(reach_a > T(0)) || !(reach_b > T(0))) {
    direction = {T(1), T(0), T(0)};
    return overlap::certain;
  }
  if (reach_a + reach_b <= squared_distance) return overlap::none;
  const symmetric_matrix<T> b = bodies.stretch.squared();
  const vec<T, 3> a = by_component(half_axes, half_axes);
  const T distance = std::sqrt(squared_distance);
  const vec<T, 3> toward = bodies.offset * (T(1) / distance);
  constexpr T inside = T(0.98);
  T share = reach_a / (reach_a + reach_b), low = T(0), high = T(1);
  for (int evaluation = 0; evaluation < 12; ++evaluation) {
    const T rest = T(1) - share;
    const factorization<T> sum({fused(b.xx, share, rest * a[0]), fused(b.yy, share, rest * a[1]),
                                fused(b.zz, share, rest * a[2]), share * b.xy, share * b.xz, share * b.yz});
    direction = sum.solve(toward);
    const vec<T, 3> scaled_a = by_component(half_axes, direction), scaled_b = bodies.stretch * direction;
    reach_a = std::sqrt(inner(scaled_a, scaled_a));
    reach_b = std::sqrt(inner(scaled_b, scaled_b));
    if (reach_a + reach_b <= inner(direction, bodies.offset)) return overlap::none;
    if (rest * reach_a * distance < inside && share * reach_b * distance < inside) return overlap::certain;
    const T both = T(1) / (reach_a + reach_b), wanted = reach_a * both;
    const T wrong = share - wanted;
    if (std::fabs(wrong) < T(0.01) * std::fmin(share, rest)) break;
    (wrong < T(0) ? low : high) = share;
    // Newton on l - h_a / (h_a + h_b).
    const vec<T, 3> a_n = by_component(half_axes, scaled_a), b_n = bodies.stretch * scaled_b;
    const vec<T, 3> change = sum.solve(a_n - b_n);
    const T slope = (inner(a_n, change) * reach_b / reach_a - inner(b_n, change) * reach_a / reach_b) * both * both;
    share -= wrong / std::fmax(T(1) - slope, T(0.05));
    if (!(share > low && share < high)) share = T(0.5) * (low + high);
  }
  return overlap::close;
}

/// Where planes with the normal n touch both bodies, in the frame of a.
template <typename T>
struct supports {
  vec<T, 3> point_a;   ///< from the center of a
  vec<T, 3> point_b;   ///< from the center of b, along n (the point along -n is its mirror image)
  T reach_a, reach_b;  ///< their components along n
  T depth;

  QUADRAT_HD supports(const body_pair<T>& bodies, const vec<T, 3>& n) {
    const vec<T, 3> scaled_a = by_component(bodies.half_axes, n), scaled_b = bodies.stretch * n;
    reach_a = std::sqrt(inner(scaled_a, scaled_a));
    reach_b = std::sqrt(inner(scaled_b, scaled_b));
    point_a = by_component(bodies.half_axes, scaled_a) * (T(1) / reach_a);
    point_b = bodies.stretch * scaled_b * (T(1) / reach_b);
    depth = (reach_a + reach_b) - inner(n, bodies.offset);
  }
};

/// Two unit vectors perpendicular to a unit vector, as make_tangents.
template <typename T>
QUADRAT_HD void fused_tangents(const vec<T, 3>& n, vec<T, 3>& u, vec<T, 3>& v) {
  const T sign = std::copysign(T(1), n[2]);
  const T p = T(-1) / (sign + n[2]);
  const T q = n[0] * n[1] * p;
  const T px = n[0] * p, py = n[1] * p;
  u = {fused(sign * n[0], px, T(1)), sign * q, -sign * n[0]};
  v = {q, fused(n[1], py, sign), -n[1]};
}

/// A step in two variables, of a length that is at least about `length`, and the change of the function that it
/// promises (up to a factor of 2).
template <typename T>
struct tangent_step {
  T u, v;
  T length;
  T promise;
};

/// A function of two variables to second order.
template <typename T>
struct quadratic {
  T slope_u, slope_v;
  T uu, uv, vv;

  /// To the minimum, or down where there is none; at most about 1/2. `scale` is the size of the function.
  [[nodiscard]] QUADRAT_HD tangent_step<T> step(T scale) const {
    constexpr T rounding = T(32) * rounding_unit<T>;
    const T mean = T(0.5) * (uu + vv), half = T(0.5) * (uu - vv);
    const T spread = std::sqrt(fused(half, half, uv * uv));
    if (mean - spread <= rounding * fused(T(1), mean + spread, scale))
      return step_off_saddle(scale, mean, half, spread);
    const T inverse = T(1) / fused(uu, vv, -(uv * uv));
    T u = fused(uv, slope_v, -(vv * slope_u)) * inverse;
    T v = fused(uv, slope_u, -(uu * slope_v)) * inverse;
    const T length = std::sqrt(fused(u, u, v * v));
    const T factor = length > T(0.5) ? T(0.5) / length : T(1);
    u *= factor;
    v *= factor;
    return {u, v, length * factor, fused(slope_u, u, slope_v * v)};
  }

  /// Down along both axes of the Hessian, and not by little where the curvature is negative.
  [[nodiscard]] QUADRAT_HD tangent_step<T> step_off_saddle(T scale, T mean, T half, T spread) const {
    const T low = mean - spread, high = mean + spread;
    const T floor = T(32) * rounding_unit<T> * (std::fabs(low) + std::fabs(high) + scale);
    T x = half > T(0) ? -uv : (spread > T(0) ? spread - half : T(1));
    T y = half > T(0) ? half + spread : -uv;
    const T inverse = T(1) / std::sqrt(fused(x, x, y * y));
    x *= inverse;
    y *= inverse;
    const T slope_low = fused(slope_u, x, slope_v * y), slope_high = fused(slope_v, x, -(slope_u * y));
    const T least = low < -floor ? T(0.1) : T(0);
    const T size = std::fmin(T(0.5), std::fmax(least, std::fabs(slope_low) / std::fmax(std::fabs(low), floor)));
    const T along = std::copysign(size, -slope_low);
    const T wanted = -slope_high / std::fmax(std::fabs(high), floor);
    const T across = std::fmax(T(-0.5), std::fmin(T(0.5), wanted));
    const T promise = fused(slope_low, along, fused(slope_high, across, T(0.5) * along * along * std::fmin(low, T(0))));
    return {fused(along, x, -(across * y)), fused(along, y, across * x), size + std::fabs(across), promise};
  }
};

/// f around n in the tangents u and v: gradient and Riemannian Hessian on the unit sphere. The Hessian of h is the
/// tensor of the radii of curvature.
template <typename T>
[[nodiscard]] QUADRAT_HD quadratic<T> expand(const body_pair<T>& bodies, const supports<T>& at, const vec<T, 3>& u,
                                             const vec<T, 3>& v) {
  const vec<T, 3> a_u = by_component(bodies.half_axes, u), a_v = by_component(bodies.half_axes, v);
  const vec<T, 3> b_u = bodies.stretch * u, b_v = bodies.stretch * v;
  const T over_a = T(1) / at.reach_a, over_b = T(1) / at.reach_b;
  const T au = inner(at.point_a, u), av = inner(at.point_a, v), bu = inner(at.point_b, u), bv = inner(at.point_b, v);
  const T a_uu = fused(-au, au, inner(a_u, a_u)), a_uv = fused(-au, av, inner(a_u, a_v));
  const T a_vv = fused(-av, av, inner(a_v, a_v));
  const T b_uu = fused(-bu, bu, inner(b_u, b_u)), b_uv = fused(-bu, bv, inner(b_u, b_v));
  const T b_vv = fused(-bv, bv, inner(b_v, b_v));
  const vec<T, 3> gap = (at.point_a - bodies.offset) + at.point_b;
  return {inner(gap, u), inner(gap, v), fused(a_uu, over_a, fused(b_uu, over_b, -at.depth)),
          fused(a_uv, over_a, b_uv * over_b), fused(a_vv, over_a, fused(b_vv, over_b, -at.depth))};
}

template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> unit(const vec<T, 3>& v) {
  return v * (T(1) / std::sqrt(inner(v, v)));
}

/// Newton's method on the unit sphere for a local minimum of f, from `direction`, downhill: steps that do not keep a
/// tenth of their promise are shortened. False when a direction with f <= 0 is met. `direction` becomes the normal.
template <typename T>
[[nodiscard]] QUADRAT_HD bool descend(const body_pair<T>& bodies, vec<T, 3>& direction) {
  constexpr T rounding = rounding_unit<T>;
  // Quadratic convergence squares what is left, relative to the angle over which curvature changes.
  const T tolerance = (sizeof(T) == 4 ? T(1e-3) : T(1e-7)) * bodies.flatness;
  direction = unit(direction);
  vec<T, 3> from = direction, change{};
  T lowest = largest_number<T>, promise = T(0), length = T(1);
  for (int evaluation = 0; evaluation < 40; ++evaluation) {
    const supports<T> at(bodies, direction);
    if (at.depth <= T(0)) return false;
    const T scale = at.reach_a + at.reach_b;
    const T gained = at.depth - lowest;
    if (gained <= fused(T(0.1), promise, T(4) * rounding * scale)) {
      vec<T, 3> u{}, v{};
      fused_tangents(direction, u, v);
      const tangent_step<T> step = expand(bodies, at, u, v).step(scale);
      change = fused(u, step.u, v * step.v);
      length = step.length;
      promise = step.promise;
      from = direction;
      lowest = at.depth;
    } else {
      const T factor = std::fmax(T(0.1), T(-0.5) * promise / (gained - promise));  // the least of a parabola
      change = change * factor;
      length *= factor;
      promise *= factor;
    }
    direction = unit(from + change);
    if (length <= tolerance || -promise <= T(0.0625) * rounding * scale) break;
  }
  return true;
}

}  // namespace quadrat::ellipsoids
