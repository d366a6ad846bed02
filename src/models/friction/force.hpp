// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/models/granular_friction.hpp"

/// The equations of grains with friction, for one contact.
namespace quadrat::detail {

/// The history of a contact. `scale` is 0 without history.
template <typename T>
struct alignas(4 * sizeof(T)) contact_memory {
  vec<T, 3> displacement;
  T scale;
};

/// A contact from the side of grain i.
template <typename T>
struct friction_contact {
  vec<T, 3> normal;  ///< toward i
  T overlap;
  T radius;            ///< R*
  T mass;              ///< m*
  T inverse_inertia;   ///< 1 / I_i + 1 / I_j
  vec<T, 3> velocity;  ///< of i relative to j, at the contact point
  vec<T, 3> spin;      ///< angular velocity of i relative to that of j
};

/// The effect of a contact on grain i.
template <typename T>
struct friction_push {
  vec<T, 3> force;       ///< in all
  vec<T, 3> tangential;  ///< tangential part, which also exerts a torque
  vec<T, 3> torque;      ///< of rolling resistance
  T energy;              ///< in the springs
};

/// The law of granular_friction.hpp with its constants.
template <typename T>
struct friction_law {
  bool hertz;
  bool attraction;
  T normal_stiffness;      ///< S_n / scale
  T elastic_share;         ///< s
  T energy_share;          ///< energy of the normal spring / (S_n d^2)
  T tangential_stiffness;  ///< S_t / scale
  T normal_damping;        ///< g b_n
  T tangential_damping;    ///< g b sqrt(S_t / S_n)
  T friction;
  T rolling_friction;
  T time_step;
  T density_factor;  ///< mass / radius^3

  /// The inverse effective mass of two spheres for a tangential force at the contact is (1 / m*) (1 + 5/2).
  static constexpr T tangential_lightness = T(3.5);
  /// Up to this many contacts of a grain, rolling resistance cannot reverse its rotation.
  static constexpr T most_rolling_contacts = T(16);

  [[nodiscard]] QUADRAT_HD T mass(T radius) const { return density_factor * radius * radius * radius; }
  [[nodiscard]] QUADRAT_HD T inverse_inertia(T radius) const { return T(2.5) / (mass(radius) * radius * radius); }

  /// Computes the forces, and updates the history to this step.
  [[nodiscard]] QUADRAT_HD friction_push<T> operator()(const friction_contact<T>& at, contact_memory<T>& memory) const {
    const T scale = hertz ? std::sqrt(at.radius * at.overlap) : T(1);
    const T stiffness = normal_stiffness * scale;
    const T root = std::sqrt(stiffness * at.mass);
    const T half_step = T(0.5) * time_step / at.mass;

    const T parting = dot(at.velocity, at.normal);
    const T damping = normal_damping * root;
    const T elastic = elastic_share * stiffness * at.overlap;
    T normal_force = (elastic - damping * parting) / (T(1) + half_step * damping);
    if (!attraction && normal_force < T(0)) normal_force = T(0);

    const vec<T, 3> sliding = at.velocity - at.normal * parting;
    vec<T, 3> displacement = turned(memory, scale, at.normal) + sliding * time_step;
    const vec<T, 3> tangential =
        tangential_force(displacement, sliding, scale, root, half_step, friction * std::fabs(normal_force));
    memory = {displacement, scale};
    const T energy = energy_share * stiffness * at.overlap * at.overlap +
                     T(0.5) * tangential_stiffness * scale * squared_norm(displacement);
    return {at.normal * normal_force + tangential, tangential, rolling_torque(at, std::fabs(normal_force)), energy};
  }

 private:
  /// The stored displacement in the present tangential plane, shortened if the contact has been compressed further.
  [[nodiscard]] QUADRAT_HD vec<T, 3> turned(const contact_memory<T>& memory, T scale, const vec<T, 3>& normal) const {
    const T length = squared_norm(memory.displacement);
    if (!(length > T(0))) return {};
    const vec<T, 3> flat = memory.displacement - normal * dot(memory.displacement, normal);
    const T flat_length = squared_norm(flat);
    if (!(flat_length > T(0))) return {};
    const T compressed = scale > memory.scale ? memory.scale / scale : T(1);
    return flat * (compressed * std::sqrt(length / flat_length));
  }

  /// The tangential force; shortens the displacement if the contact slides.
  [[nodiscard]] QUADRAT_HD vec<T, 3> tangential_force(vec<T, 3>& displacement, const vec<T, 3>& sliding, T scale,
                                                      T root, T half_step, T bound) const {
    const T stiffness = tangential_stiffness * scale;
    const T damping = tangential_damping * root;
    const T share = T(1) / (T(1) + tangential_lightness * half_step * damping);
    const vec<T, 3> force = (displacement * stiffness + sliding * damping) * -share;
    const T squared_force = squared_norm(force);
    if (!(squared_force > bound * bound)) return force;
    const T spring = stiffness * std::sqrt(squared_norm(displacement));
    if (spring > bound) displacement = displacement * (bound / spring);
    return force * (bound / std::sqrt(squared_force));
  }

  [[nodiscard]] QUADRAT_HD vec<T, 3> rolling_torque(const friction_contact<T>& at, T normal_force) const {
    if (!(rolling_friction > T(0))) return {};
    const T speed = std::sqrt(squared_norm(at.spin));
    if (!(speed > T(0))) return {};
    const T resistance = rolling_friction * normal_force * at.radius;
    const T stopping = speed / (most_rolling_contacts * time_step * at.inverse_inertia);
    return at.spin * (-(resistance < stopping ? resistance : stopping) / speed);
  }
};

/// A wall in the precision of the run.
template <typename T>
struct friction_wall {
  vec<T, 3> normal;  ///< a unit vector
  T offset;          ///< dot(normal, p) for points p of the wall
  vec<T, 3> center;  ///< of the opening
  T opening;         ///< radius of the opening; 0: a solid half-space

  /// The overlap of a sphere with the wall, at most 0 without contact; `direction` is from the wall to the sphere.
  [[nodiscard]] QUADRAT_HD T overlap(const vec<T, 3>& position, T radius, vec<T, 3>& direction) const {
    const T height = dot(normal, position) - offset;
    direction = normal;
    if (!(opening > T(0))) return radius - height;
    const vec<T, 3> along = position - normal * height - center;
    const T from_axis = std::sqrt(squared_norm(along));
    if (from_axis >= opening) {
      if (height < T(0)) direction = normal * T(-1);
      return radius - std::fabs(height);
    }
    if (!(from_axis > T(0))) return -radius;  // on the axis of an opening that the sphere fits through
    const vec<T, 3> from_rim = normal * height - along * ((opening - from_axis) / from_axis);
    const T distance = std::sqrt(squared_norm(from_rim));
    if (!(distance > T(0))) return radius;
    direction = from_rim * (T(1) / distance);
    return radius - distance;
  }
};

}  // namespace quadrat::detail
