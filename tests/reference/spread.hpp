// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

// Spreading, interpolation and its gradient, point by point in long double, over the mesh points of each footprint
// only, to keep the cost low. Positions and boxes are taken as exact.

namespace quadrat::reference {

/// The cardinal B-spline M_p at x, by its recursion; zero outside [0, p).
/// Source: particle-mesh-spreading, section 2 (Essmann et al. 1995).
[[nodiscard]] inline long double bspline(int order, long double x) {
  std::array<long double, 20> m{};  // M_1, M_2, ... in turn, at x, x - 1, x - 2, ...
  for (int k = 0; k < order; ++k) m.at(static_cast<std::size_t>(k)) = x >= k && x < k + 1 ? 1 : 0;
  for (int p = 2; p <= order; ++p) {
    for (std::size_t k = 0; k + static_cast<std::size_t>(p) <= static_cast<std::size_t>(order); ++k) {
      const long double y = x - static_cast<long double>(k);
      m[k] = (y * m[k] + (static_cast<long double>(p) - y) * m[k + 1]) / static_cast<long double>(p - 1);
    }
  }
  return m[0];
}

/// Its derivative; at a break of M_1 or of the slope of M_2, that of the piece above.
[[nodiscard]] inline long double bspline_slope(int order, long double x) {
  return order == 1 ? 0 : bspline(order - 1, x) - bspline(order - 1, x - 1);
}

/// Weights by the distance x = u - k of a particle from a mesh point, |x| <= width/2, and their derivatives by u.
struct spread_window {
  int width;
  std::function<long double(long double)> weight;
  std::function<long double(long double)> slope;
};

[[nodiscard]] inline spread_window bspline_window(int order) {
  const long double half = 0.5L * order;
  return {order, [=](long double x) { return bspline(order, x + half); },
          [=](long double x) { return bspline_slope(order, x + half); }};
}

/// A mesh in a box, and points. Meshes of fewer dimensions have their first axes; the others have one mesh point.
struct mesh_problem {
  int dimension;
  std::array<int, 3> extent{1, 1, 1};
  std::array<bool, 3> periodic{};
  std::array<long double, 3> lower{};
  std::array<long double, 3> length{};
  spread_window window;
  std::vector<std::array<long double, 3>> points;

  [[nodiscard]] std::size_t mesh_size() const {
    return static_cast<std::size_t>(extent[0]) * static_cast<std::size_t>(extent[1]) *
           static_cast<std::size_t>(extent[2]);
  }
  [[nodiscard]] long double mesh_units(int axis, long double x) const {
    const auto a = static_cast<std::size_t>(axis);
    return (x - lower[a]) * extent[a] / length[a];
  }
};

/// A mesh point of a footprint along one axis. The slope is per unit of length.
struct axis_node {
  std::size_t index;
  long double weight;
  long double slope;
};

/// The mesh points of [u - width/2, u + width/2), wrapped along a periodic axis; along an open one only those that
/// exist.
[[nodiscard]] inline std::vector<axis_node> nodes_along(const mesh_problem& it, int axis, long double x) {
  const auto a = static_cast<std::size_t>(axis);
  const int extent = it.extent[a];
  const long double u = it.mesh_units(axis, x);
  const auto first = static_cast<long long>(std::floor(u - 0.5L * it.window.width)) + 1;
  std::vector<axis_node> nodes;
  for (long long k = first; k < first + it.window.width; ++k) {
    if (!it.periodic[a] && (k < 0 || k >= extent)) continue;
    const long long home = (k % extent + extent) % extent;
    const auto distance = u - static_cast<long double>(k);
    nodes.push_back({static_cast<std::size_t>(home), it.window.weight(distance),
                     it.window.slope(distance) * extent / it.length[a]});
  }
  return nodes;
}

/// Calls f(mesh point, weight along x, along y, along z) for the footprint of a point.
template <typename F>
void for_each_node(const mesh_problem& it, const std::array<long double, 3>& point, F&& f) {
  std::array<std::vector<axis_node>, 3> along;
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    along[a] = axis < it.dimension ? nodes_along(it, axis, point[a]) : std::vector<axis_node>{{0, 1, 0}};
  }
  for (const axis_node& x : along[0]) {
    for (const axis_node& y : along[1]) {
      for (const axis_node& z : along[2]) {
        const std::size_t node =
            (x.index * static_cast<std::size_t>(it.extent[1]) + y.index) * static_cast<std::size_t>(it.extent[2]) +
            z.index;
        f(node, x, y, z);
      }
    }
  }
}

/// Sums, and the sums of the terms' absolute values: the scale of rounding errors.
struct weighted_sums {
  std::vector<long double> value;
  std::vector<long double> magnitude;

  explicit weighted_sums(std::size_t size) : value(size, 0.0L), magnitude(size, 0.0L) {}
  void add(std::size_t i, long double term) {
    value[i] += term;
    magnitude[i] += std::fabs(term);
  }
};

/// values[vector][point][component] onto mesh[vector][mesh point][component].
[[nodiscard]] inline weighted_sums spread(const mesh_problem& it, const std::vector<long double>& values,
                                          std::size_t vectors, std::size_t components) {
  const std::size_t count = it.points.size(), size = it.mesh_size();
  weighted_sums mesh(vectors * size * components);
  for (std::size_t i = 0; i < count; ++i) {
    for_each_node(it, it.points[i], [&](std::size_t node, const axis_node& x, const axis_node& y, const axis_node& z) {
      const long double weight = x.weight * y.weight * z.weight;
      for (std::size_t v = 0; v < vectors; ++v) {
        for (std::size_t c = 0; c < components; ++c) {
          mesh.add((v * size + node) * components + c, values[(v * count + i) * components + c] * weight);
        }
      }
    });
  }
  return mesh;
}

/// mesh[vector][mesh point][component] at the points: values[vector][point][component], and
/// gradients[vector][point][axis][component].
struct interpolated {
  weighted_sums values;
  weighted_sums gradients;
};

[[nodiscard]] inline interpolated interpolate(const mesh_problem& it, const std::vector<long double>& mesh,
                                              std::size_t vectors, std::size_t components) {
  const std::size_t count = it.points.size(), size = it.mesh_size(), axes = static_cast<std::size_t>(it.dimension);
  interpolated sums{weighted_sums(vectors * count * components), weighted_sums(vectors * count * axes * components)};
  for (std::size_t i = 0; i < count; ++i) {
    for_each_node(it, it.points[i], [&](std::size_t node, const axis_node& x, const axis_node& y, const axis_node& z) {
      const long double weight = x.weight * y.weight * z.weight;
      const std::array slope{x.slope * y.weight * z.weight, x.weight * y.slope * z.weight,
                             x.weight * y.weight * z.slope};
      for (std::size_t v = 0; v < vectors; ++v) {
        for (std::size_t c = 0; c < components; ++c) {
          const long double value = mesh[(v * size + node) * components + c];
          sums.values.add((v * count + i) * components + c, value * weight);
          for (std::size_t axis = 0; axis < axes; ++axis) {
            sums.gradients.add(((v * count + i) * axes + axis) * components + c, value * slope[axis]);
          }
        }
      }
    });
  }
  return sums;
}

}  // namespace quadrat::reference
