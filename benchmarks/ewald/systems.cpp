// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/systems.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "harness/points.hpp"

namespace quadrat::bench {

namespace {

[[nodiscard]] std::vector<std::uint32_t> random_order(std::size_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(71));
  return order;
}

/// A unit vector, uniform on the sphere.
[[nodiscard]] vec<double, 3> direction(std::uint64_t seed, std::uint64_t i) {
  const double z = 2 * random_unit(seed, 2 * i) - 1, angle = 2 * 3.14159265358979 * random_unit(seed, 2 * i + 1);
  const double across = std::sqrt(1 - z * z);
  return {across * std::cos(angle), across * std::sin(angle), z};
}

template <typename T>
[[nodiscard]] lattice<T, 3> cube_of(double edge) {
  vec<vec<T, 3>, 3> vectors{};
  for (int axis = 0; axis < 3; ++axis) vectors[axis][axis] = static_cast<T>(edge);
  return make_lattice<T, 3>({}, vectors, vec<bool, 3>::filled(true));
}

}  // namespace

template <typename T>
charges_of_systems<T> water_box(std::size_t molecules) {
  const double edge = std::cbrt(static_cast<double>(molecules) / 0.0334);
  const auto places = static_cast<std::size_t>(std::ceil(std::cbrt(static_cast<double>(molecules)) - 1e-9));
  const double apart = edge / static_cast<double>(places);
  const std::vector<std::uint32_t> order = random_order(3 * molecules);
  charges_of_systems<T> result;
  result.points.resize(3 * molecules);
  result.charges.resize(3 * molecules);
  result.cells = {cube_of<T>(edge)};
  for (std::size_t m = 0; m < molecules; ++m) {
    const std::size_t place[3] = {m / places / places, m / places % places, m % places};
    vec<double, 3> oxygen{};
    for (int axis = 0; axis < 3; ++axis) {
      const double shift = 0.3 * (random_unit(72, 3 * m + static_cast<std::size_t>(axis)) - 0.5);
      oxygen[axis] = apart * (static_cast<double>(place[axis]) + 0.5) + shift;
    }
    const vec<double, 3> axis = direction(73, m), other = direction(74, m);
    vec<double, 3> across = other - dot(other, axis) * axis;
    across /= norm(across);
    const vec<double, 3> atoms[3] = {oxygen, oxygen + 0.57735 * axis + 0.81650 * across,
                                     oxygen + 0.57735 * axis - 0.81650 * across};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t at = order[3 * m + k];
      result.points[at] = cast<T>(atoms[k]);
      result.charges[at] = static_cast<T>(k == 0 ? -0.82 : 0.41);
      result.pairs.push_back({order[3 * m + k], order[3 * m + (k + 1) % 3], 0});
    }
  }
  return result;
}

template <typename T>
charges_of_systems<T> jittered_lattice(std::size_t edge) {
  const double apart = std::cbrt(1 / 0.1002);
  const std::size_t count = edge * edge * edge;
  const std::vector<std::uint32_t> order = random_order(count);
  charges_of_systems<T> result;
  result.points.resize(count);
  result.charges.resize(count);
  result.cells = {cube_of<T>(apart * static_cast<double>(edge))};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place[3] = {i / edge / edge, i / edge % edge, i % edge};
    result.points[order[i]] = make_vec<T, 3>([&](int axis) {
      const double shift = 0.4 * (random_unit(78 + static_cast<unsigned>(axis), i) - 0.5);
      return static_cast<T>(apart * (static_cast<double>(place[axis]) + 0.5 + shift));
    });
    result.charges[order[i]] = (place[0] + place[1] + place[2]) % 2 == 0 ? T(1) : T(-1);
  }
  return result;
}

template <typename T>
charges_of_systems<T> random_boxes(std::size_t systems, std::size_t points) {
  const double edge = std::cbrt(static_cast<double>(points));
  const std::vector<std::uint32_t> order = random_order(systems * points);
  charges_of_systems<T> result;
  result.cells.assign(systems, cube_of<T>(edge));
  for (std::size_t i = 0; i < systems * points; ++i) {
    result.points.push_back(make_vec<T, 3>(
        [&](int axis) { return static_cast<T>(edge * random_unit(75 + static_cast<unsigned>(axis), i)); }));
    result.charges.push_back(order[i] % 2 == 0 ? T(1) : T(-1));
    if (systems > 1) result.system_of_point.push_back(static_cast<std::uint32_t>(order[i] / points));
  }
  return result;
}

template charges_of_systems<float> water_box(std::size_t);
template charges_of_systems<double> water_box(std::size_t);
template charges_of_systems<float> jittered_lattice(std::size_t);
template charges_of_systems<double> jittered_lattice(std::size_t);
template charges_of_systems<float> random_boxes(std::size_t, std::size_t);
template charges_of_systems<double> random_boxes(std::size_t, std::size_t);

}  // namespace quadrat::bench
