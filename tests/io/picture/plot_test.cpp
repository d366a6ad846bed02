// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

constexpr std::size_t plot_width = 400;
constexpr std::size_t plot_height = 250;

plot_options small_plot() {
  plot_options options;
  options.width = plot_width;
  options.height = plot_height;
  return options;
}

image plot(const std::vector<plot_series>& series, const plot_options& options = small_plot()) {
  return draw_plot(series, options);
}

/// Mean position of the pixels of a color, and their number.
struct colored {
  double x = 0, y = 0;
  std::size_t count = 0;
};

colored colored_pixels(const image& picture) {
  colored result;
  for (std::size_t y = 0; y < picture.height; ++y) {
    for (std::size_t x = 0; x < picture.width; ++x) {
      const std::uint8_t* const p = picture.rgb.data() + 3 * (y * picture.width + x);
      if (std::max({p[0], p[1], p[2]}) - std::min({p[0], p[1], p[2]}) < 60) continue;
      result.x += static_cast<double>(x);
      result.y += static_cast<double>(y);
      ++result.count;
    }
  }
  result.x /= static_cast<double>(std::max<std::size_t>(result.count, 1));
  result.y /= static_cast<double>(std::max<std::size_t>(result.count, 1));
  return result;
}

TEST(plot, nothing_is_drawn_in_axes) {
  EXPECT_EQ(colored_pixels(plot({})).count, 0u);
  EXPECT_EQ(colored_pixels(plot({{"", {}, true}})).count, 0u);
}

TEST(plot, dots_stand_where_their_numbers_are) {
  // With invisible points that set the axes to 0 to 10.
  const auto place = [](double x, double y) {
    const image without = plot({{"", {{0, 0}, {10, 10}}, false}});
    const image with = plot({{"", {{0, 0}, {10, 10}, {x, y}}, false}});
    image difference = with;
    for (std::size_t i = 0; i < with.rgb.size(); i += 3) {
      const bool same = std::equal(with.rgb.begin() + static_cast<std::ptrdiff_t>(i),
                                   with.rgb.begin() + static_cast<std::ptrdiff_t>(i) + 3,
                                   without.rgb.begin() + static_cast<std::ptrdiff_t>(i));
      if (same) std::fill_n(difference.rgb.begin() + static_cast<std::ptrdiff_t>(i), 3, std::uint8_t{255});
    }
    return colored_pixels(difference);
  };
  const colored low = place(2, 3), right = place(8, 3), high = place(2, 7);
  EXPECT_GT(low.count, 3u);
  EXPECT_GT(right.x, low.x + 150);
  EXPECT_NEAR(right.y, low.y, 0.5);
  EXPECT_LT(high.y, low.y - 50);
  EXPECT_NEAR(high.x, low.x, 0.5);
}

TEST(plot, lines_join_points_and_end_where_one_is_no_number) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::size_t dots = colored_pixels(plot({{"", {{0, 1}, {1, 1}, {2, 1}}, false}})).count;
  const std::size_t line = colored_pixels(plot({{"", {{0, 1}, {1, 1}, {2, 1}}, true}})).count;
  const std::size_t half = colored_pixels(plot({{"", {{0, 1}, {1, 1}, {nan, 1}, {2, 1}}, true}})).count;
  EXPECT_GT(line, 3 * dots);
  EXPECT_LT(half, line * 6 / 10);
  EXPECT_GT(half, line * 4 / 10);
}

TEST(plot, extreme_and_equal_numbers_are_drawn) {
  for (const double value : {0.0, -3.0, 1e-300, 1e300}) {
    EXPECT_GT(colored_pixels(plot({{"", {{value, value}}, false}})).count, 3u) << value;
    EXPECT_GT(colored_pixels(plot({{"", {{value, value}, {-value, -value}}, false}})).count, 3u) << value;
  }
}

TEST(plot, labels_stand_in_the_legend) {
  const colored without = colored_pixels(plot({{"", {{0, 0}}, true}}));
  const colored with = colored_pixels(plot({{"theory", {{0, 0}}, true}}));
  EXPECT_EQ(without.count, 0u);
  EXPECT_GT(with.count, 3u);
}

TEST(plot, a_picture_that_is_too_small_is_refused) {
  plot_options tiny;
  tiny.height = 63;
  EXPECT_THROW(static_cast<void>(plot({}, tiny)), argument_error);
}

}  // namespace
}  // namespace quadrat::io
