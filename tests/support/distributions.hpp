// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "support/random.hpp"

// Point sets that make searches expensive, for tests that bound what a search does per point.

namespace quadrat::test {

enum class distribution {
  uniform,
  grid,
  chain,
  ring,
  spiral,
  comb,
  tree,
  random_walk,
  line,
  diagonal,
  cross,
  sheet,
  two_planes,
  sphere,
  blobs,
  crowd_in_gas,
  two_scales,
  nested_clusters,
  log_uniform_radii,
  geometric_sequence,
  one_place,
  two_places,
  stray_point
};

struct named_distribution {
  distribution which;
  std::string_view name;
};

/// All of them, for loops and messages.
inline constexpr named_distribution all_distributions[] = {
    {distribution::uniform, "uniform"},
    {distribution::grid, "grid"},                              ///< nearest neighbors all at the same distance
    {distribution::chain, "chain"},                            ///< equally spaced along x
    {distribution::ring, "ring"},                              ///< equally spaced on a circle
    {distribution::spiral, "spiral"},                          ///< equally spaced on a long spiral
    {distribution::comb, "comb"},                              ///< long teeth on a spine, equally spaced
    {distribution::tree, "tree"},                              ///< equally spaced on the branches of a binary tree
    {distribution::random_walk, "random_walk"},                ///< equal steps that turn at random
    {distribution::line, "line"},                              ///< at random along x
    {distribution::diagonal, "diagonal"},                      ///< at random on the diagonal of the cube
    {distribution::cross, "cross"},                            ///< at random on a line along each axis
    {distribution::sheet, "sheet"},                            ///< a layer of thickness 1e-6
    {distribution::two_planes, "two_planes"},                  ///< flat, 1e-3 apart
    {distribution::sphere, "sphere"},                          ///< on the surface
    {distribution::blobs, "blobs"},                            ///< 64 balls of radius .02
    {distribution::crowd_in_gas, "crowd_in_gas"},              ///< 9 of 10 in a cube of edge .01
    {distribution::two_scales, "two_scales"},                  ///< half of them in a cube of edge 1e-4
    {distribution::nested_clusters, "nested_clusters"},        ///< of clusters of clusters, 6 levels
    {distribution::log_uniform_radii, "log_uniform_radii"},    ///< around the center: 2^-20 of the radius to all of it
    {distribution::geometric_sequence, "geometric_sequence"},  ///< on a line: distances to 0 from 2^-40 to 1
    {distribution::one_place, "one_place"},
    {distribution::two_places, "two_places"},
    {distribution::stray_point, "stray_point"},  ///< all in a cube of edge 2^-17, but one
};

/// Places points of a distribution, one after the other.
template <int D>
class point_maker {
 public:
  using point = vec<double, D>;

  point_maker(distribution which, std::size_t count, std::uint64_t seed)
      : which_(which), n_(static_cast<double>(count)), random_(seed + 1) {
    for (auto& center : centers_) center = in_cube(0.1, 0.8);
    for (auto& level : branches_) {
      for (auto& branch : level) branch = in_cube(-1, 2);
    }
    walker_ = middle_;
  }

  [[nodiscard]] point place(std::size_t index) {
    const double t = (static_cast<double>(index) + 0.5) / n_;
    switch (which_) {
      case distribution::uniform:
        return in_cube(0, 1);
      case distribution::grid:
        return on_grid(index);
      case distribution::chain:
        return on_axis(0, t);
      case distribution::ring:
        return polar(0.45, t);
      case distribution::spiral:
        return polar(0.45 * std::sqrt(t), std::sqrt(n_) / 4 * std::sqrt(t));
      case distribution::comb:
        return on_comb(index);
      case distribution::tree:
        return on_tree(t);
      case distribution::random_walk:
        return on_walk();
      case distribution::line:
        return on_axis(0, unit());
      case distribution::diagonal:
        return point::filled(unit());
      case distribution::cross:
        return on_axis(static_cast<int>(index % D), unit());
      case distribution::sheet:
        return in_layer(0.5 + 1e-6 * unit());
      case distribution::two_planes:
        return in_layer(index % 2 == 0 ? 0.5 : 0.501);
      case distribution::sphere:
        return middle_ + 0.45 * direction();
      case distribution::blobs:
        return centers_[index % centers_.size()] + 0.02 * in_ball();
      case distribution::crowd_in_gas:
        return index % 10 == 0 ? in_cube(0, 1) : in_cube(0.4, 0.01);
      case distribution::two_scales:
        return index % 2 == 0 ? in_cube(0, 1) : in_cube(0.3, 1e-4);
      case distribution::nested_clusters:
        return in_nested();
      case distribution::log_uniform_radii:
        return middle_ + 0.49 * std::exp2(-20 * unit()) * direction();
      case distribution::geometric_sequence:
        return on_axis(0, std::exp2(-40 * t));
      case distribution::one_place:
        return centers_[0];
      case distribution::two_places:
        return centers_[index % 2];
      case distribution::stray_point:
        return index == 0 ? point::filled(0.9) : in_cube(0, 0x1p-17);
    }
    return {};
  }

