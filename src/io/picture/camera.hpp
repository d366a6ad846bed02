// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "io/picture/color.hpp"

namespace quadrat::io {

[[nodiscard]] inline vec3 cross(const vec3& a, const vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
[[nodiscard]] inline vec3 normalized(const vec3& a) { return a * (1 / std::sqrt(squared_norm(a))); }

/// A view of space: a right-handed frame of right, up and backward, and where it lands on the pixels. View coordinates
/// are (right, up, depth), depth growing away from the eye. Without perspective all rays are parallel.
struct camera {
  vec3 eye;
  vec3 right, up, forward;
  float scale;               ///< pixels per length at depth 1 (with perspective), or anywhere (without)
  float center_x, center_y;  ///< the pixel that looks straight ahead
  bool perspective;

  [[nodiscard]] vec3 turned(const vec3& direction) const {
    return {dot(direction, right), dot(direction, up), dot(direction, forward)};
  }
  [[nodiscard]] vec3 to_view(const vec3& point) const { return turned(point - eye); }

  /// Pixels per length at that depth.
  [[nodiscard]] float scale_at(float depth) const { return perspective ? scale / depth : scale; }

  /// Pixel coordinates of a point in view coordinates, and its depth.
  [[nodiscard]] vec3 to_pixel(const vec3& v) const {
    const float s = scale_at(v[2]);
    return {center_x + v[0] * s, center_y - v[1] * s, v[2]};
  }

  /// The ray through a pixel, in view coordinates: origin + depth * direction.
  struct ray {
    vec3 origin, direction;
    [[nodiscard]] vec3 at(float depth) const { return origin + direction * depth; }
  };
  [[nodiscard]] ray through(float x, float y) const {
    const float u = (x - center_x) / scale;
    const float v = (center_y - y) / scale;
    return perspective ? ray{{0, 0, 0}, {u, v, 1}} : ray{{u, v, 0}, {0, 0, 1}};
  }
};

/// A camera that looks along `forward`, upright with respect to `vertical`.
[[nodiscard]] inline camera oriented(const vec3& forward, const vec3& vertical, bool perspective) {
  camera result{};
  result.forward = normalized(forward);
  result.right = normalized(cross(result.forward, vertical));
  result.up = cross(result.right, result.forward);
  result.scale = 1;
  result.perspective = perspective;
  return result;
}

}  // namespace quadrat::io
