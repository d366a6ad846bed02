// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/parallel/atomic.hpp"

namespace quadrat {

/// A particle's share of a pair, or the sum over its pairs: the force on it, and half of the energy and of the virial
/// of each pair. Sums over all particles are the system's.
template <typename T, int D>
struct interaction {
  vec<T, D> force;
  T energy;
  T virial;  ///< of a pair: the scalar product of the vector from i to j and the force on j

  friend QUADRAT_HD constexpr interaction operator+(const interaction& a, const interaction& b) {
    return {a.force + b.force, a.energy + b.energy, a.virial + b.virial};
  }
  QUADRAT_HD constexpr interaction& operator+=(const interaction& b) { return *this = *this + b; }

  /// What the other particle of the pair gets: the opposite force (Newton's third law), and the same shares.
  friend QUADRAT_HD constexpr interaction reaction(const interaction& a) { return {-a.force, a.energy, a.virial}; }
};

/// From a pair's potential energy, and its derivative by the distance divided by the distance.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD constexpr interaction<T, D> make_interaction(const vec<T, D>& separation, T squared_distance,
                                                                      T energy, T slope) {
  return {separation * slope, energy / 2, -slope * squared_distance / 2};
}

namespace detail {

/// Numbers and vectors change their sign.
template <typename T>
  requires(std::is_arithmetic_v<T>)
[[nodiscard]] QUADRAT_HD constexpr T reaction(const T& a) {
  return static_cast<T>(T(0) - a);
}
template <typename T, int D>
[[nodiscard]] QUADRAT_HD constexpr vec<T, D> reaction(const vec<T, D>& a) {
  return -a;
}

template <typename T, int N>
QUADRAT_HD void atomic_accumulate(interaction<T, N>* target, const interaction<T, N>& value) {
  for (int axis = 0; axis < N; ++axis) atomic_add(target->force.component + axis, value.force[axis]);
  atomic_add(&target->energy, value.energy);
  atomic_add(&target->virial, value.virial);
}

}  // namespace detail

}  // namespace quadrat
