// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "reference/ewald.hpp"

// Mobility of equal spheres after Rotne, Prager (1969) and Yamakawa (1970), in free space and in periodic boxes, by
// plain loops over images and modes in double precision, to about 1e-14 of the mobility of one sphere.

namespace quadrat::reference {

/// The two scalars of a tensor across (I - rr) + along rr, r a unit vector.
struct mobility_scalars {
  double across = 0, along = 0;
};

struct mobility_system {
  vector3 box{};  ///< extents
  double radius = 1;
  double viscosity = 1;
  std::vector<vector3> points{};

  /// Of one sphere in free space.
  [[nodiscard]] double single() const { return 1 / (6 * std::numbers::pi * viscosity * radius); }
};

/// In free space at distance r, in units of the mobility of one sphere; also for overlapping spheres.
[[nodiscard]] inline mobility_scalars free_mobility(double r, double a) {
  if (r <= 2 * a) return {1 - 9 * r / (32 * a), 1 - 3 * r / (16 * a)};
  const double x = a / r;
  return {0.75 * x + 0.5 * x * x * x, 1.5 * x - x * x * x};
}

/// j_1(x) / x, without cancellation.
[[nodiscard]] inline double bessel_ratio(double x) {
  if (std::fabs(x) > 1) return (std::sin(x) / x - std::cos(x)) / (x * x);
  double term = 1.0 / 3, sum = 0;
  for (int n = 1; n < 14; ++n) {
    sum += term;
    term *= -x * x / (2 * n * (2 * n + 3));
  }
  return sum;
}

[[nodiscard]] inline double sinc(double x) { return std::fabs(x) < 1e-4 ? 1 - x * x / 6 : std::sin(x) / x; }

/// The transform's factor of the wave part, after Hasimoto (1959).
[[nodiscard]] inline double hasimoto_factor(double k, double splitting) {
  const double u = k * k / (4 * splitting * splitting);
  return (1 + u) * std::exp(-u);
}

/// Sums with one splitting, for one box and radius.
class mobility_sum {
 public:
  /// splitting: an inverse length; 0: one with which both parts take about the same time.
  explicit mobility_sum(const mobility_system& system, double splitting = 0)
      : box_(system.box), radius_(system.radius), single_(system.single()) {
    const double shortest = std::min({box_[0], box_[1], box_[2]});
    splitting_ = splitting > 0 ? splitting : 3.5 / shortest;
    cutoff_ = 2 * radius_ + digits / splitting_;
    // The trapezoidal rule is exact up to the overlap of the functions' repetitions at distance 2 pi / spacing.
    spacing_ = 2 * std::numbers::pi / (cutoff_ + 2 * radius_ + digits / splitting_);
    for (int n = 0; n * spacing_ < 2 * digits * splitting_; ++n) {
      const double k = n * spacing_;
      const double s = sinc(k * radius_);
      nodes_.push_back({k, (k > 0 ? 1 : 0.5) * spacing_ * s * s * hasimoto_factor(k, splitting_)});
    }
    add_modes(system);
  }

