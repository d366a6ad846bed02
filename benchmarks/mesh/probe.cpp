// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/probe.hpp"

#include <cmath>
#include <cstdint>

#include "harness/points.hpp"
#include "harness/session.hpp"

namespace quadrat::bench {

mesh_probe::mesh_probe(int extent, int order) : extent_(extent), window_(bspline_window<double>(order)) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (int i = 0; i < extent; ++i) {
      factor_[axis].push_back(0.5 + random_unit(41 + axis, static_cast<std::uint64_t>(i)));
    }
  }
}

/// Sum of the window's weights times the factors; or its derivative per mesh unit.
double mesh_probe::along(int axis, double place, bool derivative) const {
  const std::vector<double>& factor = factor_[static_cast<std::size_t>(axis)];
  const double shifted = place - 0.5 * window_.width;
  const double floor = std::floor(shifted);
  const double s = shifted - floor - 0.5;
  const int first = static_cast<int>(floor) + 1;
  double sum = 0;
  for (int j = 0; j < window_.width; ++j) {
    double weight = 0;
    for (int d = window_.terms - 1; d >= (derivative ? 1 : 0); --d) {
      weight = weight * s + (derivative ? d : 1) * window_.coefficient[d][j];
    }
    const int i = ((first + j) % extent_ + extent_) % extent_;
    sum += weight * factor[static_cast<std::size_t>(i)];
  }
  return sum;
}

template <typename T>
std::vector<double> mesh_probe::at_points(const std::vector<T>& coordinates, int derived) const {
  std::vector<double> result(coordinates.size() / 3);
  const auto last = static_cast<std::int64_t>(result.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < last; ++i) {
    double product = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const auto x = static_cast<double>(coordinates[static_cast<std::size_t>(3 * i + axis)]);
      product *= along(axis, (x + 0.5) * extent_, axis == derived);
    }
    result[static_cast<std::size_t>(i)] = derived >= 0 ? product * extent_ : product;
  }
  return result;
}

template <typename T>
std::vector<T> mesh_probe::on_mesh(int components) const {
  const auto extent = static_cast<std::size_t>(extent_);
  const auto stride = static_cast<std::size_t>(components);
  std::vector<T> values(extent * extent * extent * stride);
#pragma omp parallel for schedule(static)
  for (std::int64_t line = 0; line < static_cast<std::int64_t>(extent * extent); ++line) {
    const auto r = static_cast<std::size_t>(line);
    const double rows = factor_[0][r / extent] * factor_[1][r % extent];
    for (std::size_t k = 0; k < extent; ++k) {
      for (std::size_t c = 0; c < stride; ++c) {
        const double part = c == 0 ? 1 : 0.5;
        values[(r * extent + k) * stride + c] = static_cast<T>(part * rows * factor_[2][k]);
      }
    }
  }
  return values;
}

template <typename T>
double mesh_probe::over_mesh(const std::vector<T>& values, int components, int component) const {
  const auto extent = static_cast<std::size_t>(extent_);
  const auto stride = static_cast<std::size_t>(components);
  double total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
  for (std::int64_t line = 0; line < static_cast<std::int64_t>(extent * extent); ++line) {
    const auto r = static_cast<std::size_t>(line);
    double sum = 0;
    for (std::size_t k = 0; k < extent; ++k) {
      const T value = values[(r * extent + k) * stride + static_cast<std::size_t>(component)];
      sum += static_cast<double>(value) * factor_[2][k];
    }
    total += sum * factor_[0][r / extent] * factor_[1][r % extent];
  }
  return total;
}

template <typename T>
probe_sum sum_over_points(const std::vector<T>& values, int stride, int component, const std::vector<double>& g,
                          std::size_t count) {
  double sum = 0;
  double squares = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum, squares)
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    const auto value = static_cast<double>(values[static_cast<std::size_t>(i * stride + component)]);
    const double term = value * g[static_cast<std::size_t>(i)];
    sum += term;
    squares += term * term;
  }
  return {sum, std::sqrt(squares)};
}

double require_agreement(double found, const probe_sum& expected, bool single_precision) {
  const double deviation = std::abs(found - expected.sum) / expected.norm;
  const double allowed = single_precision ? 1e-4 : 1e-11;
  if (!(deviation <= allowed)) {
    throw disagreement(message("the check sum is ", found, " where double precision gives ", expected.sum, ": ",
                               deviation, " of the root of the sum of squares; ", allowed, " is allowed"));
  }
  return deviation;
}

#define QUADRAT_INSTANTIATE(T)                                                          \
  template std::vector<double> mesh_probe::at_points(const std::vector<T>&, int) const; \
  template std::vector<T> mesh_probe::on_mesh<T>(int) const;                            \
  template double mesh_probe::over_mesh(const std::vector<T>&, int, int) const;         \
  template probe_sum sum_over_points(const std::vector<T>&, int, int, const std::vector<double>&, std::size_t);
QUADRAT_INSTANTIATE(float)
QUADRAT_INSTANTIATE(double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat::bench
