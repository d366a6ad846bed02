// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "mesh/tiles/cuda/half_scale.hpp"
#include "mesh/tiles/cuda/plan.hpp"

// A mesh to which a crowd of points was spread falls off by many orders of magnitude around them, so that halves do not
// hold all of its numbers. The points of the crowd are read from it by tensor cores all the same.

namespace quadrat::detail {

namespace {

constexpr int crowd_extent = 64, crowd_width = 6;

std::vector<placed_point<float>> crowd_of(std::string_view where, std::size_t count, std::mt19937_64& random) {
  std::vector<placed_point<float>> points(count);
  std::normal_distribution<double> spot;
  std::uniform_real_distribution<double> along(8, crowd_extent - 8);
  for (auto& point : points) {
    const double t = along(random);
    for (int axis = 0; axis < 3; ++axis) {
      const bool on_line =
          where == "diagonal" || (where == "first axis" && axis == 0) || (where == "last axis" && axis == 2);
      const double x = where == "spot" ? 31.3 + 0.5 * spot(random) : on_line ? t : 30.2 + axis;
      point.first[axis] = static_cast<int>(std::floor(x)) - crowd_width / 2 + 1;
      point.place[axis] = static_cast<float>(x - std::floor(x) - 0.5);
    }
  }
  return points;
}

class crowded_mesh {
 public:
  crowded_mesh() : unit_(scale_half_window(window_, shape_)) {}

  void spread(const placed_point<float>& point, double value) {
    for_each(point, [&](std::size_t node, int, double weight) { values_[node] += weight * value; });
  }

  struct reading {
    double result = 0, error = 0;  ///< a bound on what rounding of numbers that do not fit changes
    bool fits = true, keeps = true;
  };
  /// As interpolate/halves.cuh does it, from the patch of the point's tile.
  [[nodiscard]] reading read(const placed_point<float>& point) const {
    reading sum;
    const std::vector<half_scale> scales = scales_of_tile(point, sum.fits);
    float unfit = 0;
    for (int i = 0; i < crowd_width; ++i) {
      const half_scale& scale = scales[static_cast<std::size_t>(point.first[0] % grid_.edge[0] + i)];
      unfit += scale.serves ? 0 : std::fabs(window_.weight(i, point.place[0])) * scale.up;
    }
    for_each(point, [&](std::size_t node, int plane, double weight) {
      const auto value = static_cast<float>(values_[node]);
      const half_scale& scale = scales[static_cast<std::size_t>(point.first[0] % grid_.edge[0] + plane)];
      const double scaled = static_cast<double>(value) * scale.down;
      sum.result += weight * value;
      if (!scale.serves)
        sum.error += weight * std::fabs(std::ldexp(std::nearbyint(std::ldexp(scaled, 24)), -24) / scale.down - value);
    });
    sum.keeps = std::fabs(sum.result) >= least_half_result(unfit, unit_);
    return sum;
  }

 private:
  /// f(mesh point, plane of the footprint, weight)
  template <typename F>
  void for_each(const placed_point<float>& point, const F& f) const {
    const double unscaled = std::ldexp(1.0, unit_.product);
    for (int i = 0; i < crowd_width; ++i) {
      for (int j = 0; j < crowd_width; ++j) {
        for (int k = 0; k < crowd_width; ++k) {
          const double weight = unscaled * window_.weight(i, point.place[0]) * window_.weight(j, point.place[1]) *
                                window_.weight(k, point.place[2]);
          f(shape_.node(point.first[0] + i, point.first[1] + j, point.first[2] + k), i, weight);
        }
      }
    }
  }
  /// The scales of the planes of the tile's patch; `serves` says whether all numbers of the plane fit.
  [[nodiscard]] std::vector<half_scale> scales_of_tile(const placed_point<float>& point, bool& fits) const {
    std::vector<half_scale> scales;
    int begin[3];
    for (int axis = 0; axis < 3; ++axis) begin[axis] = point.first[axis] / grid_.edge[axis] * grid_.edge[axis];
    for (int i = 0; i < grid_.reach(0); ++i) {
      std::vector<std::uint32_t> moduli;
      for (int j = 0; j < grid_.reach(1); ++j) {
        for (int k = 0; k < grid_.reach(2); ++k) {
          const std::size_t node =
              shape_.node((begin[0] + i) % crowd_extent, (begin[1] + j) % crowd_extent, (begin[2] + k) % crowd_extent);
          moduli.push_back(half_scale::modulus(static_cast<float>(values_[node])));
        }
      }
      half_scale scale(*std::ranges::max_element(moduli), unit_, scales.empty() ? -1 : scales.back().exponent);
      EXPECT_TRUE(scale.serves);
      scale.serves = std::ranges::all_of(moduli, [&](std::uint32_t modulus) { return scale.fits(modulus); });
      fits = fits && scale.serves;
      scales.push_back(scale);
    }
    return scales;
  }

  mesh_shape shape_{
      {crowd_extent, crowd_extent, crowd_extent}, {crowd_width, crowd_width, crowd_width}, {true, true, true}, 0};
  tile_grid grid_ = plan_tiles(shape_, false, shape_.size(), false).grid;
  mesh_window<float> window_ = bspline_window<float>(crowd_width);
  half_unit unit_;
  std::vector<double> values_ = std::vector<double>(shape_.size());
};

TEST(half_scales, serve_nearly_all_points_of_a_crowd_on_the_mesh_that_it_was_spread_to) {
  for (const std::string_view where : {"spot", "first axis", "last axis", "diagonal"}) {
    std::mt19937_64 random(7);
    const auto points = crowd_of(where, 2000, random);
    crowded_mesh mesh;
    for (const auto& point : points) mesh.spread(point, std::uniform_real_distribution<double>(-1, 1)(random));
    std::size_t near_unfit = 0, singly = 0;
    for (const auto& point : points) {
      const auto reading = mesh.read(point);
      near_unfit += reading.fits ? 0 : 1;
      singly += reading.keeps ? 0 : 1;
      EXPECT_TRUE(!reading.keeps || reading.error <= std::ldexp(std::fabs(reading.result), -21)) << where;
    }
    EXPECT_GT(near_unfit, points.size() / 2) << where;
    EXPECT_LT(singly, points.size() / 100) << where;
  }
}

TEST(half_scales, do_not_serve_points_of_which_the_mesh_has_only_the_smallest_weights) {
  const mesh_shape shape{{8, 8, 8}, {6, 6, 6}, {true, true, false}, 0};
  auto window = bspline_window<float>(6);
  EXPECT_EQ(scale_half_window(window, shape).exponent, -2);
  const auto serves = [&](int axis, int first, float place) {
    float w[8] = {};
    window.weights<6>(place, w);
    return half_weights_serve(shape, axis, first, w);
  };
  for (const float place : {-0.4f, -0.2f, 0.0f, 0.2f, 0.4f}) {
    // Points in the box, from the lower end to the upper one.
    for (int first = -2; first <= 5; ++first) EXPECT_TRUE(serves(2, first, place)) << first << " " << place;
    for (const int first : {-5, 7}) EXPECT_FALSE(serves(2, first, place)) << first << " " << place;
    for (const int first : {-5, 7}) EXPECT_TRUE(serves(0, first, place)) << "periodic";
    for (const int first : {-6, 8}) EXPECT_TRUE(serves(2, first, place)) << "no mesh points";
  }
  EXPECT_TRUE(serves(2, 6, -0.5f)) << "the upper end";
}

}  // namespace

}  // namespace quadrat::detail
