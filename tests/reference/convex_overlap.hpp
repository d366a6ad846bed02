// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/vec.hpp"

// The distance of two convex bodies, or the shortest move that separates them: in double precision, slow, and
// independent of the narrow phase. A body is a core (point, segment, box, ellipsoid) with a radius around it.

namespace quadrat::reference {

using vector = vec<double, 3>;

[[nodiscard]] inline double length_of(const vector& v) { return std::sqrt(squared_norm(v)); }
[[nodiscard]] inline vector unit(const vector& v) { return v * (1 / length_of(v)); }

template <typename T>
[[nodiscard]] body<double> widened(const body<T>& b) {
  const quaternion<double> q{b.orientation.w, b.orientation.x, b.orientation.y, b.orientation.z};
  return {b.shape, cast<double>(b.center), cast<double>(b.size), normalized(q)};
}

[[nodiscard]] inline double radius_around_core(const body<double>& b) {
  return b.shape == body_shape::sphere || b.shape == body_shape::capsule ? b.size[0] : 0;
}

/// Half lengths of the core of a body along its axes.
[[nodiscard]] inline vector core_of(const body<double>& b) {
  if (b.shape == body_shape::sphere) return {0, 0, 0};
  if (b.shape == body_shape::capsule) return {0, 0, b.size[1]};
  return b.size;
}

/// The support function of a body along a unit vector, relative to its center.
[[nodiscard]] inline double reach(const body<double>& b, const vector& direction) {
  const vector local = axes_of(b.orientation).to_body(direction), core = core_of(b);
  const vector part{core[0] * local[0], core[1] * local[1], core[2] * local[2]};
  if (b.shape == body_shape::ellipsoid) return length_of(part);
  return std::fabs(part[0]) + std::fabs(part[1]) + std::fabs(part[2]) + radius_around_core(b);
}

/// How far b, at `offset` from a, must move along `normal` until a plane with this normal separates the bodies.
[[nodiscard]] inline double way_apart(const body<double>& a, const body<double>& b, const vector& offset,
                                      const vector& normal) {
  return reach(a, normal) + reach(b, normal) - dot(normal, offset);
}

/// The shortest way out found from `start` by smaller and smaller turns, each in many directions.
[[nodiscard]] inline double walk_downhill(const body<double>& a, const body<double>& b, const vector& offset,
                                          const vector& start, double first_turn) {
  double best = way_apart(a, b, offset, start);
  vector normal = start;
  for (double turn = first_turn; turn > 1e-6; turn *= 0.6) {
    for (bool better = true; better;) {
      better = false;
      vector u{}, v{};
      make_tangents(normal, u, v);
      for (int k = 0; k < 16 && !better; ++k) {
        const double angle = 0.39269908169872414 * k + turn;
        const vector tried = unit(normal + (u * std::cos(angle) + v * std::sin(angle)) * turn);
        const double way = way_apart(a, b, offset, tried);
        if (way > best - 1e-3 * turn * turn) continue;
        best = way;
        normal = tried;
        better = true;
      }
    }
  }
  return best;
}

/// The shortest way out of an overlap of cores: over directions on the whole sphere and those perpendicular to two
/// edges, with descent from the best if there is an ellipsoid.
[[nodiscard]] inline double shortest_way_out(const body<double>& a, const body<double>& b, const vector& offset) {
  std::vector<vector> tried;
  for (const body<double>* one : {&a, &b}) {
    const axes<double> frame = axes_of(one->orientation);
    for (const vector& axis : frame.axis) tried.push_back(axis);
  }
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const vector normal = cross(tried[i], tried[j]);
      if (length_of(normal) > 1e-9) tried.push_back(unit(normal));
    }
  }
  const bool smooth = a.shape == body_shape::ellipsoid || b.shape == body_shape::ellipsoid;
  for (int k = 0; smooth && k < 300; ++k) {
    const double z = (k + 0.5) / 300, angle = 2.399963229728653 * k, r = std::sqrt(1 - z * z);
    tried.push_back({r * std::cos(angle), r * std::sin(angle), z});
  }
  std::vector<std::pair<double, vector>> ways;
  for (const vector& normal : tried) {
    const vector facing = dot(normal, offset) < 0 ? normal * -1.0 : normal;
    ways.emplace_back(way_apart(a, b, offset, facing), facing);
  }
  const auto less = [](const auto& one, const auto& other) { return one.first < other.first; };
  std::partial_sort(ways.begin(), ways.begin() + 3, ways.end(), less);
  double best = ways.front().first;
  for (std::size_t k = 0; smooth && k < 3; ++k) {
    best = std::min(best, walk_downhill(a, b, offset, ways[k].second, 0.1));
  }
  return best;
}

