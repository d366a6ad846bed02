// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/ellipsoid_pair.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// The search for common normals in ellipsoid_contact.hpp.
namespace quadrat::ellipsoids {

/// The points at which planes with normal n touch both bodies, in the frame of a. n may have any length: reach and
/// depth scale with it.
template <typename T>
struct supports {
  vec<T, 3> scaled_a, scaled_b;  ///< n under the stretches
  T inverse_reach_a, inverse_reach_b;
  T reach_a, reach_b, reach;  ///< of a, of b and their sum
  T depth;

  QUADRAT_HD supports(const body_pair<T>& bodies, const vec<T, 3>& n) {
    scaled_a = by_component(bodies.half_axes, n);
    scaled_b = bodies.stretch * n;
    const T square_a = inner(scaled_a, scaled_a), square_b = inner(scaled_b, scaled_b);
    inverse_reach_a = inverse_root(square_a);
    inverse_reach_b = inverse_root(square_b);
    reach_a = square_a * inverse_reach_a;
    reach_b = square_b * inverse_reach_b;
    reach = fused(square_a, inverse_reach_a, square_b * inverse_reach_b);
    depth = reach - inner(n, bodies.offset);
  }
  /// The touching point of a, relative to its center.
  [[nodiscard]] QUADRAT_HD vec<T, 3> point_a(const body_pair<T>& bodies) const {
    return by_component(bodies.half_axes, scaled_a) * inverse_reach_a;
  }
  /// The point of b farthest along n, relative to its center (the point farthest along -n is its mirror image).
  [[nodiscard]] QUADRAT_HD vec<T, 3> point_b(const body_pair<T>& bodies) const {
    return bodies.stretch * scaled_b * inverse_reach_b;
  }
};

/// The derivative of h_a / (h_a + h_b) by l, for Newton's method on l - h_a / (h_a + h_b).
template <typename T>
[[nodiscard]] QUADRAT_HD T slope_of_share(const body_pair<T>& bodies, const factorization<T>& sum,
                                          const supports<T>& at) {
  const vec<T, 3> a_n = by_component(bodies.half_axes, at.scaled_a), b_n = bodies.stretch * at.scaled_b;
  const vec<T, 3> change = sum.solve(a_n - b_n);
  const T of_a = inner(a_n, change) * at.inverse_reach_a, of_b = inner(b_n, change) * at.inverse_reach_b;
  const T both = inverse(at.reach);
  return fused(of_a, at.reach_b, -(of_b * at.reach_a)) * both * both;
}

enum class overlap { none, close, certain };

/// Whether the bodies overlap, as far as the contact function of Perram and Wertheim (1985) decides it cheaply, and the
/// direction (of any length) from which to search for the common normal.
///
/// With A and B the matrices of the bodies (squares of the stretches) and n = ((1 - l) A + l B)^-1 offset, the function
/// is concave in l, with its maximum where l = h_a(n) / (h_a(n) + h_b(n)). Any n with h_a + h_b <= n . offset proves
/// that the bodies do not overlap; the point (1 - l) A n = offset - l B n lies in a where (1 - l) h_a < 1 and in b
/// where l h_b < 1, which proves that they do. Returns `close` if neither holds by a margin of 2 %. The offset is
/// `toward` times `size`; `share` and `rest` are the first l and 1 - l.
template <typename T>
[[nodiscard]] QUADRAT_HD overlap seek_proof(const body_pair<T>& bodies, const vec<T, 3>& toward, T size, T share,
                                            T rest, vec<T, 3>& direction) {
  const symmetric_matrix<T> b = bodies.stretch.squared();
  const vec<T, 3> a = by_component(bodies.half_axes, bodies.half_axes);
  const T inside = T(0.98) * inverse(size);
  for (int evaluation = 0; evaluation < 12; ++evaluation) {
    const factorization<T> sum({fused(b.xx, share, rest * a[0]), fused(b.yy, share, rest * a[1]),
                                fused(b.zz, share, rest * a[2]), share * b.xy, share * b.xz, share * b.yz});
    direction = sum.solve(toward);
    const supports<T> at(bodies, direction);
    if (!(at.reach <= largest_number<T>)) {  // overflow at extreme sizes
      direction = toward;
      break;
    }
    if (at.depth <= T(0)) return overlap::none;
    if (rest * at.reach_a < inside && share * at.reach_b < inside) return overlap::certain;
    const T both = inverse(at.reach);
    const T wrong = fused(-at.reach_a, both, share);
    if (std::fabs(wrong) < T(0.01) * std::fmin(share, rest)) break;
    const T step = wrong / std::fmax(T(1) - slope_of_share(bodies, sum, at), T(0.05));
    share -= step;
    rest += step;
    if (!(share > T(0) && rest > T(0))) {
      share = at.reach_a * both;
      rest = at.reach_b * both;
    }
  }
  return overlap::close;
}

template <typename T>
[[nodiscard]] QUADRAT_HD overlap find_overlap(const body_pair<T>& bodies, vec<T, 3>& direction) {
  const vec<T, 3>& offset = bodies.offset;
  const T size = std::fmax(std::fabs(offset[0]), std::fmax(std::fabs(offset[1]), std::fabs(offset[2])));
  if (!(size > T(0))) {
    direction = {T(1), T(0), T(0)};
    return overlap::certain;
  }
  // Exact divisions: bodies that just touch on a common axis are not in contact.
  const vec<T, 3> toward{offset[0] / size, offset[1] / size, offset[2] / size};
  const vec<T, 3> scaled_a = by_component(bodies.half_axes, toward), scaled_b = bodies.stretch * toward;
  const T reach_a = std::sqrt(inner(scaled_a, scaled_a)), reach_b = std::sqrt(inner(scaled_b, scaled_b));
  if (reach_a + reach_b <= inner(toward, offset)) return overlap::none;
  const T both = inverse(reach_a + reach_b);
  return seek_proof(bodies, toward, size, reach_a * both, reach_b * both, direction);
}

/// A step in two variables, its squared length (approximately), and the change of the function that it predicts, to a
/// factor of 2.
template <typename T>
struct tangent_step {
  T u, v;
  T square;
  T promise;
};

/// A quadratic model of a function of two variables.
template <typename T>
struct quadratic {
  T slope_u, slope_v;
  T uu, uv, vv;

