// SPDX-License-Identifier: BSD-3-Clause
#include "io/picture/drawing.hpp"

#include <array>
#include <cstdio>

#include "io/picture/lettering.hpp"

namespace quadrat::io {

std::string tick_label(double value, double top) {
  std::array<char, 32> text{};
  const bool plain = value == 0 || (top >= 1e-3 && top < 1e4);
  std::snprintf(text.data(), text.size(), plain ? "%.4g" : "%.2g", value);
  return text.data();
}

void draw_line(canvas& picture, vec<float, 2> a, vec<float, 2> b, float thickness, const color& paint) {
  picture.for_each_on_line(a, b, thickness, [&](std::size_t x, std::size_t y, float covered, float) {
    picture.at(x, y) = mix(picture.at(x, y), paint, covered);
  });
}

void draw_titles(canvas& picture, const std::string& title, const std::string& subtitle, float unit) {
  draw_text(picture, title, 44 * unit, 62 * unit, {21 * unit, 0.125f, ink});
  draw_text(picture, subtitle, 44 * unit, 92 * unit, {11.5f * unit, 0.13f, pale_ink});
}

image to_image(const canvas& picture) {
  image result{picture.width(), picture.height(), {}};
  result.rgb.reserve(3 * picture.width() * picture.height());
  for (std::size_t y = 0; y < picture.height(); ++y) {
    for (std::size_t x = 0; x < picture.width(); ++x) {
      for (int channel = 0; channel < 3; ++channel) result.rgb.push_back(to_srgb8(picture.at(x, y)[channel]));
    }
  }
  return result;
}

}  // namespace quadrat::io
