// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "io/picture/color.hpp"

namespace quadrat::io {

/// A picture in linear light, rows from the top. Coordinates are continuous: pixel (x, y) covers [x, x+1) x [y, y+1).
class canvas {
 public:
  canvas(std::size_t width, std::size_t height) : width_(width), height_(height), pixels_(width * height) {}

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t height() const { return height_; }
  [[nodiscard]] color& at(std::size_t x, std::size_t y) { return pixels_[y * width_ + x]; }
  [[nodiscard]] const color& at(std::size_t x, std::size_t y) const { return pixels_[y * width_ + x]; }

  /// Calls `body(x, y, coverage, t)` for every pixel touched by the line from a to b of that thickness, with round
  /// ends. `coverage`: how much of the pixel it covers. `t`: the pixel's position along the line (0 to 1).
  template <typename Body>
  void for_each_on_line(vec<float, 2> a, vec<float, 2> b, float thickness, Body&& body) const {
    const float margin = thickness / 2 + 1;
    const auto limit = [](float x, std::size_t size) {
      return static_cast<std::size_t>(std::clamp(x, 0.0f, static_cast<float>(size)));
    };
    const vec<float, 2> along = b - a;
    const float length2 = squared_norm(along);
    const std::size_t x_end = limit(std::max(a[0], b[0]) + margin + 1, width_);
    const std::size_t y_end = limit(std::max(a[1], b[1]) + margin + 1, height_);
    for (std::size_t y = limit(std::min(a[1], b[1]) - margin, height_); y < y_end; ++y) {
      for (std::size_t x = limit(std::min(a[0], b[0]) - margin, width_); x < x_end; ++x) {
        const vec<float, 2> p = vec<float, 2>{static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f} - a;
        const float t = length2 > 0 ? std::clamp(dot(p, along) / length2, 0.0f, 1.0f) : 0.0f;
        const float distance = std::sqrt(squared_norm(p - along * t));
        const float coverage = std::clamp(thickness / 2 + 0.5f - distance, 0.0f, std::min(1.0f, thickness));
        if (coverage > 0) body(x, y, coverage, t);
      }
    }
  }

 private:
  std::size_t width_, height_;
  std::vector<color> pixels_;
};

}  // namespace quadrat::io
