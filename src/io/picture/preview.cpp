// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/preview.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/number_text.hpp"
#include "io/picture/shading.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

const color ink = from_srgb(0.13f, 0.15f, 0.19f);

/// The axes of a stage in which `up` points against gravity.
struct orientation {
  int axis;  ///< the vertical one
  vec3 up, right, front;
};

orientation upright(const vec<double, 3>& down) {
  int axis = 1;
  for (int i = 0; i < 3; ++i) {
    if (std::abs(down[i]) > std::abs(down[axis])) axis = i;
  }
  const float sign = down[axis] > 0 ? -1.0f : 1.0f;
  orientation result{axis, {}, {}, {}};
  result.up[axis] = sign;
  result.front[(axis + 1) % 3] = 1;
  result.right[(axis + 2) % 3] = sign;
  return result;
}

vec3 corner_of(const preview_stage& stage, unsigned number) {
  return make_vec<float, 3>(
      [&](int axis) { return static_cast<float>((number >> axis & 1u) != 0 ? stage.upper[axis] : stage.lower[axis]); });
}

/// The part of the picture that the box fills, in pixels.
struct frame {
  float left, top, right, bottom;
};

/// The bounding rectangle of the box on the picture.
frame outline(const camera& view, const preview_stage& stage) {
  constexpr float far = std::numeric_limits<float>::max();
  frame result{far, far, -far, -far};
  for (unsigned i = 0; i < 8; ++i) {
    const vec3 pixel = view.to_pixel(view.to_view(corner_of(stage, i)));
    result = {std::min(result.left, pixel[0]), std::min(result.top, pixel[1]), std::max(result.right, pixel[0]),
              std::max(result.bottom, pixel[1])};
  }
  return result;
}

/// A camera at that azimuth and elevation, from which the box fills the frame.
camera placed(const preview_stage& stage, const orientation& axes, const preview_options& options, const frame& room) {
  const float azimuth = static_cast<float>(options.azimuth * std::numbers::pi / 180);
  const float elevation = static_cast<float>(options.elevation * std::numbers::pi / 180);
  const vec3 backward = axes.right * (std::sin(azimuth) * std::cos(elevation)) + axes.up * std::sin(elevation) +
                        axes.front * (std::cos(azimuth) * std::cos(elevation));
  camera view = oriented(backward * -1.0f, axes.up, true);
  const vec3 middle = (corner_of(stage, 0) + corner_of(stage, 7)) * 0.5f;
  const float size = std::sqrt(squared_norm(corner_of(stage, 7) - corner_of(stage, 0)));
  view.eye = middle - view.forward * (2.1f * size);
  view.scale = 1;
  // In the picture all lengths are proportional to the scale.
  const frame unit = outline(view, stage);
  const float fit = std::min((room.right - room.left) / (unit.right - unit.left),
                             (room.bottom - room.top) / (unit.bottom - unit.top));
  view.scale = fit * static_cast<float>(options.zoom);
  const frame drawn = outline(view, stage);
  view.center_x = 0.5f * (room.left + room.right - drawn.left - drawn.right);
  view.center_y = 0.5f * (room.top + room.bottom - drawn.top - drawn.bottom);
  return view;
}

/// The smallest of 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten that is at least x.
double rounded_up(double x) {
  const double power = std::pow(10, std::floor(std::log10(x)));
  for (const double step : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (step * power >= x * (1 - 1e-9)) return step * power;
  }
  return 10 * power;
}

/// A value that nearly all values are below, so that a few large ones do not squeeze the others into one color.
double value_scale(std::vector<float> values) {
  if (values.empty()) return 1;
  const std::size_t rank = (values.size() - 1) * 995 / 1000;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  const double high = static_cast<double>(values[rank]);
  return high > 0 && std::isfinite(high) ? rounded_up(high) : 1;
}

