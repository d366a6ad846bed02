// SPDX-License-Identifier: BSD-3-Clause
#include "io/picture/splats.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>

namespace quadrat::io {
namespace {

struct pixel_range {
  std::size_t first, end;
};

/// The pixels whose centers lie within `reach` of `middle`, clipped to [low, high).
pixel_range covered(float middle, float reach, std::size_t low, std::size_t high) {
  const auto limit = static_cast<float>(high);
  const float first = std::clamp(std::ceil(middle - reach - 0.5f), static_cast<float>(low), limit);
  const float end = std::clamp(std::floor(middle + reach - 0.5f) + 1, first, limit);
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(end)};
}

}  // namespace

void depth_buffer::splat(const camera& view, std::span<const vec3> centers, std::span<const float> radii) {
  // Each thread has its own rows and draws all spheres there: no two threads write the same pixel, and the picture does
  // not depend on the number of threads.
#pragma omp parallel
  {
    const auto threads = static_cast<std::size_t>(omp_get_num_threads());
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const rows band{height_ * thread / threads, height_ * (thread + 1) / threads};
    for (std::size_t i = 0; i < centers.size(); ++i) {
      splat_one(view, centers[i], radii[i], static_cast<std::uint32_t>(i), band);
    }
  }
}

void depth_buffer::splat_one(const camera& view, const vec3& center, float radius, std::uint32_t number,
                             const rows& band) {
  const float nearest = view.perspective ? center[2] - radius : 1;
  if (!(nearest > 0)) return;  // at the eye or behind it, or not a number
  const vec3 middle = view.to_pixel(center);
  // The outline of a sphere in perspective is an ellipse, longer by at most 1 / cos^2 of the angle to the axis. A grain
  // smaller than a pixel still marks the pixel it falls into.
  const float drawn_radius = std::max(radius, 0.75f / view.scale_at(center[2]));
  const float reach = std::max((view.perspective ? 1.25f : 1.0f) * radius * view.scale_at(nearest), 0.5f);
  const pixel_range ys = covered(middle[1], reach, band.first, band.end);
  if (ys.first == ys.end) return;
  const pixel_range xs = covered(middle[0], reach, 0, width_);
  const float front = center[2] - drawn_radius;
  for (std::size_t y = ys.first; y < ys.end; ++y) {
    for (std::size_t x = xs.first; x < xs.end; ++x) {
      float& known = depth_[y * width_ + x];
      if (front >= known) continue;
      // From the ray's closest point to the center back to the surface: computed in this order, it stays accurate for
      // spheres that are small compared with their distance.
      const camera::ray ray = view.through(static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f);
      const vec3 towards = center - ray.origin;
      const float length2 = squared_norm(ray.direction);
      const float foot = dot(ray.direction, towards) / length2;
      const float inside = drawn_radius * drawn_radius - squared_norm(towards - ray.direction * foot);
      if (inside < 0) continue;
      const float depth = foot - std::sqrt(inside / length2);
      if (depth >= known) continue;
      known = depth;
      sphere_[y * width_ + x] = number;
    }
  }
}

}  // namespace quadrat::io
