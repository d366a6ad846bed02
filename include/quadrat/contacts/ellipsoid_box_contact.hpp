// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/contacts/capsule_contacts.hpp"
#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// Contacts of ellipsoids with boxes and with capsules: one per pair, of feature 0.
///
/// A capsule is a box without width (its segment) with a radius. In the space where the ellipsoid is the unit ball, the
/// point of the box closest to the center shows whether they overlap, exactly up to rounding. The contact is a local
/// minimum of f(n) = h_a(n) + h_b(n) - n . offset over unit vectors n, where h(n) is the support function of a body:
/// normal n, depth f(n), point_a the point of a farthest along n. If the segment of a capsule is outside the ellipsoid
/// there is one minimum, radius minus distance, and they touch if f is positive. Descent starts from the best of a few
/// directions, including the normal in the scaled space, so that depth goes to 0 where an overlap ends.
///
/// Accuracy: the decision, the depth, the distance of the points from the surfaces, and point_a - point_b - depth *
/// normal are accurate to 3e-6 (float) and 1e-14 (double) of the sum of sizes, at aspect ratios of 1 to 100 and size
/// ratios of 1 to 1000. Whatever the sizes, moving b by the depth along the normal separates the bodies.
namespace quadrat {

/// An ellipsoid a, and a box b with rounded edges, in the frame of the box.
template <typename T>
struct ellipsoid_and_box {
  vec<T, 3> axis[3];    ///< of the ellipsoid, unit vectors
  vec<T, 3> half_axes;  ///< of the ellipsoid
  vec<T, 3> box;        ///< half edges; may be 0
  vec<T, 3> offset;     ///< from the ellipsoid to the box
  T radius;

  /// The frame of b must be that of its orientation.
  QUADRAT_HD ellipsoid_and_box(const body<T>& a, const body<T>& b, const axes<T>& frame, const vec<T, 3>& to_b)
      : half_axes(a.size), offset(frame.to_body(to_b)) {
    const axes<T> own = axes_of(a.orientation);
    for (int k = 0; k < 3; ++k) axis[k] = frame.to_body(own.axis[k]);
    const bool capsule = b.shape == body_shape::capsule;
    box = capsule ? vec<T, 3>{T(0), T(0), b.size[1]} : b.size;
    radius = capsule ? b.size[0] : T(0);
  }

  [[nodiscard]] QUADRAT_HD T scale() const {
    return half_axes[0] + half_axes[1] + half_axes[2] + box[0] + box[1] + box[2];
  }
};

/// The point of the box closest to the center of the ellipsoid, in the space where that is the unit ball.
template <typename T>
class closest_in_unit_ball {
 public:
  QUADRAT_HD explicit closest_in_unit_ball(const ellipsoid_and_box<T>& it) : it_(it) {
    for (int k = 0; k < 3; ++k) {
      edge_[k] = make_vec<T, 3>([&](int i) { return it.axis[i][k] / it.half_axes[i]; });
    }
    // If the center is outside, the closest point lies on one of the faces that it is outside
    // of.
    bool outside = false;
    for (int k = 0; k < 3; ++k) {
      if (!(std::fabs(it.offset[k]) > it.box[k])) continue;
      if (!outside) squared_ = largest_number<T>;
      outside = true;
      try_face(k, it.offset[k] - std::copysign(it.box[k], it.offset[k]));
    }
  }

  [[nodiscard]] QUADRAT_HD T squared_distance() const { return squared_; }
  /// Normal of the plane that touches the scaled box at that point, in the space of the bodies; of any length.
  [[nodiscard]] QUADRAT_HD vec<T, 3> normal() const {
    return make_vec<T, 3>([&](int k) { return dot(point_, edge_[k]); });
  }

 private:
  QUADRAT_HD void keep(const vec<T, 3>& point) {
    const T squared = squared_norm(point);
    if (!(squared < squared_)) return;
    squared_ = squared;
    point_ = point;
  }
  /// The closest place along an edge.
  QUADRAT_HD void try_edge(const vec<T, 3>& start, int k) {
    const T place = -dot(start, edge_[k]) / squared_norm(edge_[k]);
    keep(start + edge_[k] * within(place, k));
  }
  [[nodiscard]] QUADRAT_HD T within(T place, int k) const {
    return std::fmin(std::fmax(place, it_.offset[k] - it_.box[k]), it_.offset[k] + it_.box[k]);
  }
  /// The closest place on the face across axis k.
  QUADRAT_HD void try_face(int k, T height) {
    const int one = (k + 1) % 3, other = (k + 2) % 3;
    const vec<T, 3> start = edge_[k] * height, normal = cross(edge_[one], edge_[other]);
    const T squared = squared_norm(normal);
    const T first = -dot(cross(start, edge_[other]), normal) / squared;
    const T second = -dot(cross(edge_[one], start), normal) / squared;
    if (within(first, one) == first && within(second, other) == second) {
      keep(start + edge_[one] * first + edge_[other] * second);
      return;
    }
    for (int side = 0; side < 2; ++side) {
      const T sign = side == 0 ? T(-1) : T(1);
      try_edge(start + edge_[one] * (it_.offset[one] + sign * it_.box[one]), other);
      try_edge(start + edge_[other] * (it_.offset[other] + sign * it_.box[other]), one);
    }
  }