/// The distance of the cores, minimized over points p and q, each given by three numbers within [-1, 1] or the unit
/// ball, by projected gradients with momentum (Beck and Teboulle 2009).
[[nodiscard]] inline double core_distance(const body<double>& a, const body<double>& b, const vector& offset) {
  const std::array<const body<double>*, 2> bodies{&a, &b};
  std::array<std::array<vector, 3>, 2> span{};
  std::array<vector, 2> step{};  // step size of each number, limited by its share of the curvature
  for (std::size_t i = 0; i < 2; ++i) {
    const axes<double> frame = axes_of(bodies[i]->orientation);
    const vector core = core_of(*bodies[i]);
    const double longest = std::max({core[0], core[1], core[2]});
    for (int k = 0; k < 3; ++k) {
      span[i][static_cast<std::size_t>(k)] = frame.axis[k] * core[k];
      const double length = bodies[i]->shape == body_shape::ellipsoid ? longest : core[k];
      step[i][k] = length > 0 ? 0.5 / (length * length) : 0;
    }
  }
  const auto point = [&](std::size_t i, const vector& x) {
    return span[i][0] * x[0] + span[i][1] * x[1] + span[i][2] * x[2];
  };
  const auto project = [&](std::size_t i, vector x) {
    if (bodies[i]->shape == body_shape::ellipsoid) return squared_norm(x) > 1 ? unit(x) : x;
    for (int k = 0; k < 3; ++k) x[k] = std::clamp(x[k], -1.0, 1.0);
    return x;
  };
  std::array<vector, 2> now{}, ahead{};
  double best = std::numeric_limits<double>::max(), momentum = 1;
  for (int round = 0; round < 1500; ++round) {
    const vector apart = point(0, ahead[0]) - point(1, ahead[1]) - offset;
    const double next_momentum = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
    std::array<vector, 2> next{};
    double climbed = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const double sign = i == 0 ? 1 : -1;
      vector change{};
      for (int k = 0; k < 3; ++k) change[k] = sign * dot(span[i][static_cast<std::size_t>(k)], apart) * step[i][k];
      next[i] = project(i, ahead[i] - change);
      climbed += dot(ahead[i] - next[i], next[i] - now[i]);
    }
    // Momentum that leads uphill is dropped (O'Donoghue and Candes 2015).
    const double carried = climbed > 0 ? 0 : (momentum - 1) / next_momentum;
    momentum = climbed > 0 ? 1 : next_momentum;
    for (std::size_t i = 0; i < 2; ++i) {
      ahead[i] = next[i] + (next[i] - now[i]) * carried;
      now[i] = next[i];
    }
    best = std::min(best, length_of(point(0, now[0]) - point(1, now[1]) - offset));
  }
  return best;
}

/// The depth of the overlap, negative for separate bodies.
[[nodiscard]] inline double overlap_depth(const body<double>& a, const body<double>& b, const vector& offset) {
  const double distance = core_distance(a, b, offset);
  const double scale = bounding_radius(a.shape, a.size) + bounding_radius(b.shape, b.size);
  if (distance > 1e-5 * scale) return radius_around_core(a) + radius_around_core(b) - distance;
  return shortest_way_out(a, b, offset);
}

/// The approximate distance of a point from the surface of a body around the origin.
[[nodiscard]] inline double off_surface(const body<double>& b, const vector& point) {
  const vector local = axes_of(b.orientation).to_body(point), core = core_of(b);
  if (b.shape == body_shape::ellipsoid) {
    const vector scaled{local[0] / core[0], local[1] / core[1], local[2] / core[2]};
    const vector slope{scaled[0] / core[0], scaled[1] / core[1], scaled[2] / core[2]};
    return std::fabs(squared_norm(scaled) - 1) / (2 * length_of(slope));
  }
  double deepest = -std::numeric_limits<double>::max();
  vector outside{};
  for (int k = 0; k < 3; ++k) {
    outside[k] = std::max(std::fabs(local[k]) - core[k], 0.0);
    deepest = std::max(deepest, std::fabs(local[k]) - core[k]);
  }
  if (b.shape != body_shape::box) return std::fabs(length_of(outside) - b.size[0]);
  return deepest > 0 ? length_of(outside) : -deepest;
}

}  // namespace quadrat::reference
