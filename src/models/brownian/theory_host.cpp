// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "models/parameter_checks.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/brownian.hpp"

namespace quadrat {

namespace {

/// The Ewald sum of the mobility for one sphere and its images. Its near part is the mobility in free space minus the
/// wave part. The wave part at a distance is an integral over wave numbers. The trapezoidal rule computes it to
/// rounding, because the integrand is even and falls off like a Gaussian.
class self_mobility_sum {
 public:
  self_mobility_sum(const vec<double, 3>& box, double radius)
      : box_(box), radius_(radius), splitting_(3.5 / std::cbrt(box[0] * box[1] * box[2])) {
    const double tail = digits / splitting_;
    cutoff_ = 2 * radius_ + tail;
    const double spacing = 2 * std::numbers::pi / (cutoff_ + 2 * radius_ + tail);
    for (int n = 0; n * spacing < 2 * digits * splitting_; ++n) {
      const double k = n * spacing;
      nodes_.push_back({k, (k > 0 ? 1 : 0.5) * spacing * factor(k) * 3 * radius_ / std::numbers::pi});
    }
  }

  /// The sum in units of the mobility of a free sphere.
  [[nodiscard]] vec<double, 3> total() const {
    vec<double, 3> sum{};
    std::array<int, 3> most{};
    for (int axis = 0; axis < 3; ++axis) {
      most[static_cast<std::size_t>(axis)] = static_cast<int>(cutoff_ / box_[axis]) + 1;
    }
    for_each_point(most, box_, [&](const vec<double, 3>& image) {
      const double square = squared_norm(image);
      if (square <= cutoff_ * cutoff_) add_near(image, square, sum);
    });
    vec<double, 3> unit{};
    const double largest = 2 * digits * splitting_;
    for (int axis = 0; axis < 3; ++axis) {
      unit[axis] = 2 * std::numbers::pi / box_[axis];
      most[static_cast<std::size_t>(axis)] = static_cast<int>(largest / unit[axis]);
    }
    const double scale = 6 * std::numbers::pi * radius_ / (box_[0] * box_[1] * box_[2]);
    for_each_point(most, unit, [&](const vec<double, 3>& k) {
      const double square = squared_norm(k);
      if (square == 0 || square > largest * largest) return;
      const double weight = scale * factor(std::sqrt(square)) / square;
      for (int axis = 0; axis < 3; ++axis) sum[axis] += weight * (1 - k[axis] * k[axis] / square);
    });
    return sum;
  }

 private:
  static constexpr double digits = 6;  ///< exp(-digits^2) is below rounding
  struct node {
    double k, weight;
  };

  template <typename F>
  static void for_each_point(const std::array<int, 3>& most, const vec<double, 3>& spacing, const F& f) {
    for (int x = -most[0]; x <= most[0]; ++x) {
      for (int y = -most[1]; y <= most[1]; ++y) {
        for (int z = -most[2]; z <= most[2]; ++z) f(vec<double, 3>{x * spacing[0], y * spacing[1], z * spacing[2]});
      }
    }
  }

  [[nodiscard]] static double sinc(double x) { return std::fabs(x) < 1e-4 ? 1 - x * x / 6 : std::sin(x) / x; }
  /// j_1(x) / x
  [[nodiscard]] static double bessel_ratio(double x) {
    if (x > 1) return (std::sin(x) / x - std::cos(x)) / (x * x);
    double term = 1.0 / 3, sum = 0;
    for (int n = 1; n < 14; ++n) {
      sum += term;
      term *= -x * x / (2 * n * (2 * n + 3));
    }
    return sum;
  }
  [[nodiscard]] double factor(double k) const {
    const double u = k * k / (4 * splitting_ * splitting_), s = sinc(k * radius_);
    return s * s * (1 + u) * std::exp(-u);
  }

  void add_near(const vec<double, 3>& image, double square, vec<double, 3>& sum) const {
    const double r = std::sqrt(square), x = radius_ / r;
    const bool overlaps = r <= 2 * radius_;
    double across = overlaps ? 1 - 9 * r / (32 * radius_) : 0.75 * x + 0.5 * x * x * x;
    double along = overlaps ? 1 - 3 * r / (16 * radius_) : 1.5 * x - x * x * x;
    for (const node& one : nodes_) {
      const double ratio = bessel_ratio(one.k * r);
      across -= one.weight * (sinc(one.k * r) - ratio);
      along -= one.weight * 2 * ratio;
    }
    for (int axis = 0; axis < 3; ++axis) {
      const double part = square > 0 ? image[axis] * image[axis] / square : 0;
      sum[axis] += across * (1 - part) + along * part;
    }
  }

  vec<double, 3> box_;
  double radius_, splitting_;
  double cutoff_ = 0;
  std::vector<node> nodes_;
};

}  // namespace

vec<double, 3> periodic_self_mobility(const vec<double, 3>& box, double radius, double viscosity) {
  for (int axis = 0; axis < 3; ++axis) detail::require_positive("extent of the box", box[axis]);
  detail::require_positive("radius", radius);
  detail::require_positive("viscosity", viscosity);
  const double longest = std::max({box[0], box[1], box[2]}), shortest = std::min({box[0], box[1], box[2]});
  require(longest <= 1000 * shortest, "the box is ", longest, " long and ", shortest,
          " wide; at most 1000 times as long as wide is possible");
  require(radius <= 10 * shortest, "the radius ", radius, " is more than 10 times the extent ", shortest,
          " of the box");
  return self_mobility_sum(box, radius).total() * (1 / (6 * std::numbers::pi * viscosity * radius));
}

}  // namespace quadrat