  const ellipsoid_and_box<T>& it_;
  vec<T, 3> edge_[3];
  vec<T, 3> point_{};
  T squared_ = T(0);
};

/// f and its derivatives at a unit vector. It omits the radius, which does not move the minima.
template <typename T>
struct reach_sum {
  vec<T, 3> normal;
  vec<T, 3> support{};   ///< the point of the ellipsoid farthest along the normal, from its center
  vec<T, 3> gradient{};  ///< along the sphere; the shortest of f's subgradients
  T value;

  QUADRAT_HD reach_sum(const ellipsoid_and_box<T>& it, const vec<T, 3>& direction) : normal(direction) {
    for (int k = 0; k < 3; ++k) {
      if (std::fabs(normal[k]) < T(16) * rounding_unit<T>) normal[k] = T(0);
    }
    for (int i = 0; i < 3; ++i) scaled_[i] = it.half_axes[i] * dot(it.axis[i], normal);
    reach_ = std::sqrt(squared_norm(scaled_));
    scaled_ = scaled_ * (T(1) / reach_);
    for (int i = 0; i < 3; ++i) support += it.axis[i] * (it.half_axes[i] * scaled_[i]);
    value = reach_ - dot(normal, it.offset);
    for (int k = 0; k < 3; ++k) {
      value += it.box[k] * std::fabs(normal[k]);
      const T gap = support[k] - it.offset[k];
      // f has a kink where a component is 0, and can have a minimum there.
      const T kink = std::copysign(std::fmax(std::fabs(gap) - it.box[k], T(0)), gap);
      gradient[k] = normal[k] != T(0) ? gap + std::copysign(it.box[k], normal[k]) : kink;
    }
    gradient -= normal * dot(gradient, normal);
  }

  /// Whether f is stationary at the kink of this component.
  [[nodiscard]] QUADRAT_HD bool rests(int k) const { return normal[k] == T(0) && gradient[k] == T(0); }

  /// The second derivative along the sphere, as a bilinear form of two tangents.
  [[nodiscard]] QUADRAT_HD T curvature(const ellipsoid_and_box<T>& it, const vec<T, 3>& u, const vec<T, 3>& v) const {
    const vec<T, 3> along_u = turned(it, u), along_v = turned(it, v);
    return dot(along_u, along_v) / reach_ - value * dot(u, v);
  }

 private:
  [[nodiscard]] QUADRAT_HD vec<T, 3> turned(const ellipsoid_and_box<T>& it, const vec<T, 3>& v) const {
    const vec<T, 3> whole = make_vec<T, 3>([&](int i) { return it.half_axes[i] * dot(it.axis[i], v); });
    return whole - scaled_ * dot(scaled_, whole);
  }
  vec<T, 3> scaled_{};
  T reach_;
};

/// Newton's method on the unit sphere, piecewise between kinks of f.
template <typename T>
class reach_descent {
 public:
  QUADRAT_HD explicit reach_descent(const ellipsoid_and_box<T>& it) : it_(it) {}

  /// A local minimum of f, no larger than f at `start`.
  [[nodiscard]] QUADRAT_HD reach_sum<T> from(const vec<T, 3>& start) const {
    reach_sum<T> at(it_, start);
    const T enough = T(8) * rounding_unit<T> * it_.scale();
    for (int step = 0; step < 32; ++step) {
      if (!(squared_norm(at.gradient) > enough * enough)) break;
      if (!advance(at)) break;
    }
    return at;
  }

 private:
  /// Descends, at most to the next kink; false if no step decreases f.
  [[nodiscard]] QUADRAT_HD bool advance(reach_sum<T>& at) const {
    const vec<T, 3> step = newton_step(at);
    T part = T(1);
    int kink = -1;
    for (int k = 0; k < 3; ++k) {
      const T until = -at.normal[k] / step[k];
      if (!(until > T(0) && until <= part)) continue;
      part = until;
      kink = k;
    }
    for (int trial = 0; trial < 8; ++trial) {
      vec<T, 3> next = at.normal + step * part;
      if (kink >= 0) next[kink] = T(0);
      const reach_sum<T> there(it_, next * (T(1) / std::sqrt(squared_norm(next))));
      // The last steps, and steps to a kink, decrease f by less than rounding.
      const bool level = there.value < at.value + T(4) * rounding_unit<T> * it_.scale();
      const bool flatter = squared_norm(there.gradient) < T(0.25) * squared_norm(at.gradient);
      if (there.value < at.value || (level && (kink >= 0 || flatter))) {
        at = there;
        return true;
      }
      kink = -1;
      part *= T(0.3);
    }
    return false;
  }

