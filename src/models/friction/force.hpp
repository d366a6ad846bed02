// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

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

/// `stride`: between the layers of the contact.
template <typename T>
[[nodiscard]] granular_contact_memory<T> remembered(particle_id first, particle_id second,
                                                    const contact_memory<T>* memory, std::size_t stride,
                                                    std::size_t layers) {
  const vec<T, 3> rolling = layers > 1 ? memory[stride].displacement : vec<T, 3>{};
  return {first, second, memory->displacement, memory->scale, rolling};
}

/// What the law of several materials remembers of a contact besides: the displacement of rolling.
template <typename T>
struct full_contact_memory : contact_memory<T> {
  vec<T, 3> rolling;
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
  vec<T, 3> torque;      ///< of rolling and twisting resistance
  T energy;              ///< in the springs
};

/// The law of granular_friction.hpp with its constants for two materials.
template <typename T>
struct friction_law {
  bool hertz;
  bool attraction;
  bool rolling_spring;
  T normal_stiffness;      ///< S_n / scale
  T elastic_share;         ///< s
  T energy_share;          ///< energy of the normal spring / (S_n d^2)
  T tangential_stiffness;  ///< S_t / scale
  T normal_damping;        ///< g b_n
  T tangential_damping;    ///< g b sqrt(S_t / S_n)
  T friction;
  T rolling_friction;
  T rolling_damping;  ///< of the spring: 2 eta sqrt(7/2)
  T twisting_friction;
  T cohesion;  ///< attraction / (R* d)
  T time_step;
  T density_factor;  ///< mass / radius^3, of the first material

  /// The inverse effective mass of two spheres for a tangential force at the contact is (1 / m*) (1 + 5/2).
  static constexpr T tangential_lightness = T(3.5);
  /// Up to this many contacts of a grain, rolling resistance cannot reverse its rotation.
  static constexpr T most_rolling_contacts = T(16);

  [[nodiscard]] QUADRAT_HD T mass(T radius) const { return density_factor * radius * radius * radius; }
  [[nodiscard]] QUADRAT_HD T inverse_inertia(T radius) const { return T(2.5) / (mass(radius) * radius * radius); }

  /// Computes the forces, and updates the history to this step. A contact_memory leaves out what only
  /// full_contact_memory has: cohesion, twisting friction, and rolling springs.
  template <typename Memory>
  [[nodiscard]] QUADRAT_HD friction_push<T> operator()(const friction_contact<T>& at, Memory& memory) const {
    constexpr bool full = std::is_same_v<Memory, full_contact_memory<T>>;
    const T scale = hertz ? std::sqrt(at.radius * at.overlap) : T(1);
    const T stiffness = normal_stiffness * scale;
    const T root = std::sqrt(stiffness * at.mass);
    const T half_step = T(0.5) * time_step / at.mass;

    const T parting = dot(at.velocity, at.normal);
    const T damping = normal_damping * root;
    const T elastic = elastic_share * stiffness * at.overlap;
    T pressing = elastic - damping * parting;
    if constexpr (full) pressing += half_step * damping * cohesion * at.radius * at.overlap;
    T normal_force = pressing / (T(1) + half_step * damping);
    if (!attraction && normal_force < T(0)) normal_force = T(0);
    const T pressure = std::fabs(normal_force);

    const vec<T, 3> sliding = at.velocity - at.normal * parting;
    const T compressed = scale > memory.scale ? memory.scale / scale : T(1);
    vec<T, 3> displacement = turned(memory.displacement, compressed, at.normal) + sliding * time_step;
    const vec<T, 3> tangential =
        held_force({tangential_stiffness * scale, tangential_damping * root, tangential_lightness * half_step},
                   displacement, sliding, friction * pressure);
    T energy = energy_share * stiffness * at.overlap * at.overlap +
               T(0.5) * tangential_stiffness * scale * squared_norm(displacement);
    memory.displacement = displacement;
    memory.scale = scale;
    if constexpr (full) {
      const T pull = cohesion * at.radius * at.overlap;
      const vec<T, 3> torque = resisting_torque(at, memory, compressed, tangential_stiffness * scale, pressure);
      energy += T(0.5) * (tangential_stiffness * scale * squared_norm(memory.rolling) - pull * at.overlap);
      return {at.normal * (normal_force - pull) + tangential, tangential, torque, energy};
    } else {
      return {at.normal * normal_force + tangential, tangential,
              torque_against(at.spin, at, rolling_friction * pressure), energy};
    }
  }