  /// The tensor of two spheres at separation d, row by row; of one sphere on itself at d = 0.
  [[nodiscard]] std::array<double, 9> tensor(const vector3& d) const {
    std::array<double, 9> sum{};
    std::array<int, 3> first{}, last{};
    for (std::size_t k = 0; k < 3; ++k) {
      first[k] = static_cast<int>(std::floor((-d[k] - cutoff_) / box_[k]));
      last[k] = static_cast<int>(std::ceil((-d[k] + cutoff_) / box_[k]));
    }
    for (int x = first[0]; x <= last[0]; ++x) {
      for (int y = first[1]; y <= last[1]; ++y) {
        for (int z = first[2]; z <= last[2]; ++z) {
          add_near({d[0] + x * box_[0], d[1] + y * box_[1], d[2] + z * box_[2]}, sum);
        }
      }
    }
    for (const mode& one : modes_) {
      const double wave = one.factor * std::cos(dot3(one.k, d));
      const double square = dot3(one.k, one.k);
      for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = 0; b < 3; ++b) sum[3 * a + b] += wave * ((a == b ? 1 : 0) - one.k[a] * one.k[b] / square);
      }
    }
    return sum;
  }

  /// The near part at distance r: the tensor in free space without its wave part, in units of `single`.
  [[nodiscard]] mobility_scalars near(double r) const {
    mobility_scalars result = free_mobility(r, radius_);
    const double scale = 3 * radius_ / std::numbers::pi;
    for (const node& one : nodes_) {
      const double x = one.k * r, ratio = bessel_ratio(x);
      result.across -= scale * one.weight * (sinc(x) - ratio);
      result.along -= scale * one.weight * 2 * ratio;
    }
    return result;
  }

  [[nodiscard]] double splitting() const { return splitting_; }

 private:
  static constexpr double digits = 6.2;  ///< exp(-digits^2) is 2e-17
  struct node {
    double k, weight;
  };
  struct mode {
    vector3 k;
    double factor;
  };

  void add_near(const vector3& d, std::array<double, 9>& sum) const {
    const double square = dot3(d, d);
    if (square > cutoff_ * cutoff_) return;
    const double r = std::sqrt(square);
    const mobility_scalars pair = near(r);
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 3; ++b) {
        const double along = r > 0 ? d[a] * d[b] / square : 0;
        sum[3 * a + b] += single_ * (pair.across * ((a == b ? 1 : 0) - along) + pair.along * along);
      }
    }
  }

  /// One of each pair k, -k, with both their weights.
  void add_modes(const mobility_system& system) {
    const double largest = 2 * digits * splitting_, volume = box_[0] * box_[1] * box_[2];
    std::array<int, 3> most{};
    vector3 unit{};
    for (std::size_t a = 0; a < 3; ++a) {
      unit[a] = 2 * std::numbers::pi / box_[a];
      most[a] = static_cast<int>(largest / unit[a]);
    }
    for (int x = 0; x <= most[0]; ++x) {
      for (int y = x == 0 ? 0 : -most[1]; y <= most[1]; ++y) {
        for (int z = x == 0 && y == 0 ? 1 : -most[2]; z <= most[2]; ++z) {
          const vector3 k{x * unit[0], y * unit[1], z * unit[2]};
          const double square = dot3(k, k), length = std::sqrt(square);
          if (length > largest) continue;
          const double s = sinc(length * radius_);
          modes_.push_back({k, 2 * s * s * hasimoto_factor(length, splitting_) / (square * volume * system.viscosity)});
        }
      }
    }
  }

  vector3 box_;
  double radius_, single_;
  double splitting_ = 0, cutoff_ = 0, spacing_ = 0;
  std::vector<node> nodes_;
  std::vector<mode> modes_;
};

/// The matrix of 3 N x 3 N numbers, row by row: velocities from forces, both as x, y, z of one sphere after the other.
[[nodiscard]] inline std::vector<double> mobility_matrix(const mobility_system& system, double splitting = 0) {
  const mobility_sum sum(system, splitting);
  const std::size_t count = system.points.size(), width = 3 * count;
  std::vector<double> matrix(width * width);
  const std::array<double, 9> self = sum.tensor({});
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      vector3 d{};
      for (std::size_t a = 0; a < 3; ++a) d[a] = system.points[i][a] - system.points[j][a];
      const std::array<double, 9> pair = i == j ? self : sum.tensor(d);
      for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = 0; b < 3; ++b) {
          matrix[(3 * i + a) * width + 3 * j + b] = pair[3 * a + b];
          matrix[(3 * j + b) * width + 3 * i + a] = pair[3 * a + b];
        }
      }
    }
  }
  return matrix;
}

/// matrix x vector, of as many numbers as the matrix has rows.
[[nodiscard]] inline std::vector<double> product(const std::vector<double>& matrix, const std::vector<double>& vector) {
  const std::size_t width = vector.size();
  std::vector<double> result(width);
  for (std::size_t row = 0; row < width; ++row) {
    for (std::size_t column = 0; column < width; ++column) result[row] += matrix[row * width + column] * vector[column];
  }
  return result;
}

/// The lower triangular factor C of matrix = C C^T. Throws std::domain_error unless the matrix is positive definite.
[[nodiscard]] inline std::vector<double> cholesky_factor(const std::vector<double>& matrix, std::size_t width) {
  std::vector<double> factor(width * width);
  for (std::size_t row = 0; row < width; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      double rest = matrix[row * width + column];
      for (std::size_t k = 0; k < column; ++k) rest -= factor[row * width + k] * factor[column * width + k];
      if (row == column) {
        if (!(rest > 0)) throw std::domain_error("the matrix is not positive definite");
        factor[row * width + row] = std::sqrt(rest);
      } else {
        factor[row * width + column] = rest / factor[column * width + column];
      }
    }
  }
  return factor;
}

/// The mobility of one sphere in a periodic cube, in units of that in free space: exact for this tensor.
[[nodiscard]] inline double self_mobility_in_cube(double radius, double edge) {
  const double x = radius / edge;
  return 1 - 2.8372974794806 * x + 4 * std::numbers::pi / 3 * x * x * x;
}

}  // namespace quadrat::reference
