// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "quadrat/contacts/quaternion.hpp"
#include "quadrat/contacts/triangles.hpp"
#include "quadrat/core/vec.hpp"
#include "support/random.hpp"

namespace quadrat::test {

struct triangle_surface {
  std::vector<vec<double, 3>> vertices;
  std::vector<vec<std::uint32_t, 3>> triangles;

  [[nodiscard]] triangles_view view() const { return {vertices, triangles}; }
};

[[nodiscard]] inline vec<double, 3> random_place(std::mt19937_64& generator, double low, double high) {
  return make_vec<double, 3>([&](int) { return low + (high - low) * random_unit<double>(generator); });
}

/// The square from -half to half in the plane z = 0, cut into n x m rectangles of two triangles; `wave`: how far inner
/// vertices are moved in the plane, in rectangles.
[[nodiscard]] inline triangle_surface square_floor(double half, std::uint32_t n, std::uint32_t m, double wave = 0) {
  triangle_surface result;
  std::mt19937_64 generator(7);
  for (std::uint32_t i = 0; i <= n; ++i) {
    for (std::uint32_t j = 0; j <= m; ++j) {
      vec<double, 3> p{half * (2.0 * i / n - 1), half * (2.0 * j / m - 1), 0};
      const vec<double, 3> moved = random_place(generator, -wave, wave);
      if (i > 0 && i < n) p[0] += 2 * half / n * moved[0];
      if (j > 0 && j < m) p[1] += 2 * half / m * moved[1];
      result.vertices.push_back(p);
    }
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < m; ++j) {
      const std::uint32_t a = i * (m + 1) + j, b = a + m + 1;
      result.triangles.push_back({a, b, a + 1});
      result.triangles.push_back({b, b + 1, a + 1});
    }
  }
  return result;
}

/// A disc in the plane z = 0 around (0.1, -0.2): a fan of n triangles.
[[nodiscard]] inline triangle_surface fan_floor(double radius, std::uint32_t n) {
  triangle_surface result;
  result.vertices.push_back({0.1, -0.2, 0});
  for (std::uint32_t k = 0; k < n; ++k) {
    const double angle = 2 * std::numbers::pi * k / n;
    result.vertices.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
    result.triangles.push_back({0, 1 + k, 1 + (k + 1) % n});
  }
  return result;
}

/// A box from -half to half, its faces cut into 2 n^2 triangles each, with normals outward.
[[nodiscard]] inline triangle_surface closed_box(double half, std::uint32_t n) {
  triangle_surface result;
  const triangle_surface face = square_floor(half, n, n);
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-half, half}) {
      const auto base = static_cast<std::uint32_t>(result.vertices.size());
      for (const vec<double, 3>& p : face.vertices) {
        vec<double, 3> q{};
        q[axis] = side;
        q[(axis + 1) % 3] = p[0];
        q[(axis + 2) % 3] = p[1];
        result.vertices.push_back(q);
      }
      for (const vec<std::uint32_t, 3>& t : face.triangles) {
        const int second = side > 0 ? 1 : 2;
        result.triangles.push_back({base + t[0], base + t[second], base + t[3 - second]});
      }
    }
  }
  return result;
}

/// Triangles between random vertices in a cube, many sharing sides and corners with several others, some given twice.
[[nodiscard]] inline triangle_surface tangle(std::size_t vertices, std::size_t triangles, std::uint64_t seed) {
  triangle_surface result;
  std::mt19937_64 generator(seed);
  for (std::size_t k = 0; k < vertices; ++k) result.vertices.push_back(random_place(generator, -1, 1));
  while (result.triangles.size() < triangles) {
    const auto pick = [&] { return static_cast<std::uint32_t>(generator() % vertices); };
    const vec<std::uint32_t, 3> t{pick(), pick(), pick()};
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
    result.triangles.push_back(t);
    if (generator() % 16 == 0) result.triangles.push_back({t[1], t[0], t[2]});
  }
  return result;
}

/// Turned, then moved.
[[nodiscard]] inline triangle_surface placed(triangle_surface from, const quaternion<double>& turn,
                                             const vec<double, 3>& move) {
  const axes<double> frame = axes_of(normalized(turn));
  for (vec<double, 3>& p : from.vertices) p = frame.to_space(p) + move;
  return from;
}

}  // namespace quadrat::test
