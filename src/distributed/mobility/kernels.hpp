// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "hydro/near_matrix.hpp"
#include "hydro/place.hpp"
#include "hydro/results.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/views.hpp"

/// The kernel bodies of distributed_mobility. In all arrays own spheres come first, then ghosts.
namespace quadrat::detail {

/// Finds the first point that is not finite or not in the block of this rank. The result is twice its index, plus 1 if
/// it is finite.
template <typename T>
struct misplaced_sphere {
  points_view<T, 3> points;
  const std::uint32_t* owners;
  std::uint32_t self;

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    const bool finite = is_finite(points[i]);
    return finite && owners[i] == self ? ~std::uint64_t{0} : 2 * static_cast<std::uint64_t>(i) + (finite ? 1 : 0);
  }
};

/// Index: own sphere.
template <typename T>
struct take_own_forces {
  const vec<T, 3>* forces;
  std::size_t count;
  sphere_vector<T>* vectors;
  T* by_axis;

  QUADRAT_HD void operator()(std::size_t i) const {
    const vec<T, 3> force = forces[i];
    vectors[i] = {force, T(0)};
    for (int axis = 0; axis < 3; ++axis) by_axis[static_cast<std::size_t>(axis) * count + i] = force[axis];
  }
};

/// Adds all parts of the velocity. Index: own sphere.
template <typename T>
struct deliver_own_velocities {
  near_rows<T> near;
  const sphere_vector<T>* forces;  ///< of own spheres and ghosts; nullptr: none
  T unit;                          ///< of the near part
  basis_sum<T> noise;
  const T* waves;  ///< three arrays, with all factors
  vec<T, 3>* velocities;

  QUADRAT_HD void operator()(std::size_t i) const {
    vec<T, 3> sum = noise.at(i);
    for (int axis = 0; axis < 3; ++axis) sum[axis] += waves[static_cast<std::size_t>(axis) * near.count + i];
    if (forces != nullptr) sum += unit * near.times(i, [&](std::size_t other) { return forces[other].value; });
    velocities[i] = sum;
  }
};

}  // namespace quadrat::detail
