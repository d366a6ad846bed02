// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/preview.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

const preview_stage unit_stage{{{-1, -1, -1}}, {{1, 1, 1}}, 0.2};

struct pixel {
  int r, g, b;
  [[nodiscard]] bool colorful() const { return std::max({r, g, b}) - std::min({r, g, b}) > 30; }
};

pixel at(const image& picture, std::size_t x, std::size_t y) {
  const std::uint8_t* const p = picture.rgb.data() + 3 * (y * picture.width + x);
  return {p[0], p[1], p[2]};
}

/// Pixels with the colors of grains.
std::size_t colorful_pixels(const image& picture) {
  std::size_t count = 0;
  for (std::size_t y = 0; y < picture.height; ++y) {
    for (std::size_t x = 0; x < picture.width; ++x) count += at(picture, x, y).colorful() ? 1 : 0;
  }
  return count;
}

template <typename T>
image draw(const std::vector<vec<T, 3>>& x, const std::vector<vec<T, 3>>& v, const preview_options& options = {},
           const preview_stage& stage = unit_stage) {
  return draw_preview<T>(stage, points_of(x.data(), x.size()), points_of(v.data(), v.size()), options);
}

preview_options small_options() {
  preview_options options;
  options.width = 400;
  options.height = 250;
  return options;
}

TEST(preview, says_what_its_colors_mean) {
  using texts = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(draw<float>({{0, 0, 0}}, {{0, 0.9f, 0}}, small_options()).text,
            (texts{{"Color", "speed"}, {"Color top", "1"}}));
  preview_options options = small_options();
  options.top_value = 0.25;
  options.scale = "neighbors";
  EXPECT_EQ(draw<float>({}, {}, options).text, (texts{{"Color", "neighbors"}, {"Color top", "0.25"}}));
}

TEST(preview, an_empty_scene_is_drawn) {
  const image picture = draw<float>({}, {}, small_options());
  EXPECT_EQ(picture.rgb.size(), 3u * 400 * 250);
  EXPECT_EQ(colorful_pixels(picture), 0u);
}

// The blur that finds crevices once reached as far as a grain, and took hours.
TEST(preview, a_grain_larger_than_the_picture_takes_no_longer) {
  preview_options options = small_options();
  options.zoom = 1e6;
  const image picture = draw<float>({{0, 0, 0}, {0.5f, 0.5f, 0.5f}}, {{0, 1, 0}, {0, 0, 0}}, options);
  EXPECT_EQ(picture.rgb.size(), 3u * 400 * 250);
}

TEST(preview, a_grain_in_the_middle_is_seen_in_the_color_of_its_speed) {
  preview_options options = small_options();
  options.top_value = 1;
  const image fast = draw<double>({{0, 0, 0}}, {{0, 1, 0}}, options);
  const image slow = draw<double>({{0, 0, 0}}, {{0, 0.1, 0}}, options);
  std::size_t x = 0, y = 0, count = 0;
  for (std::size_t j = 0; j < fast.height; ++j) {
    for (std::size_t i = 0; i < fast.width; ++i) {
      if (!at(fast, i, j).colorful()) continue;
      x += i, y += j, ++count;
    }
  }
  ASSERT_GT(count, 50u);
  const pixel yellow = at(fast, x / count, y / count);
  EXPECT_GT(yellow.r, yellow.b + 60);
  EXPECT_GT(yellow.g, yellow.b + 60);
  const pixel violet = at(slow, x / count, y / count);
  EXPECT_GT(violet.b, violet.g);
}

TEST(preview, the_nearer_grain_hides_the_farther) {
  preview_options options = small_options();
  options.azimuth = options.elevation = 0;
  options.top_value = 1;
  const image both = draw<float>({{0, 0, -0.5f}, {0, 0, 0.5f}}, {{0, 0, 0}, {1, 0, 0}}, options);
  const image reversed = draw<float>({{0, 0, 0.5f}, {0, 0, -0.5f}}, {{1, 0, 0}, {0, 0, 0}}, options);
  EXPECT_EQ(both.rgb, reversed.rgb) << "the order of the grains must not matter";
  std::size_t yellow = 0, violet = 0;
  for (std::size_t i = 0; i < 400 * 250; ++i) {
    const pixel p = at(both, i % 400, i / 400);
    if (!p.colorful()) continue;
    ++(p.r > p.b ? yellow : violet);
  }
  EXPECT_GT(yellow, 10 * violet);
}

