// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "io/picture/drawing.hpp"
#include "io/picture/lettering.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

const color paper = from_srgb(1, 1, 1);
const color grid_gray = from_srgb(0.90f, 0.91f, 0.92f);

/// The series take the colors in turn.
color paint_of(std::size_t series) {
  static const std::array<color, 4> paints{from_srgb(0.93f, 0.55f, 0.14f), from_srgb(0.13f, 0.35f, 0.58f),
                                           from_srgb(0.16f, 0.56f, 0.44f), from_srgb(0.68f, 0.25f, 0.42f)};
  return paints[series % paints.size()];
}

bool is_finite(const vec<double, 2>& p) { return std::isfinite(p[0]) && std::isfinite(p[1]); }

/// An axis from `low` to `high`, and the ticks on it.
struct axis_scale {
  double low = 0, high = 1, first_tick = 0, step = 1;
  int ticks = 2;

  [[nodiscard]] double at(int tick) const { return first_tick + step * tick; }
  /// 0 at the lower end, 1 at the upper.
  [[nodiscard]] double share(double value) const { return (value - low) / (high - low); }
};

/// With ticks at multiples of 1, 2 or 5 times a power of ten. The axis ends where the range does if `tight`, or else at
/// the enclosing ticks.
axis_scale scale_for(double low, double high, bool tight) {
  if (!(high - low > 1e-9 * std::max(std::abs(low), std::abs(high)))) {
    const double room = low == 0 ? 1 : std::abs(low);
    low -= room, high += room;
  }
  const double wanted = (high - low) / 6;
  const double power = std::pow(10, std::floor(std::log10(wanted)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= wanted * (1 - 1e-9)) step = factor * power;
  }
  double first = std::floor(low / step + 1e-9);
  double last = std::ceil(high / step - 1e-9);
  if (tight) {
    first = std::ceil(low / step - 1e-9);
    last = std::floor(high / step + 1e-9);
  } else {
    low = first * step;
    high = last * step;
  }
  return {low, high, first * step, step, static_cast<int>(last - first) + 1};
}

struct extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] axis_scale scale(bool tight) const { return low <= high ? scale_for(low, high, tight) : axis_scale{}; }
};

/// The rectangle between the axes, in pixels, and their scales.
class plot_area {
 public:
  plot_area(std::span<const plot_series> series, const plot_options& options)
      : unit_(std::min(static_cast<float>(options.width) / 1600, static_cast<float>(options.height) / 1000)),
        left_(130 * unit_),
        top_(180 * unit_),
        right_(static_cast<float>(options.width) - 70 * unit_),
        bottom_(static_cast<float>(options.height) - 110 * unit_) {
    extent along, up;
    for (const plot_series& one : series) {
      for (const vec<double, 2>& p : one.points) {
        if (!is_finite(p)) continue;
        along.add(p[0]);
        up.add(p[1]);
      }
    }
    up.add(0);
    x_ = along.scale(true);
    y_ = up.scale(false);
  }

  [[nodiscard]] float unit() const { return unit_; }
  [[nodiscard]] vec<float, 2> place(const vec<double, 2>& p) const {
    return {left_ + static_cast<float>(x_.share(p[0])) * (right_ - left_),
            bottom_ + static_cast<float>(y_.share(p[1])) * (top_ - bottom_)};
  }

  void draw_axes(canvas& picture, const plot_options& options) const {
    const lettering small{11.5f * unit_, 0.13f, ink};
    const auto largest = [](const axis_scale& axis) { return std::max(std::abs(axis.low), std::abs(axis.high)); };
    for (int tick = 0; tick < y_.ticks; ++tick) {
      const float y = place({x_.low, y_.at(tick)})[1];
      draw_line(picture, {left_, y}, {right_, y}, 1.2f * unit_, grid_gray);
      const std::string label = label_of(y_, tick, largest(y_));
      draw_text(picture, label, left_ - 16 * unit_ - text_width(label, small), y + 5.5f * unit_, small);
    }
    for (int tick = 0; tick < x_.ticks; ++tick) {
      const float x = place({x_.at(tick), y_.low})[0];
      draw_line(picture, {x, bottom_}, {x, top_}, 1.2f * unit_, grid_gray);
      const std::string label = label_of(x_, tick, largest(x_));
      draw_text(picture, label, x - text_width(label, small) / 2, bottom_ + 32 * unit_, small);
    }
    const float zero = place({x_.low, 0})[1];
    draw_line(picture, {left_, zero}, {right_, zero}, 1.8f * unit_, pale_ink);
    draw_line(picture, {left_, bottom_}, {left_, top_}, 1.8f * unit_, pale_ink);
    draw_text(picture, options.y_label, left_ - 12 * unit_, top_ - 24 * unit_, small);
    draw_text(picture, options.x_label, right_ - text_width(options.x_label, small), bottom_ + 72 * unit_, small);
  }

  /// Right-aligned, on the line of the y label.
  void draw_legend(canvas& picture, std::span<const plot_series> series) const {
    const lettering small{11.5f * unit_, 0.13f, ink};
    float right = right_;
    const float y = top_ - 30 * unit_;
    for (std::size_t i = series.size(); i-- > 0;) {
      if (series[i].label.empty()) continue;
      right -= text_width(series[i].label, small);
      draw_text(picture, series[i].label, right, top_ - 24 * unit_, small);
      right -= 16 * unit_;
      const float start = right - 34 * unit_;
      draw_mark(picture, series[i].joined, {start, y}, {right, y}, paint_of(i));
      right = start - 36 * unit_;
    }
  }

  void draw_series(canvas& picture, const plot_series& series, const color& paint) const {
    const std::size_t count = series.points.size();
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t next = series.joined ? k + 1 : k;
      if (next == count || !is_finite(series.points[k]) || !is_finite(series.points[next])) continue;
      draw_mark(picture, series.joined, place(series.points[k]), place(series.points[next]), paint);
    }
  }

 private:
  /// The legend's mark: a piece of a line, or a dot in the middle.
  void draw_mark(canvas& picture, bool joined, vec<float, 2> from, vec<float, 2> to, const color& paint) const {
    if (joined) return draw_line(picture, from, to, 4.5f * unit_, paint);
    const vec<float, 2> middle = (from + to) * 0.5f;
    draw_line(picture, middle, middle, 15 * unit_, paper);
    draw_line(picture, middle, middle, 11 * unit_, paint);
  }

  /// Prints 0 exactly, not an accumulated rounding error.
  [[nodiscard]] static std::string label_of(const axis_scale& axis, int tick, double largest) {
    const double value = axis.at(tick);
    return tick_label(std::abs(value) < 1e-6 * axis.step ? 0 : value, largest);
  }

  float unit_, left_, top_, right_, bottom_;
  axis_scale x_{}, y_{};
};

}  // namespace

image draw_plot(std::span<const plot_series> series, const plot_options& options) {
  require(options.width >= 64 && options.height >= 64, "a plot of ", options.width, " x ", options.height,
          " pixels is too small");
  canvas picture(options.width, options.height);
  for (std::size_t y = 0; y < options.height; ++y) {
    for (std::size_t x = 0; x < options.width; ++x) picture.at(x, y) = paper;
  }
  const plot_area area(series, options);
  area.draw_axes(picture, options);
  for (std::size_t i = 0; i < series.size(); ++i) area.draw_series(picture, series[i], paint_of(i));
  area.draw_legend(picture, series);
  draw_titles(picture, options.title, options.subtitle, area.unit());
  return to_image(picture);
}

}  // namespace quadrat::io
