// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "io/picture/camera.hpp"
#include "io/picture/canvas.hpp"
#include "io/picture/splats.hpp"

namespace quadrat::io {

/// Samples per pixel along each axis: a pixel is the average of samples x samples.
inline constexpr std::size_t samples = 2;

/// The spheres of a picture and their paint.
struct sphere_list {
  std::vector<vec3> center;  ///< in scene coordinates
  std::vector<float> radius;
  std::vector<color> paint;
};

/// The ground below the box, an endless plane that fades into the background.
struct ground {
  vec3 point;   ///< the middle of the box's lower face
  vec3 normal;  ///< upwards
  float fade;   ///< distance at which it reaches the background color
};

/// Renders spheres on the ground, with a key light and its shadows, sky light and darkened crevices. The returned depth
/// buffer has samples x samples elements per pixel.
struct rendering {
  canvas picture;
  depth_buffer depth;
};
[[nodiscard]] rendering render(const camera& view, std::size_t width, std::size_t height, const sphere_list& spheres,
                               const ground& floor, float grain_radius);

/// Draws a line from a to b (scene coordinates) where nothing is in front of it.
void draw_edge(rendering& target, const camera& view, vec3 a, vec3 b, float thickness, const color& paint,
               float strength);

/// The background at a height in the picture, from 0 at the top to 1 at the bottom.
[[nodiscard]] color background(float height);

}  // namespace quadrat::io
