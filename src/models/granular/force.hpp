// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "models/arithmetic.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/models/granular.hpp"

/// The equations of the model, shared by all engines.
namespace quadrat::detail {

template <typename T>
[[nodiscard]] QUADRAT_HD inline T dot_product(const vec<T, 3>& a, const vec<T, 3>& b) {
  return multiply_add(a[2], b[2], multiply_add(a[1], b[1], a[0] * b[0]));
}

/// Step 3 of the model: the contribution of a sphere to the velocity of another.
template <typename T>
struct granular_law {
  static constexpr T smallest_normal = std::numeric_limits<T>::min();

  T diameter;  ///< contact distance of two grains
  T squared_diameter;
  T spring;
  T shear;
  T drag;  ///< damping + shear: the factor of the whole relative velocity
  T attraction;

  /// Whether two grains touch; `squared_distance` is squared_norm(x_j - x_i).
  [[nodiscard]] QUADRAT_HD bool touches(T squared_distance) const { return squared_distance < squared_diameter; }

  /// -k (reach - d) n + c u + s (u - (u.n) n) + a r, for r = x_j - x_i, d = |r| = sqrt(squared_distance), n = r / d,
  /// u = v_j - v_i. For coinciding centers (nearer than the root of the smallest normal number) n = 0.
  [[nodiscard]] QUADRAT_HD vec<T, 3> operator()(const vec<T, 3>& r, T squared_distance, const vec<T, 3>& u,
                                                T reach) const {
    const T inverse = squared_distance >= smallest_normal ? inverse_root(squared_distance) : T(0);
    const T distance = squared_distance * inverse;
    const T approach = dot_product(u, r) * inverse;
    const T push = multiply_add(-spring, reach - distance, -(shear * approach));
    const T along_r = multiply_add(push, inverse, attraction);
    vec<T, 3> force{};
    for (int axis = 0; axis < 3; ++axis) force[axis] = multiply_add(along_r, r[axis], drag * u[axis]);
    return force;
  }
};

/// The fixed sphere. Acts like a grain with contact distance `reach`; no effect if reach is 0.
template <typename T>
struct granular_obstacle {
  vec<T, 3> center;
  T reach;  ///< its radius + a grain's

  [[nodiscard]] QUADRAT_HD vec<T, 3> force(const granular_law<T>& law, const vec<T, 3>& position,
                                           const vec<T, 3>& velocity) const {
    const vec<T, 3> r = center - position;
    const T squared_distance = squared_norm(r);
    if (!(squared_distance < reach * reach)) return {};
    return law(r, squared_distance, vec<T, 3>{} - velocity, reach);
  }
};

/// Step 1 of the model: motion and walls.
template <typename T>
struct granular_motion {
  T time_step;
  T global_damping;
  T restitution;
  vec<T, 3> velocity_gain;  ///< gravity x time step
  vec<T, 3> lowest;         ///< of a center: a radius inside the box's faces
  vec<T, 3> highest;
  vec<T, 3> longest_move;  ///< within one step of a stable run: half the box, or two grains if more

  /// Moves a grain. Returns false if the move is not finite, or larger than any contact causes in a stable run: the
  /// grain then stays where it was, at rest, so that cell lists see neither NaN nor a crowd at a wall.
  [[nodiscard]] QUADRAT_HD bool operator()(vec<T, 3>& position, vec<T, 3>& velocity) const {
    bool sound = true;
    vec<T, 3> x{};
    vec<T, 3> v{};
    for (int axis = 0; axis < 3; ++axis) {
      v[axis] = (velocity[axis] + velocity_gain[axis]) * global_damping;
      x[axis] = multiply_add(v[axis], time_step, position[axis]);
      sound = sound && std::fabs(v[axis] * time_step) <= longest_move[axis];
      const T allowed = x[axis] > highest[axis] ? highest[axis] : (x[axis] < lowest[axis] ? lowest[axis] : x[axis]);
      if (x[axis] != allowed) v[axis] *= restitution;
      x[axis] = allowed;
    }
    velocity = sound ? v : vec<T, 3>{};
    position = sound ? x : position;
    return sound;
  }
};

}  // namespace quadrat::detail
