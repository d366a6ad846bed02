// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "quadrat/io/png.hpp"

namespace quadrat::io {

/// Points (x, y) of a plot that belong together.
struct plot_series {
  std::string label;                   ///< in the legend; empty: none
  std::vector<vec<double, 2>> points;  ///< up to 1e300; what is not finite is left out, and breaks a line
  bool joined = false;                 ///< by a line, in the order given; otherwise each is a dot
};

struct plot_options {
  std::size_t width = 1600;  ///< pixels
  std::size_t height = 1000;
  std::string title;
  std::string subtitle;
  std::string x_label;  ///< below the axis
  std::string y_label;  ///< above the axis
};

/// Draws the series over each other, the first at the bottom, in axes that hold all of their points, and 0 of y. Throws
/// argument_error for a picture of less than 64 x 64 pixels. The same input gives the same pixels.
[[nodiscard]] image draw_plot(std::span<const plot_series> series, const plot_options& options);

}  // namespace quadrat::io
