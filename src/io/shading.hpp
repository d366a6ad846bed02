// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "camera.hpp"
#include "canvas.hpp"
#include "splats.hpp"

namespace quadrat::io {

/// Picture elements per pixel and axis: what is drawn is averaged over samples x samples.
inline constexpr std::size_t samples = 2;

/// The spheres of a picture and their paint.
struct sphere_list {
  std::vector<vec3> center;  ///< in the space of the scene
  std::vector<float> radius;
  std::vector<color> paint;
};

/// The ground below the box, an endless plane that fades into the background.
struct ground {
  vec3 point;   ///< the middle of the box's lower face
  vec3 normal;  ///< upwards
  float fade;   ///< distance at which it has become background
};

/// Renders spheres that stand on the ground, with a key light and its shadows, sky light and darkened crevices.
/// The depth buffer that comes back has samples x samples elements a pixel.
struct rendering {
  canvas picture;
  depth_buffer depth;
};
[[nodiscard]] rendering render(const camera& view, std::size_t width, std::size_t height, const sphere_list& spheres,
                               const ground& floor, float grain_radius);

/// Draws a line of the scene (from a to b, in its space), where nothing stands before it.
void draw_edge(rendering& target, const camera& view, vec3 a, vec3 b, float thickness, const color& paint,
               float strength);

/// The background at a height of the picture, 0 at the top to 1 at the bottom.
[[nodiscard]] color background(float height);

}  // namespace quadrat::io
