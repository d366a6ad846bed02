// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "models/arithmetic.hpp"
#include "models/srd/setup.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// Whether a velocity is not finite, or moves a particle too far in one step.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD inline bool srd_too_fast(const srd_setup<T, D>& setup, const vec<T, D>& velocity) {
  bool fine = true;
  for (int axis = 0; axis < D; ++axis) {
    fine = fine && velocity[axis] >= -setup.fastest && velocity[axis] <= setup.fastest;
  }
  return !fine;
}

/// Wraps into [0, size) of a periodic axis.
template <typename T>
[[nodiscard]] QUADRAT_HD inline T srd_wrapped(T x, T size) {
  if (x >= T(0) && x < size) return x;
  const T wrapped = x - size * std::floor(x / size);
  return wrapped >= T(0) && wrapped < size ? wrapped : T(0);
}

/// The wall that a particle hits first.
template <typename T>
struct srd_hit {
  int axis;  ///< -1: none
  int side;
  T time;
};

/// The first wall hit within `time`. The velocity normal to a wall is taken at the middle of that time: exact for
/// forces along the walls, second order otherwise.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD inline srd_hit<T> srd_next_hit(const srd_setup<T, D>& setup, const vec<T, D>& x,
                                                        const vec<T, D>& v, T time) {
  srd_hit<T> hit{-1, 0, time};
  QUADRAT_UNROLL
  for (int axis = 0; axis < D; ++axis) {
    if (setup.periodic[axis]) continue;
    const T speed = v[axis] + setup.acceleration[axis] * time / 2;
    const T end = x[axis] + speed * time;
    const int side = end > setup.size[axis] ? 1 : 0;
    if (side == 0 && end >= T(0)) continue;
    const T at = ((side == 1 ? setup.size[axis] : T(0)) - x[axis]) / speed;
    if (hit.axis >= 0 && at >= hit.time) continue;
    hit = {axis, side, at < T(0) ? T(0) : (at > time ? time : at)};
  }
  return hit;
}

template <typename T, int D>
QUADRAT_HD inline void srd_fly(const srd_setup<T, D>& setup, vec<T, D>& x, vec<T, D>& v, T time) {
  QUADRAT_UNROLL
  for (int axis = 0; axis < D; ++axis) {
    const T gain = setup.acceleration[axis] * time;
    x[axis] = multiply_add(time, v[axis] + gain / 2, x[axis]);
    v[axis] += gain;
  }
}

/// One time step of a particle inside the box.
template <typename T, int D>
QUADRAT_HD inline void srd_stream(const srd_setup<T, D>& setup, vec<T, D>& x, vec<T, D>& v) {
  T left = setup.time_step;
  if (setup.walled) {
    constexpr int most_hits = 16;  // after these, the particle stops at the wall
    for (int hits = 0; hits < most_hits; ++hits) {
      const srd_hit<T> hit = srd_next_hit(setup, x, v, left);
      if (hit.axis < 0) break;
      srd_fly(setup, x, v, hit.time);
      left -= hit.time;
      QUADRAT_UNROLL
      for (int axis = 0; axis < D; ++axis) {
        v[axis] = T(2) * setup.wall_velocity[hit.axis][hit.side][axis] - v[axis];
        if (axis == hit.axis) x[axis] = hit.side == 1 ? setup.size[axis] : T(0);
      }
    }
  }
  srd_fly(setup, x, v, left);
  QUADRAT_UNROLL
  for (int axis = 0; axis < D; ++axis) {
    if (setup.periodic[axis]) {
      x[axis] = srd_wrapped(x[axis], setup.size[axis]);
    } else {
      // NaN becomes 0, because every particle needs a cell.
      x[axis] = x[axis] > T(0) ? (x[axis] < setup.size[axis] ? x[axis] : setup.size[axis]) : T(0);
    }
  }
}

}  // namespace quadrat::detail