template <typename T>
sphere_list spheres_of(const preview_stage& stage, const points_view<T, 3>& positions, std::span<const float> values,
                       double top_value) {
  sphere_list spheres;
  const auto add = [&](const vec3& center, double radius, const color& paint) {
    if (!std::isfinite(center[0] + center[1] + center[2])) return;
    spheres.center.push_back(center);
    spheres.radius.push_back(static_cast<float>(radius));
    spheres.paint.push_back(paint);
  };
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const double radius = stage.radii.empty() ? stage.radius : static_cast<double>(stage.radii[i]);
    add(cast<float>(positions[i]), radius, viridis(values[i] / static_cast<float>(top_value)));
  }
  if (stage.collider) add(cast<float>(stage.collider->center), stage.collider->radius, from_srgb(0.72f, 0.71f, 0.70f));
  return spheres;
}

void draw_box(rendering& target, const camera& view, const preview_stage& stage, float thickness) {
  for (unsigned corner = 0; corner < 8; ++corner) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      if ((corner >> axis & 1u) != 0) continue;
      draw_edge(target, view, corner_of(stage, corner), corner_of(stage, corner | 1u << axis), thickness, ink, 0.5f);
    }
  }
  for (const preview_stage::line& line : stage.lines) {
    draw_edge(target, view, cast<float>(line.from), cast<float>(line.to), thickness, ink, 0.5f);
  }
}

image to_image(const canvas& picture) {
  image result{picture.width(), picture.height(), {}, {}};
  result.rgb.reserve(3 * picture.width() * picture.height());
  for (std::size_t y = 0; y < picture.height(); ++y) {
    for (std::size_t x = 0; x < picture.width(); ++x) {
      for (int channel = 0; channel < 3; ++channel) result.rgb.push_back(to_srgb8(picture.at(x, y)[channel]));
    }
  }
  return result;
}

}  // namespace

template <typename T>
image draw_preview(const preview_stage& stage, const points_view<T, 3>& positions, const points_view<T, 3>& velocities,
                   const preview_options& options) {
  require(positions.size() == velocities.size(), "draw_preview got ", positions.size(), " positions and ",
          velocities.size(), " velocities");
  std::vector<float> speeds(positions.size());
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    speeds[i] = static_cast<float>(std::sqrt(squared_norm(velocities[i])));
  }
  return draw_preview(stage, positions, std::span<const float>(speeds), options);
}

template <typename T>
image draw_preview(const preview_stage& stage, const points_view<T, 3>& positions, std::span<const float> values,
                   const preview_options& options) {
  require(positions.size() == values.size(), "draw_preview got ", positions.size(), " positions and ", values.size(),
          " values");
  require(stage.radii.empty() || stage.radii.size() == positions.size(), "draw_preview got ", positions.size(),
          " positions and ", stage.radii.size(), " radii");
  require(options.width >= 64 && options.height >= 64, "a preview of ", options.width, " x ", options.height,
          " pixels is too small");
  const double top_value =
      options.top_value > 0 ? options.top_value : value_scale(std::vector<float>(values.begin(), values.end()));
  const float width = static_cast<float>(options.width), height = static_cast<float>(options.height);
  const float unit = std::min(width / 1600, height / 1000);
  const orientation axes = upright(stage.down);
  const camera view = placed(stage, axes, options, {40 * unit, 36 * unit, width - 40 * unit, height - 36 * unit});

  const vec3 low = corner_of(stage, 0), high = corner_of(stage, 7);
  ground floor{(low + high) * 0.5f, axes.up, 1.6f * std::sqrt(squared_norm(high - low))};
  floor.point[axes.axis] = axes.up[axes.axis] > 0 ? low[axes.axis] : high[axes.axis];
  rendering scene = render(view, options.width, options.height, spheres_of(stage, positions, values, top_value), floor,
                           static_cast<float>(stage.radius));
  draw_box(scene, view, stage, 1.5f * unit);
  image result = to_image(scene.picture);
  result.text = {{"Color", options.scale}, {"Color top", number_text(top_value)}};
  return result;
}

template image draw_preview<float>(const preview_stage&, const points_view<float, 3>&, const points_view<float, 3>&,
                                   const preview_options&);
template image draw_preview<double>(const preview_stage&, const points_view<double, 3>&, const points_view<double, 3>&,
                                    const preview_options&);
template image draw_preview<float>(const preview_stage&, const points_view<float, 3>&, std::span<const float>,
                                   const preview_options&);
template image draw_preview<double>(const preview_stage&, const points_view<double, 3>&, std::span<const float>,
                                    const preview_options&);

}  // namespace quadrat::io