  [[nodiscard]] std::mt19937_64& random() { return random_; }

 private:
  [[nodiscard]] double unit() { return random_unit<double>(random_); }
  [[nodiscard]] point in_cube(double from, double edge) {
    return make_vec<double, D>([&](int) { return from + edge * unit(); });
  }
  [[nodiscard]] point in_ball() {
    for (;;) {
      const point r = in_cube(-1, 2);
      if (squared_norm(r) < 1 && squared_norm(r) > 1e-4) return r;
    }
  }
  [[nodiscard]] point direction() {
    const point r = in_ball();
    return r / norm(r);
  }
  [[nodiscard]] point on_axis(int axis, double t) const {
    point r = middle_;
    r[axis] = t;
    return r;
  }
  [[nodiscard]] point polar(double radius, double turns) const {
    point r = middle_;
    r[0] += radius * std::cos(2 * std::numbers::pi * turns);
    r[1] += radius * std::sin(2 * std::numbers::pi * turns);
    return r;
  }
  [[nodiscard]] point in_layer(double height) {
    point r = in_cube(0, 1);
    r[D - 1] = height;
    return r;
  }
  [[nodiscard]] point on_grid(std::size_t index) const {
    const auto edge = static_cast<std::size_t>(std::ceil(std::pow(n_, 1.0 / D) - 1e-9));
    return make_vec<double, D>([&](int) {
      const std::size_t at = index % edge;
      index /= edge;
      return (static_cast<double>(at) + 0.5) / static_cast<double>(edge);
    });
  }
  /// The distance of teeth is about 16 times that of points.
  [[nodiscard]] point on_comb(std::size_t index) const {
    const auto teeth = static_cast<std::size_t>(std::ceil(std::sqrt(n_) / 4));
    const std::size_t tooth = index % (teeth + 1);
    const double t = std::floor(static_cast<double>(index) / static_cast<double>(teeth + 1)) /
                     std::ceil(n_ / static_cast<double>(teeth + 1));
    point r = middle_;
    r[0] = tooth == teeth ? t : (static_cast<double>(tooth) + 0.5) / static_cast<double>(teeth);
    r[1] = tooth == teeth ? 0.1 : 0.1 + 0.8 * t;
    return r;
  }
  /// From the middle, two branches along each axis in turn, half as long after each round of the axes.
  [[nodiscard]] point on_tree(double t) const {
    constexpr int levels = 12;
    double total = 0;
    for (int level = 0; level < levels; ++level) total += std::exp2(level + 1) * branch_length(level);
    double at = t * total;
    int level = 0;
    for (; level + 1 < levels && at >= std::exp2(level + 1) * branch_length(level); ++level) {
      at -= std::exp2(level + 1) * branch_length(level);
    }
    const double branch = std::floor(at / branch_length(level));
    const auto path = static_cast<std::uint32_t>(branch);
    point r = middle_;
    for (int k = 0; k <= level; ++k) {
      const double along = k == level ? at - branch * branch_length(level) : branch_length(k);
      r[k % D] += (path >> k & 1u) != 0 ? along : -along;
    }
    return r;
  }
  [[nodiscard]] static double branch_length(int level) { return 0.22 * std::exp2(-(level / D)); }
  [[nodiscard]] point on_walk() {
    const double step = 0.2 / std::sqrt(n_);
    heading_ += 0.5 * in_ball();
    heading_ /= norm(heading_);
    for (int axis = 0; axis < D; ++axis) {
      const double next = walker_[axis] + step * heading_[axis];
      if (!(next > 0 && next < 1)) heading_[axis] = -heading_[axis];
      walker_[axis] += step * heading_[axis];
    }
    return walker_;
  }
  [[nodiscard]] point in_nested() {
    point r = middle_;
    double radius = 0.33;
    for (const auto& level : branches_) {
      r += radius * level[random_() % level.size()];
      radius *= 0.3;
    }
    return r + radius * in_ball();
  }