TEST(preview, the_same_input_gives_the_same_pixels) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<vec<float, 3>> x(2000), v(2000);
  for (auto& p : x) p = {uniform(random), uniform(random), uniform(random)};
  for (auto& p : v) p = {uniform(random), uniform(random), uniform(random)};
  EXPECT_EQ(draw(x, v, small_options()).rgb, draw(x, v, small_options()).rgb);
}

TEST(preview, what_is_not_finite_is_left_out) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const image picture =
      draw<float>({{nan, 0, 0}, {0, inf, 0}, {0, 0, 1e30f}}, {{0, 0, 0}, {0, 0, 0}, {nan, 0, 0}}, small_options());
  EXPECT_EQ(colorful_pixels(picture), 0u);
}

TEST(preview, grains_far_smaller_than_a_pixel_still_show) {
  preview_stage stage = unit_stage;
  stage.radius = 1e-5;
  std::vector<vec<float, 3>> x;
  for (int i = 0; i < 20000; ++i) {
    x.push_back({static_cast<float>(i % 200) / 100 - 1, static_cast<float>(i / 200) / 50 - 1, 0});
  }
  const image empty = draw<float>({}, {}, small_options(), stage);
  const image drawn = draw(x, std::vector<vec<float, 3>>(x.size()), small_options(), stage);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < drawn.rgb.size(); i += 3) changed += drawn.rgb[i] + 10 < empty.rgb[i] ? 1 : 0;
  EXPECT_GT(changed, 5000u);
}

TEST(preview, gravity_says_what_is_up) {
  // A grain low in the box appears in the lower half of the picture, whichever axis is vertical.
  preview_options options = small_options();
  options.top_value = 1;
  for (int axis = 0; axis < 3; ++axis) {
    for (const double sign : {-1.0, 1.0}) {
      preview_stage stage = unit_stage;
      stage.down = {{0, 0, 0}};
      stage.down[axis] = sign;
      vec<double, 3> low{};
      low[axis] = 0.8 * sign;
      const image picture = draw<double>({low}, {{1, 0, 0}}, options, stage);
      std::size_t above = 0, below = 0;
      for (std::size_t i = 0; i < 400 * 250; ++i) {
        if (at(picture, i % 400, i / 400).colorful()) ++(i / 400 < 125 ? above : below);
      }
      EXPECT_EQ(above, 0u) << "axis " << axis << " sign " << sign;
      EXPECT_GT(below, 50u);
    }
  }
}

TEST(preview, a_collider_is_drawn) {
  preview_stage stage = unit_stage;
  const image without = draw<float>({}, {}, small_options(), stage);
  stage.collider = {{{0, -0.5, 0}}, 0.5};
  EXPECT_NE(draw<float>({}, {}, small_options(), stage).rgb, without.rgb);
}

TEST(preview, grains_have_their_own_radii) {
  preview_stage stage = unit_stage;
  stage.radii = {0.4f};
  const std::size_t large = colorful_pixels(draw<float>({{0, 0, 0}}, {{0, 1, 0}}, small_options(), stage));
  stage.radii = {0.1f};
  const std::size_t small = colorful_pixels(draw<float>({{0, 0, 0}}, {{0, 1, 0}}, small_options(), stage));
  EXPECT_GT(large, 8 * small);
  EXPECT_GT(small, 10u);
  stage.radii = {0.1f, 0.1f};
  EXPECT_THROW(static_cast<void>(draw<float>({{0, 0, 0}}, {{0, 0, 0}}, small_options(), stage)), argument_error);
}

TEST(preview, lines_are_drawn_behind_the_grains_that_hide_them) {
  preview_stage stage = unit_stage;
  preview_options options = small_options();
  options.azimuth = options.elevation = 0;
  const auto drawn = [&](double z) {
    stage.lines.clear();
    const image without = draw<float>({{0, 0, 0}}, {{0, 1, 0}}, options, stage);
    stage.lines = {{{-0.1, 0, z}, {0.1, 0, z}}};
    return draw<float>({{0, 0, 0}}, {{0, 1, 0}}, options, stage).rgb != without.rgb;
  };
  EXPECT_TRUE(drawn(0.5));
  EXPECT_FALSE(drawn(-0.5));
}

TEST(preview, impossible_requests_are_refused) {
  EXPECT_THROW(static_cast<void>(draw<float>({{0, 0, 0}}, {})), argument_error);
  preview_options tiny;
  tiny.width = 10;
  EXPECT_THROW(static_cast<void>(draw<float>({}, {}, tiny)), argument_error);
}

}  // namespace
}  // namespace quadrat::io