  /// The step to the minimum, or a descent step if there is none; of length 1/2 at most, about. `scale` is the size of
  /// the function.
  [[nodiscard]] QUADRAT_HD tangent_step<T> step(T scale) const {
    constexpr T rounding = T(32) * rounding_unit<T>;
    const T trace = uu + vv, determinant = fused(uu, vv, -(uv * uv));
    if (!(trace > T(0)) || determinant <= rounding * trace * (trace + scale)) return step_off_saddle(scale);
    const T over = inverse(determinant);
    T u = fused(uv, slope_v, -(vv * slope_u)) * over;
    T v = fused(uv, slope_u, -(uu * slope_v)) * over;
    T square = fused(u, u, v * v);
    if (square > T(0.25)) {
      const T factor = T(0.5) * inverse_root(square);
      u *= factor;
      v *= factor;
      square = T(0.25);
    }
    return {u, v, square, fused(slope_u, u, slope_v * v)};
  }

  /// Descends along both eigenvectors of the Hessian, by a minimum length where the curvature is negative.
  [[nodiscard]] QUADRAT_HD tangent_step<T> step_off_saddle(T scale) const {
    const T mean = T(0.5) * (uu + vv), half = T(0.5) * (uu - vv);
    const T spread = std::sqrt(fused(half, half, uv * uv));
    const T low = mean - spread, high = mean + spread;
    const T floor = T(32) * rounding_unit<T> * (std::fabs(low) + std::fabs(high) + scale);
    // The eigenvector of the lower curvature.
    T x = half > T(0) ? -uv : (spread > T(0) ? spread - half : T(1));
    T y = half > T(0) ? half + spread : -uv;
    const T over = inverse_root(fused(x, x, y * y));
    x *= over;
    y *= over;
    const T slope_low = fused(slope_u, x, slope_v * y), slope_high = fused(slope_v, x, -(slope_u * y));
    const T least = low < -floor ? T(0.1) : T(0);
    const T size = std::fmin(T(0.5), std::fmax(least, std::fabs(slope_low) / std::fmax(std::fabs(low), floor)));
    const T along = std::copysign(size, -slope_low);
    const T wanted = -slope_high / std::fmax(std::fabs(high), floor);
    const T across = std::fmax(T(-0.5), std::fmin(T(0.5), wanted));
    const T promise = fused(slope_low, along, fused(slope_high, across, T(0.5) * along * along * std::fmin(low, T(0))));
    return {fused(along, x, -(across * y)), fused(along, y, across * x), fused(size, size, across * across), promise};
  }
};

/// f around n in the tangents u and v: gradient and Riemannian Hessian on the unit sphere. The Hessian of h is the
/// tensor of the radii of curvature of the surface.
template <typename T>
[[nodiscard]] QUADRAT_HD quadratic<T> expand(const body_pair<T>& bodies, const supports<T>& at, const vec<T, 3>& u,
                                             const vec<T, 3>& v) {
  const vec<T, 3> point_a = at.point_a(bodies), point_b = at.point_b(bodies);
  const vec<T, 3> a_u = by_component(bodies.half_axes, u), a_v = by_component(bodies.half_axes, v);
  const vec<T, 3> b_u = bodies.stretch * u, b_v = bodies.stretch * v;
  const T over_a = at.inverse_reach_a, over_b = at.inverse_reach_b;
  const T au = inner(point_a, u), av = inner(point_a, v), bu = inner(point_b, u), bv = inner(point_b, v);
  const T a_uu = fused(-au, au, inner(a_u, a_u)), a_uv = fused(-au, av, inner(a_u, a_v));
  const T a_vv = fused(-av, av, inner(a_v, a_v));
  const T b_uu = fused(-bu, bu, inner(b_u, b_u)), b_uv = fused(-bu, bv, inner(b_u, b_v));
  const T b_vv = fused(-bv, bv, inner(b_v, b_v));
  return {(au - inner(bodies.offset, u)) + bu, (av - inner(bodies.offset, v)) + bv,
          fused(a_uu, over_a, fused(b_uu, over_b, -at.depth)), fused(a_uv, over_a, b_uv * over_b),
          fused(a_vv, over_a, fused(b_vv, over_b, -at.depth))};
}

template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> unit(const vec<T, 3>& v) {
  return v * inverse_root(inner(v, v));
}

/// Newton's method on the unit sphere for a local minimum of f, starting at `direction`; steps that achieve less than a
/// tenth of the predicted decrease are shortened. Returns false at a direction with f <= 0. `direction` becomes the
/// normal.
template <typename T>
[[nodiscard]] QUADRAT_HD bool descend(const body_pair<T>& bodies, vec<T, 3>& direction) {
  constexpr T rounding = rounding_unit<T>;
  // Convergence is quadratic: a last step of this size leaves about its square, relative to the angle over which
  // curvature changes.
  const T tolerance = (sizeof(T) == 4 ? T(1e-3) : T(1e-7)) * bodies.flatness;
  direction = unit(direction);
  vec<T, 3> from = direction, change{};
  T lowest = largest_number<T>, promise = T(0), square = T(1), part = T(1);
  for (int evaluation = 0; evaluation < 40; ++evaluation) {
    const supports<T> at(bodies, direction);
    if (at.depth <= T(0)) return false;
    const T gained = at.depth - lowest;
    if (gained <= fused(T(0.1) * part, promise, T(32) * rounding * bodies.longest)) {
      vec<T, 3> u{}, v{};
      make_tangents(direction, u, v);
      const tangent_step<T> step = expand(bodies, at, u, v).step(at.reach);
      change = fused(u, step.u, v * step.v);
      square = step.square;
      promise = step.promise;
      part = T(1);
      from = direction;
      lowest = at.depth;
    } else {
      const T promised = promise * part;
      part *= std::fmax(T(0.1), T(0.5) * promised / fused(promise, part, -gained));  // the minimum of a parabola
    }
    direction = unit(fused(change, part, from));
    if (part * part * square <= tolerance * tolerance || -promise * part <= T(0.0625) * rounding * at.reach) break;
  }
  return true;
}

}  // namespace quadrat::ellipsoids
