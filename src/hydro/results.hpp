// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "hydro/lanczos.hpp"
#include "hydro/near_matrix.hpp"
#include "hydro/place.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Converts between the caller's order and that of slots.
namespace quadrat::detail {

/// Index: slot.
template <typename T>
struct gather_forces {
  const vec<T, 3>* forces;
  const particle_id* ids;  ///< nullptr: slots are in the caller's order; likewise below
  std::size_t count;
  sphere_vector<T>* by_slot;
  T* by_axis;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const vec<T, 3> force = forces[ids != nullptr ? ids[slot] : slot];
    by_slot[slot] = {force, T(0)};
    for (int axis = 0; axis < 3; ++axis) by_axis[static_cast<std::size_t>(axis) * count + slot] = force[axis];
  }
};

/// Index: slot.
template <typename T>
struct split_axes {
  const sphere_vector<T>* vector;
  std::size_t count;
  T* by_axis;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const vec<T, 3> value = vector[slot].value;
    for (int axis = 0; axis < 3; ++axis) by_axis[static_cast<std::size_t>(axis) * count + slot] = value[axis];
  }
};

/// A linear combination of basis vectors.
template <typename T>
struct basis_sum {
  static constexpr int most = 12;
  int count;
  const sphere_vector<T>* vector[most];
  T factor[most];

  [[nodiscard]] QUADRAT_HD vec<T, 3> at(std::size_t slot) const {
    vec<T, 3> sum{};
    for (int j = 0; j < count; ++j) sum += factor[j] * vector[j][slot].value;
    return sum;
  }
};

/// Index: slot.
template <typename T>
struct add_basis_sum {
  basis_sum<T> sum;
  std::size_t count;
  T* by_axis;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const vec<T, 3> value = sum.at(slot);
    for (int axis = 0; axis < 3; ++axis) by_axis[static_cast<std::size_t>(axis) * count + slot] += value[axis];
  }
};

/// Adds all parts and writes the caller's results. Index: slot.
template <typename T>
struct deliver_velocities {
  near_rows<T> near;
  const sphere_vector<T>* forces;  ///< nullptr: none
  T unit;                          ///< of the near part
  T* waves;                        ///< three arrays, with all factors
  const particle_id* ids;
  vec<T, 3>* velocities;
  basis_sum<T> noise{};

  QUADRAT_HD void operator()(std::size_t slot) const {
    vec<T, 3> sum = noise.at(slot);
    for (int axis = 0; axis < 3; ++axis) sum[axis] += waves[static_cast<std::size_t>(axis) * near.count + slot];
    if (forces != nullptr) {
      sum += unit * near.times(slot, [&](std::size_t other) { return forces[other].value; });
    }
    velocities[ids != nullptr ? ids[slot] : slot] = sum;
  }
};

/// All parts, with `amplitude` times the noise that was found in the basis. Asynchronous.
template <typename Context, typename T>
void deliver(const Context& context, const lanczos_basis<Context, T>& basis, const lanczos_result& found,
             double amplitude, deliver_velocities<T> parts) {
  constexpr int most = basis_sum<T>::most;
  const std::size_t count = parts.near.count;
  for (int first = 0;; first += most) {
    basis_sum<T>& sum = parts.noise;
    sum.count = std::min(most, found.iterations - first);
    const double* const coefficients = found.coefficients.data() + first;
    for (int j = 0; j < sum.count; ++j) {
      sum.vector[j] = basis.vector(first + j);
      sum.factor[j] = static_cast<T>(amplitude * coefficients[j] * basis.factor(first + j));
    }
    if (first + most >= found.iterations) break;
    for_each(context, "mobility.add_basis", count, add_basis_sum<T>{sum, count, parts.waves});
  }
  for_each(context, "mobility.deliver", count, parts);
}

}  // namespace quadrat::detail
