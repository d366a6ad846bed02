// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "io/picture/camera.hpp"
#include "io/picture/splats.hpp"

namespace quadrat::io {

struct sphere_list;

/// What a distant light sees of the spheres; whatever lies deeper is in shadow.
class shadow_map {
 public:
  /// `to_light`: direction in the coordinates of `view`, as are the points passed to `reaching`.
  shadow_map(const camera& view, const sphere_list& spheres, const vec3& to_light, float grain_radius);

  /// The share of the light that reaches the point, 0 to 1, softened at the edge of the shadow.
  [[nodiscard]] float reaching(const vec3& point) const;

 private:
  camera light_;
  float tolerance_;
  depth_buffer depth_;
};

/// Darkens what lies deeper than its surroundings in the picture, at two length scales: between grains, and behind
/// heaps. After Luft, Colditz, Deussen: Image enhancement by unsharp masking the depth buffer (2006).
class crevices {
 public:
  crevices(const depth_buffer& depth, const camera& view, const sphere_list& spheres);

  /// 1 in the open, toward 0 in a crevice, for a sphere at that element of the depth buffer and depth.
  [[nodiscard]] float open_sky(std::size_t x, std::size_t y, float depth) const;

 private:
  struct blurred {
    std::vector<float> depth;  ///< one value per pixel
    float length;              ///< depth difference that counts as dark
    float strength;
  };
  std::size_t width_;
  std::vector<blurred> layers_;
};

}  // namespace quadrat::io
