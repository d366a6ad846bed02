// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "io/picture/camera.hpp"

namespace quadrat::io {

inline constexpr std::uint32_t no_sphere = 0xffffffffu;

/// For each pixel the depth of the visible surface, and the number of its sphere.
class depth_buffer {
 public:
  depth_buffer(std::size_t width, std::size_t height)
      : width_(width),
        height_(height),
        depth_(width * height, std::numeric_limits<float>::infinity()),
        sphere_(width * height, no_sphere) {}

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t height() const { return height_; }
  [[nodiscard]] float depth(std::size_t x, std::size_t y) const { return depth_[y * width_ + x]; }
  [[nodiscard]] std::uint32_t sphere(std::size_t x, std::size_t y) const { return sphere_[y * width_ + x]; }

  /// Marks a visible surface that is not a sphere.
  void set_floor(std::size_t x, std::size_t y, float depth) {
    depth_[y * width_ + x] = depth;
    sphere_[y * width_ + x] = no_sphere;
  }

  /// Draws the spheres (centers in view coordinates) where they are nearer than what is already there.
  void splat(const camera& view, std::span<const vec3> centers, std::span<const float> radii);

 private:
  struct rows {
    std::size_t first, end;
  };
  void splat_one(const camera& view, const vec3& center, float radius, std::uint32_t number, const rows& band);

  std::size_t width_, height_;
  std::vector<float> depth_;
  std::vector<std::uint32_t> sphere_;
};

}  // namespace quadrat::io
