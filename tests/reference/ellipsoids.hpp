// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "quadrat/contacts/quaternion.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::reference {

using vector3 = vec<double, 3>;

/// An ellipsoid by its axes, in double precision.
struct solid {
  axes<double> frame;
  vector3 size;

  template <typename T>
  explicit solid(const body<T>& b)
      : frame(axes_of(
            normalized(quaternion<double>{b.orientation.w, b.orientation.x, b.orientation.y, b.orientation.z}))),
        size(b.shape == body_shape::sphere ? vector3::filled(b.size[0]) : cast<double>(b.size)) {}

  [[nodiscard]] double shortest() const { return std::min({size[0], size[1], size[2]}); }
  [[nodiscard]] double longest() const { return std::max({size[0], size[1], size[2]}); }

  [[nodiscard]] double reach(const vector3& n) const {
    const vector3 local = frame.to_body(n);
    return std::hypot(size[0] * local[0], size[1] * local[1], size[2] * local[2]);
  }
  /// The point of the surface with the outward normal n.
  [[nodiscard]] vector3 support(const vector3& n) const {
    vector3 local = frame.to_body(n);
    for (int axis = 0; axis < 3; ++axis) local[axis] *= size[axis] * size[axis];
    return frame.to_space(local) * (1 / reach(n));
  }
  /// Distance from the surface to first order, negative inside.
  [[nodiscard]] double distance(const vector3& point) const {
    const vector3 local = frame.to_body(point);
    double sum = 0, slope = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double scaled = local[axis] / size[axis];
      sum += scaled * scaled;
      slope += scaled * scaled / (size[axis] * size[axis]);
    }
    return (sum - 1) / (2 * std::sqrt(slope));
  }
};

/// How far b must be moved along n until a plane with this normal separates it from a.
[[nodiscard]] inline double separation_depth(const solid& a, const solid& b, const vector3& offset, const vector3& n) {
  return a.reach(n) + b.reach(n) - dot(n, offset);
}

/// (m_a (1 - l) + m_b l)^-1 offset by Cramer's rule, times l (1 - l) and the offset: F(l) of Perram and Wertheim.
[[nodiscard]] inline double contact_function(const solid& a, const solid& b, const vector3& offset, double l) {
  vector3 columns[3];
  for (int k = 0; k < 3; ++k) {
    vector3 e{};
    e[k] = 1;
    const auto times = [&](const solid& s) { return s.support(e) * s.reach(e); };
    columns[k] = times(a) * (1 - l) + times(b) * l;
  }
  const auto cross = [](const vector3& u, const vector3& v) {
    return vector3{u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  };
  const double determinant = dot(columns[0], cross(columns[1], columns[2]));
  const vector3 solution{dot(offset, cross(columns[1], columns[2])) / determinant,
                         dot(columns[0], cross(offset, columns[2])) / determinant,
                         dot(columns[0], cross(columns[1], offset)) / determinant};
  return l * (1 - l) * dot(solution, offset);
}

/// The maximum of the contact function, by golden section: below 1 if the bodies overlap. Its square root is the factor
/// by which both must be scaled to touch.
[[nodiscard]] inline double contact_value(const solid& a, const solid& b, const vector3& offset) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = 0, high = 1;
  double l_1 = high - golden * (high - low), l_2 = low + golden * (high - low);
  double f_1 = contact_function(a, b, offset, l_1), f_2 = contact_function(a, b, offset, l_2);
  for (int k = 0; k < 60; ++k) {
    if (f_1 > f_2) {
      high = l_2, l_2 = l_1, f_2 = f_1;
      l_1 = high - golden * (high - low), f_1 = contact_function(a, b, offset, l_1);
    } else {
      low = l_1, l_1 = l_2, f_1 = f_2;
      l_2 = low + golden * (high - low), f_2 = contact_function(a, b, offset, l_2);
    }
  }
  return std::max(f_1, f_2);
}

/// The least depth found by descending from n in steps of `reach` (radians), halved when no direction around leads
/// down.
[[nodiscard]] inline double walk_downhill(const solid& a, const solid& b, const vector3& offset, vector3 n,
                                          double reach) {
  double least = separation_depth(a, b, offset, n);
  while (reach > 1e-8) {
    const vector3 here = n;
    for (int k = 0; k < 3; ++k) {
      for (const double sign : {-1.0, 1.0}) {
        vector3 tried = here;
        tried[k] += sign * reach;
        tried = tried * (1 / std::sqrt(squared_norm(tried)));
        const double depth = separation_depth(a, b, offset, tried);
        if (depth < least) least = depth, n = tried;
      }
    }
    if (n == here) reach /= 2;
  }
  return least;
}

/// The least depth over all directions: the best of `count` on the sphere, then descent.
[[nodiscard]] inline double least_depth(const solid& a, const solid& b, const vector3& offset, std::size_t count) {
  double least = std::numeric_limits<double>::max();
  vector3 best{};
  for (std::size_t k = 0; k < count; ++k) {
    const double z = 1 - (2 * static_cast<double>(k) + 1) / static_cast<double>(count);
    const double angle = 2.399963229728653 * static_cast<double>(k), r = std::sqrt(1 - z * z);
    const vector3 n{r * std::cos(angle), r * std::sin(angle), z};
    const double depth = separation_depth(a, b, offset, n);
    if (depth < least) least = depth, best = n;
  }
  return walk_downhill(a, b, offset, best, 2 / std::sqrt(static_cast<double>(count)));
}

}  // namespace quadrat::reference
