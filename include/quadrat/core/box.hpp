// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "quadrat/core/error.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat {

/// An orthorhombic box: [lower, lower + length) along a periodic axis, [lower, lower + length] along an open one.
/// All code that depends on the shape of a box goes through `fraction`, `wrap` and `separation`, so that a triclinic
/// box can provide the same three functions.
template <typename T, int D>
struct box {
  static_assert(detail::numbers_instance<T, D, 1>::exists);

  vec<T, D> lower;
  vec<T, D> length;
  vec<bool, D> periodic;

  [[nodiscard]] QUADRAT_HD T upper(int axis) const { return lower[axis] + length[axis]; }

  /// Position along an axis in units of the box, 0 at the lower face and 1 at the upper.
  [[nodiscard]] QUADRAT_HD T fraction(const vec<T, D>& point, int axis) const {
    return (point[axis] - lower[axis]) / length[axis];
  }

  /// The image of the point inside the box; open axes are left unchanged. The result is never equal to the upper face
  /// of a periodic axis, even when rounding would put it there. NaN and infinity give NaN.
  [[nodiscard]] QUADRAT_HD vec<T, D> wrap(vec<T, D> point) const {
    for (int axis = 0; axis < D; ++axis) {
      if (!periodic[axis]) continue;
      T offset = point[axis] - lower[axis];
      if (offset >= T(0) && offset < length[axis] && point[axis] < upper(axis)) continue;
      offset -= std::floor(offset / length[axis]) * length[axis];
      if (offset <= T(0)) offset = T(0);
      point[axis] = lower[axis] + offset;
      if (point[axis] >= upper(axis)) point[axis] = lower[axis];
    }
    return point;
  }

  /// The shortest vector from a to b over the periodic images. Both points must be inside the box.
  [[nodiscard]] QUADRAT_HD vec<T, D> separation(const vec<T, D>& a, const vec<T, D>& b) const {
    vec<T, D> d = b - a;
    for (int axis = 0; axis < D; ++axis) {
      if (!periodic[axis]) continue;
      const T half = length[axis] * T(0.5);
      if (d[axis] >= half) {
        d[axis] -= length[axis];
      } else if (d[axis] < -half) {
        d[axis] += length[axis];
      }
    }
    return d;
  }

  /// Whether the point lies in the box: on an open axis both faces count as inside; on a periodic axis every finite
  /// value does.
  [[nodiscard]] QUADRAT_HD bool contains(const vec<T, D>& point) const {
    for (int axis = 0; axis < D; ++axis) {
      const bool inside =
          periodic[axis] ? point[axis] - point[axis] == T(0) : point[axis] >= lower[axis] && point[axis] <= upper(axis);
      if (!inside) return false;
    }
    return true;
  }
};

/// A checked box. Throws argument_error when a length is not positive and finite or a bound is not finite. Where an
/// axis is open and lower + (upper - lower) rounds to less than `upper`, the length is rounded up, so that a point on
/// the given upper face lies in the box.
template <typename T, int D>
[[nodiscard]] box<T, D> make_box(const vec<T, D>& lower, const vec<T, D>& upper, const vec<bool, D>& periodic) {
  for (int axis = 0; axis < D; ++axis) {
    require(std::isfinite(lower[axis]) && std::isfinite(upper[axis]) && std::isfinite(upper[axis] - lower[axis]),
            "box bounds along axis ", axis, " are ", lower[axis], " and ", upper[axis], "; they must be finite");
    require(upper[axis] > lower[axis], "box length along axis ", axis, " is ", upper[axis] - lower[axis],
            "; it must be positive");
  }
  box<T, D> result{lower, upper - lower, periodic};
  for (int axis = 0; axis < D; ++axis) {
    while (!periodic[axis] && result.upper(axis) < upper[axis]) {
      result.length[axis] = std::nextafter(result.length[axis], std::numeric_limits<T>::infinity());
    }
  }
  return result;
}

/// A checked box with exactly these lengths: the upper faces are where lower + length rounds to. (make_box computes the
/// length from both faces, so it is only as accurate as they are.) Throws argument_error when a length is not positive
/// and finite, vanishes when added to the lower bound, or a bound is not finite.
template <typename T, int D>
[[nodiscard]] box<T, D> make_box_from_lengths(const vec<T, D>& lower, const vec<T, D>& length,
                                              const vec<bool, D>& periodic) {
  const box<T, D> result{lower, length, periodic};
  for (int axis = 0; axis < D; ++axis) {
    require(length[axis] > T(0) && std::isfinite(length[axis]), "box length along axis ", axis, " is ", length[axis],
            "; it must be positive and finite");
    require(std::isfinite(lower[axis]) && std::isfinite(result.upper(axis)), "box bounds along axis ", axis, " are ",
            lower[axis], " and ", result.upper(axis), "; they must be finite");
    require(result.upper(axis) > lower[axis], "box length along axis ", axis, " is ", length[axis],
            ", too short beside the lower bound ", lower[axis], ": their sum rounds to that bound");
  }
  return result;
}

}  // namespace quadrat
