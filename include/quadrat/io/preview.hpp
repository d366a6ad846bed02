// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/io/png.hpp"

namespace quadrat::io {

/// The fixed parts of a preview. Lengths in the units of the positions.
struct preview_stage {
  vec<double, 3> lower;  ///< of the box
  vec<double, 3> upper;
  double radius;                    ///< of every grain, or of a typical one
  vec<double, 3> down{{0, -1, 0}};  ///< the direction of gravity; rounded to the nearest axis
  struct sphere {
    vec<double, 3> center;
    double radius;
  };
  std::optional<sphere> collider{};
  std::vector<float> radii{};  ///< of each grain, where they differ
  struct line {
    vec<double, 3> from;
    vec<double, 3> to;
  };
  std::vector<line> lines{};  ///< drawn in addition to the edges of the box
};

struct preview_options {
  std::size_t width = 1600;  ///< pixels
  std::size_t height = 1000;
  double azimuth = 25;          ///< degrees about the vertical, from the front towards the right
  double elevation = 18;        ///< degrees above the horizon
  double zoom = 1;              ///< 1: the whole box just fits
  double top_value = 0;         ///< the value that has the last color; 0: from the data
  std::string scale = "speed";  ///< what the colors show
};

/// Draws the grains as shaded spheres in their box, colored by speed from 0 with matplotlib's viridis. The picture has
/// no lettering; its PNG texts "Color" and "Color top" say what the colors mean. `positions` and `velocities` are host
/// memory of equal length, as are radii (else argument_error). Grains at positions that are not finite are left out.
/// Uses OpenMP. The same input gives the same pixels.
template <typename T>
[[nodiscard]] image draw_preview(const preview_stage& stage, const points_view<T, 3>& positions,
                                 const points_view<T, 3>& velocities, const preview_options& options);

/// The same, colored by a non-negative value of each particle.
template <typename T>
[[nodiscard]] image draw_preview(const preview_stage& stage, const points_view<T, 3>& positions,
                                 std::span<const float> values, const preview_options& options);

}  // namespace quadrat::io
