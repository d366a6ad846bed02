// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "io/picture/canvas.hpp"
#include "quadrat/io/png.hpp"

/// Shared by pictures of particles and plots.
namespace quadrat::io {

inline const color ink = from_srgb(0.13f, 0.15f, 0.19f);
inline const color pale_ink = from_srgb(0.38f, 0.41f, 0.46f);

/// A number beside an axis whose largest is `top`.
[[nodiscard]] std::string tick_label(double value, double top);

void draw_line(canvas& picture, vec<float, 2> a, vec<float, 2> b, float thickness, const color& paint);

/// Draws both in the upper left corner. `unit` is the size of a pixel in a picture of 1600 x 1000.
void draw_titles(canvas& picture, const std::string& title, const std::string& subtitle, float unit);

[[nodiscard]] image to_image(const canvas& picture);

}  // namespace quadrat::io