 private:
  /// A spring beside a dashpot. `lag`: half a time step by the effective mass.
  struct spring_and_dashpot {
    T stiffness;
    T damping;
    T lag;
  };

  /// The stored displacement in the present tangential plane, shortened if the contact has been compressed further.
  [[nodiscard, gnu::always_inline]] QUADRAT_HD static vec<T, 3> turned(const vec<T, 3>& stored, T compressed,
                                                                       const vec<T, 3>& normal) {
    const T length = squared_norm(stored);
    if (!(length > T(0))) return {};
    const vec<T, 3> flat = stored - normal * dot(stored, normal);
    const T flat_length = squared_norm(flat);
    if (!(flat_length > T(0))) return {};
    return flat * (compressed * std::sqrt(length / flat_length));
  }

  /// The force of a spring and a dashpot with a slider; shortens the displacement if it slides.
  [[nodiscard, gnu::always_inline]] QUADRAT_HD static vec<T, 3> held_force(const spring_and_dashpot& of,
                                                                           vec<T, 3>& displacement,
                                                                           const vec<T, 3>& speed, T bound) {
    const T share = T(1) / (T(1) + of.lag * of.damping);
    const vec<T, 3> force = (displacement * of.stiffness + speed * of.damping) * -share;
    const T squared_force = squared_norm(force);
    if (!(squared_force > bound * bound)) return force;
    const T spring = of.stiffness * std::sqrt(squared_norm(displacement));
    if (spring > bound) displacement = displacement * (bound / spring);
    return force * (bound / std::sqrt(squared_force));
  }

  /// A constant torque: `bound` by R*, against a relative rotation.
  [[nodiscard]] QUADRAT_HD vec<T, 3> torque_against(const vec<T, 3>& rotation, const friction_contact<T>& at,
                                                    T bound) const {
    if (!(bound > T(0))) return {};
    const T speed = std::sqrt(squared_norm(rotation));
    if (!(speed > T(0))) return {};
    const T resistance = bound * at.radius;
    const T stopping = speed / (most_rolling_contacts * time_step * at.inverse_inertia);
    return rotation * (-(resistance < stopping ? resistance : stopping) / speed);
  }

  /// The torque of rolling and twisting; updates the displacement of rolling.
  [[nodiscard]] QUADRAT_HD vec<T, 3> resisting_torque(const friction_contact<T>& at, full_contact_memory<T>& memory,
                                                      T compressed, T stiffness, T pressure) const {
    const vec<T, 3> twist = at.normal * dot(at.spin, at.normal);
    const vec<T, 3> twisting = torque_against(twist, at, twisting_friction * pressure);
    if (!rolling_spring) return twisting + torque_against(at.spin, at, rolling_friction * pressure);
    const vec<T, 3> rolling = (at.spin - twist) * at.radius;
    memory.rolling = turned(memory.rolling, compressed, at.normal) + rolling * time_step;
    return twisting + spring_torque(at, memory.rolling, stiffness, rolling, pressure);
  }

  /// The torque of the rolling spring. Its effective mass is (1 / I_i + 1 / I_j)^-1 / R*^2 without a contact point
  /// that holds.
  [[nodiscard]] QUADRAT_HD vec<T, 3> spring_torque(const friction_contact<T>& at, vec<T, 3>& displacement, T stiffness,
                                                   const vec<T, 3>& rolling, T pressure) const {
    const T lightness = at.inverse_inertia * at.radius * at.radius;
    const spring_and_dashpot of{stiffness, rolling_damping * std::sqrt(stiffness / lightness),
                                T(0.5) * time_step * lightness};
    return held_force(of, displacement, rolling, rolling_friction * pressure) * at.radius;
  }
};

/// A wall in the precision of the run. Compilers inline what only one kernel calls; here both kinds of kernels do, and
/// for most pairs of a grain and a wall `overlap` is all there is to do.
template <typename T>
struct friction_wall {
  vec<T, 3> normal;  ///< a unit vector
  T offset;          ///< dot(normal, p) for points p of the wall
  vec<T, 3> center;  ///< of the opening
  T opening;         ///< radius of the opening; 0: a solid half-space

  /// The overlap of a sphere with the wall, at most 0 without contact; `direction` is from the wall to the sphere.
  [[nodiscard, gnu::always_inline]] QUADRAT_HD T overlap(const vec<T, 3>& position, T radius,
                                                         vec<T, 3>& direction) const {
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
