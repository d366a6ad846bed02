// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "io/picture/canvas.hpp"

namespace quadrat::io {

/// How a text looks: the height of a capital letter in pixels, the thickness of the pen relative to it, and the ink.
struct lettering {
  float capital_height = 16;
  float pen = 0.13f;
  color ink{};
};

/// Length of the text in pixels.
[[nodiscard]] float text_width(std::string_view text, const lettering& style);

/// Writes printable ASCII and the middle dot (UTF-8) with a built-in single-line alphabet, smoothed; (x, y) is the left
/// end of the baseline. Other characters show as an empty box.
void draw_text(canvas& picture, std::string_view text, float x, float y, const lettering& style);

}  // namespace quadrat::io