  distribution which_;
  double n_;
  std::mt19937_64 random_;
  const point middle_ = point::filled(0.5);
  std::array<point, 64> centers_{};
  std::array<std::array<point, 4>, 6> branches_{};
  point walker_{}, heading_ = point::filled(1);
};

/// This many points of a distribution in [0, 1)^D, in random order. The same for the same seed everywhere.
template <typename T, int D>
[[nodiscard]] std::vector<vec<T, D>> points_of(distribution which, std::size_t count, std::uint64_t seed) {
  point_maker<D> maker(which, count, seed);
  std::vector<vec<T, D>> points(count);
  for (std::size_t i = 0; i < count; ++i) {
    const vec<T, D> point = cast<T>(maker.place(i));
    const T last = std::nextafter(T(1), T(0));
    points[i] = make_vec<T, D>([&](int axis) { return std::clamp(point[axis], T(0), last); });
  }
  for (std::size_t i = count; i > 1; --i) std::swap(points[i - 1], points[maker.random()() % i]);
  return points;
}

/// The distance within which about half of the points have this many others: the median over some of them of the
/// distance to that neighbor. 0 where many points are equal.
template <typename T, int D>
[[nodiscard]] T distance_to_neighbor(const std::vector<vec<T, D>>& points, std::size_t neighbor) {
  constexpr std::size_t asked = 63;
  std::vector<T> distances, squares(points.size());
  for (std::size_t k = 0; k < asked && neighbor < points.size(); ++k) {
    const vec<T, D> from = points[k * points.size() / asked];
    std::transform(points.begin(), points.end(), squares.begin(),
                   [&](const vec<T, D>& to) { return squared_norm(to - from); });
    const auto nth = squares.begin() + static_cast<std::ptrdiff_t>(neighbor);  // the point itself is number 0
    std::nth_element(squares.begin(), nth, squares.end());
    distances.push_back(std::sqrt(*nth));
  }
  if (distances.empty()) return T(0);
  std::nth_element(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2),
                   distances.end());
  return distances[distances.size() / 2];
}

/// The squared distances from some points to all others, and to themselves.
template <typename T, int D>
[[nodiscard]] std::vector<T> squares_from_some(const std::vector<vec<T, D>>& points, std::size_t some) {
  std::vector<T> squares;
  for (std::size_t k = 0; k < some; ++k) {
    const vec<T, D> from = points[k * points.size() / some];
    for (const vec<T, D>& to : points) squares.push_back(squared_norm(to - from));
  }
  return squares;
}

inline constexpr std::size_t sampled_centers = 63;

/// About the distance within which points have this many others on average. 0 where that many are equal.
template <typename T, int D>
[[nodiscard]] T distance_of_neighbors(const std::vector<vec<T, D>>& points, double neighbors) {
  std::vector<T> squares = squares_from_some(points, sampled_centers);
  const auto nth = squares.begin() + static_cast<std::ptrdiff_t>((neighbors + 1) * sampled_centers);
  std::nth_element(squares.begin(), nth, squares.end());
  return std::sqrt(*nth);
}

/// About how many others points have within a distance on average.
template <typename T, int D>
[[nodiscard]] double mean_neighbors(const std::vector<vec<T, D>>& points, T distance) {
  const std::vector<T> squares = squares_from_some(points, sampled_centers);
  const auto near = std::count_if(squares.begin(), squares.end(), [&](T r) { return r < distance * distance; });
  return static_cast<double>(near) / sampled_centers - 1;
}

}  // namespace quadrat::test