  [[nodiscard]] QUADRAT_HD vec<T, 3> newton_step(const reach_sum<T>& at) const {
    vec<T, 3> u{}, v{};
    make_tangents(at.normal, u, v);
    int resting = -1;
    for (int k = 0; k < 3; ++k) {
      if (at.rests(k)) resting = k;
    }
    if (resting >= 0) {
      vec<T, 3> kept{};
      kept[resting] = T(1);
      u = cross(kept, at.normal);
    }
    const T slope_u = dot(at.gradient, u), slope_v = resting >= 0 ? T(0) : dot(at.gradient, v);
    const T uu = at.curvature(it_, u, u), vv = resting >= 0 ? uu : at.curvature(it_, v, v);
    const T uv = resting >= 0 ? T(0) : at.curvature(it_, u, v);
    // Where f is not convex, shifts the Hessian to make the step a descent.
    const T half_trace = T(0.5) * (uu + vv), half_difference = T(0.5) * (uu - vv);
    const T spread = std::sqrt(half_difference * half_difference + uv * uv);
    const T least = T(1e-4) * (std::fabs(half_trace) + spread) + rounding_unit<T> * it_.scale();
    const T added = std::fmax(T(0), least - (half_trace - spread));
    const T a = uu + added, c = vv + added, determinant = a * c - uv * uv;
    const vec<T, 3> step = (u * (uv * slope_v - c * slope_u) + v * (uv * slope_u - a * slope_v)) * (T(1) / determinant);
    return bounded(at, keeps_sides(at, step) ? step : at.gradient * (T(-1) / (half_trace + spread + added)));
  }

  /// Whether every component that leaves its kink does so to the side where f decreases.
  [[nodiscard]] QUADRAT_HD bool keeps_sides(const reach_sum<T>& at, const vec<T, 3>& step) const {
    for (int k = 0; k < 3; ++k) {
      if (at.normal[k] == T(0) && step[k] * at.gradient[k] > T(0)) return false;
    }
    return true;
  }
  [[nodiscard]] QUADRAT_HD vec<T, 3> bounded(const reach_sum<T>& at, vec<T, 3> step) const {
    for (int k = 0; k < 3; ++k) {
      if (at.rests(k)) step[k] = T(0);
    }
    const T squared = squared_norm(step);
    return squared > T(0.5) ? step * (T(0.7) / std::sqrt(squared)) : step;
  }

  const ellipsoid_and_box<T>& it_;
};

/// The starting direction with the least f.
template <typename T>
class best_direction {
 public:
  QUADRAT_HD explicit best_direction(const ellipsoid_and_box<T>& it) : it_(it) {
    for (int k = 0; k < 3; ++k) {
      vec<T, 3> face{};
      face[k] = T(1);
      consider(face);
      consider(it.axis[k]);
    }
    consider(it.offset);
  }
  /// A direction of any length, or its opposite.
  QUADRAT_HD void consider(const vec<T, 3>& direction) {
    const T largest = std::fmax(std::fabs(direction[0]), std::fmax(std::fabs(direction[1]), std::fabs(direction[2])));
    if (!(largest > T(0) && largest <= largest_number<T>)) return;
    const vec<T, 3> shrunk = direction * (T(1) / largest);
    const T sign = dot(shrunk, it_.offset) < T(0) ? T(-1) : T(1);
    const vec<T, 3> unit = shrunk * (sign / std::sqrt(squared_norm(shrunk)));
    const T value = reach_sum<T>(it_, unit).value;
    if (!(value < least_)) return;
    least_ = value;
    best_ = unit;
  }
  [[nodiscard]] QUADRAT_HD const vec<T, 3>& best() const { return best_; }

 private:
  const ellipsoid_and_box<T>& it_;
  vec<T, 3> best_{T(1), T(0), T(0)};
  T least_ = largest_number<T>;
};

/// Ellipsoid a, and a capsule or box b. Returns false and leaves `point` unchanged if they do not touch.
template <typename T>
[[nodiscard]] QUADRAT_HD bool ellipsoid_box_contact(const body<T>& a, const body<T>& b, const vec<T, 3>& offset,
                                                    contact_point<T>& point) {
  const axes<T> frame = axes_of(b.orientation);
  const ellipsoid_and_box<T> it(a, b, frame, offset);
  const closest_in_unit_ball<T> closest(it);
  const bool overlap = closest.squared_distance() < T(1);
  if (!overlap && b.shape == body_shape::box) return false;
  best_direction<T> start(it);
  start.consider(closest.normal());
  const reach_sum<T> found = reach_descent<T>(it).from(start.best());
  const T depth = found.value + it.radius;
  if (!overlap && !(depth > T(0))) return false;
  point.normal = frame.to_space(found.normal);
  point.depth = std::fmax(depth, least_depth<T>);
  point.point_a = frame.to_space(found.support);
  point.point_b = point.point_a - point.normal * point.depth;
  point.feature = 0;
  return true;
}

}  // namespace quadrat
