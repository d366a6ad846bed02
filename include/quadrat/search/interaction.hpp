// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/parallel/atomic.hpp"

namespace quadrat {

/// D x D numbers, [D a + b] for the axes a and b, in the layout of the virials of Ewald sums, so that both can be added
/// number by number.
template <typename T, int D>
using virial_tensor = vec<T, D * D>;

/// A particle's share of a pair, or the sum over its pairs: the force on it, and half of the energy and of the virial
/// of each pair. Sums over all particles are the system's. `Virial`: T for the trace, which the pressure needs, or
/// virial_tensor<T, D> for the stress.
template <typename T, int D, typename Virial = T>
struct interaction {
  vec<T, D> force;
  T energy;
  /// Minus the derivative of the energy by a strain. Of a pair, the products of the components of the vector from i to
  /// j and of the force on j; its trace is their scalar product. The stress is minus this divided by the volume.
  Virial virial;

  friend QUADRAT_HD constexpr interaction operator+(const interaction& a, const interaction& b) {
    return {a.force + b.force, a.energy + b.energy, a.virial + b.virial};
  }
  /// In place: a sum over many pairs stays in registers.
  QUADRAT_HD constexpr interaction& operator+=(const interaction& b) {
    force += b.force;
    energy += b.energy;
    virial += b.virial;
    return *this;
  }

  /// The interaction of the other particle of the pair: the opposite force (Newton's third law), and the same shares.
  friend QUADRAT_HD constexpr interaction reaction(const interaction& a) { return {-a.force, a.energy, a.virial}; }
};

/// An interaction with all components of the virial.
template <typename T, int D>
using tensor_interaction = interaction<T, D, virial_tensor<T, D>>;

/// Makes an interaction from a pair's potential energy and its derivative by the distance, divided by the distance.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD constexpr interaction<T, D> make_interaction(const vec<T, D>& separation, T squared_distance,
                                                                      T energy, T slope) {
  return {separation * slope, energy / 2, -slope * squared_distance / 2};
}

/// The same with all components of the virial.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD constexpr tensor_interaction<T, D> make_tensor_interaction(const vec<T, D>& separation,
                                                                                    T energy, T slope) {
  tensor_interaction<T, D> result{separation * slope, energy / 2, {}};
  for (int a = 0; a < D; ++a) {
    for (int b = 0; b < D; ++b) result.virial[D * a + b] = -slope * separation[a] * separation[b] / 2;
  }
  return result;
}

namespace detail {

/// The reaction of numbers and vectors has the opposite sign.
template <typename T>
  requires(std::is_arithmetic_v<T>)
[[nodiscard]] QUADRAT_HD constexpr T reaction(const T& a) {
  return static_cast<T>(T(0) - a);
}
template <typename T, int D>
[[nodiscard]] QUADRAT_HD constexpr vec<T, D> reaction(const vec<T, D>& a) {
  return -a;
}

template <typename T, int N, typename Virial>
QUADRAT_HD void atomic_accumulate(interaction<T, N, Virial>* target, const interaction<T, N, Virial>& value) {
  for (int axis = 0; axis < N; ++axis) atomic_add(target->force.component + axis, value.force[axis]);
  atomic_add(&target->energy, value.energy);
  if constexpr (std::is_arithmetic_v<Virial>) {
    atomic_add(&target->virial, value.virial);
  } else {
    for (int k = 0; k < N * N; ++k) atomic_add(target->virial.component + k, value.virial[k]);
  }
}

}  // namespace detail

}  // namespace quadrat
