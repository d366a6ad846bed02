// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "quadrat/contacts/shapes.hpp"
#include "reference/ellipsoids.hpp"
#include "support/random.hpp"

namespace quadrat::test {

/// Two ellipsoids (or an ellipsoid and a sphere, for every fourth pair), one at `offset` from the other.
template <typename T>
struct ellipsoid_case {
  body<T> a, b;
  vec<T, 3> offset;
};

/// `nearest` and `farthest`: distances of the centers, relative to that at which a plane across the center line
/// separates the bodies.
struct ellipsoid_mix {
  double aspect, size_ratio;
  double nearest, farthest;
};

inline double random_normal(std::mt19937_64& generator) {
  const double u = 1 - random_unit<double>(generator), v = random_unit<double>(generator);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

template <typename T>
[[nodiscard]] body<T> random_ellipsoid(std::mt19937_64& generator, double aspect, double scale) {
  body<T> result{body_shape::ellipsoid, {}, {}, quaternion<T>::identity()};
  for (int axis = 0; axis < 3; ++axis) {
    result.size[axis] = static_cast<T>(scale * std::pow(aspect, random_unit<double>(generator)));
  }
  const auto component = [&] { return static_cast<T>(random_normal(generator)); };
  const T w = component(), x = component(), y = component(), z = component();
  result.orientation = normalized(quaternion<T>{w, x, y, z});
  return result;
}

template <typename T>
[[nodiscard]] std::vector<ellipsoid_case<T>> random_ellipsoids(const ellipsoid_mix& mix, std::size_t count,
                                                               std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<ellipsoid_case<T>> cases(count);
  for (std::size_t k = 0; k < count; ++k) {
    ellipsoid_case<T>& c = cases[k];
    c.a = random_ellipsoid<T>(generator, mix.aspect, 1);
    c.b = random_ellipsoid<T>(generator, mix.aspect, std::pow(mix.size_ratio, random_unit<double>(generator)));
    if (k % 4 == 1) c.a.shape = body_shape::sphere;
    if (k % 8 == 2) c.b.shape = body_shape::sphere;
    const double x = random_normal(generator), y = random_normal(generator), z = random_normal(generator);
    const vec<double, 3> toward = vec<double, 3>{x, y, z} * (1 / std::hypot(x, y, z));
    const double apart = reference::solid(c.a).reach(toward) + reference::solid(c.b).reach(toward);
    const double share = mix.nearest + (mix.farthest - mix.nearest) * random_unit<double>(generator);
    c.offset = cast<T>(toward * (apart * share));
    if (k % 2 == 1) {  // the larger one comes first, too
      std::swap(c.a, c.b);
      c.offset = c.offset * T(-1);
    }
  }
  return cases;
}

}  // namespace quadrat::test
