// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "quadrat/io/png.hpp"

namespace quadrat::io {

/// A series of points (x, y).
struct plot_series {
  std::string label;                   ///< in the legend; empty: none
  std::vector<vec<double, 2>> points;  ///< up to 1e300; non-finite points are left out and interrupt the line
  bool joined = false;                 ///< by a line, in the order given; otherwise dots
};

struct plot_options {
  std::size_t width = 1600;  ///< pixels
  std::size_t height = 1000;
  std::string title;
  std::string subtitle;
  std::string x_label;  ///< below the axis
  std::string y_label;  ///< above the axis
};

/// Draws the series on top of each other, the first at the bottom, in axes that contain all points and y = 0. Throws
/// argument_error for a picture of less than 64 x 64 pixels. The same input gives the same pixels.
[[nodiscard]] image draw_plot(std::span<const plot_series> series, const plot_options& options);

}  // namespace quadrat::io
