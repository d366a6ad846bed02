// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/direct.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "harness/session.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::bench {

namespace {

/// exp(i k . x). The rounding error of the products is corrected to first order, since k . x may be millions.
std::complex<double> wave(const std::array<double, 3>& k, const std::array<double, 3>& x) {
  double angle = 0, rest = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const double product = k[d] * x[d], sum = angle + product, back = sum - angle;
    rest += std::fma(k[d], x[d], -product) + (angle - (sum - back)) + (product - back);
    angle = sum;
  }
  const double c = std::cos(angle), s = std::sin(angle);
  return {c - rest * s, s + rest * c};
}

/// The sum of term(i) over all i < n.
template <typename F>
std::complex<double> total(std::size_t n, const F& term) {
  double re = 0, im = 0;
#pragma omp parallel for schedule(static) reduction(+ : re, im)
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(n); ++i) {
    const std::complex<double> one = term(static_cast<std::size_t>(i));
    re += one.real();
    im += one.imag();
  }
  return {re, im};
}

template <typename T>
std::complex<double> complex_at(const std::vector<T>& numbers, std::size_t i) {
  return {static_cast<double>(numbers[2 * i]), static_cast<double>(numbers[2 * i + 1])};
}

std::array<double, 3> times(double factor, const std::array<double, 3>& k) {
  return {factor * k[0], factor * k[1], factor * k[2]};
}

}  // namespace

std::size_t mode_cube::size() const {
  const auto extent = static_cast<std::size_t>(modes);
  std::size_t count = real ? extent / 2 + 1 : extent;
  for (int d = 1; d < dimension; ++d) count *= extent;
  return count;
}

std::array<double, 3> mode_cube::at(std::size_t i) const {
  const auto extent = static_cast<std::size_t>(modes);
  std::array<double, 3> k{};
  for (int d = dimension - 1; d >= 0; --d) {
    const bool half = real && d == dimension - 1;
    const std::size_t here = half ? extent / 2 + 1 : extent;
    k[static_cast<std::size_t>(d)] = static_cast<double>(i % here) - (half ? 0 : modes / 2);
    i /= here;
  }
  return k;
}

double mode_cube::weight(std::size_t i) const {
  if (!real) return 1;
  const double last = at(i)[static_cast<std::size_t>(dimension - 1)];
  return last == 0 || 2 * last == modes ? 1 : 2;
}

template <typename T>
std::complex<double> direct_type_1(const places<T>& points, const std::vector<T>& values, int parts,
                                   const std::array<double, 3>& k, int sign) {
  const auto signed_k = times(sign, k);
  return total(points.size(), [&](std::size_t j) {
    const auto turned = wave(signed_k, points.at(j));
    return parts == 1 ? static_cast<double>(values[j]) * turned : complex_at(values, j) * turned;
  });
}

template <typename T>
std::complex<double> direct_type_2(const mode_cube& cube, const std::vector<T>& modes, const std::array<double, 3>& x,
                                   int sign) {
  const auto signed_x = times(sign, x);
  const auto sum = total(
      cube.size(), [&](std::size_t i) { return cube.weight(i) * complex_at(modes, i) * wave(cube.at(i), signed_x); });
  return cube.real ? std::complex<double>(sum.real(), 0) : sum;
}

double sampled_results::deviation(double tolerance, int modes) const {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    error += std::norm(found[i] - expected[i]);
    norm += std::norm(expected[i]);
  }
  const double relative = std::sqrt(error / norm);
  const double allowed = 3 * tolerance + 4 * modes * std::numeric_limits<double>::epsilon();
  if (!(relative <= allowed)) {
    throw disagreement(
        message("the relative l2 error of ", expected.size(), " results is ", relative, "; ", allowed, " is allowed"));
  }
  return relative;
}

template std::complex<double> direct_type_1(const places<float>&, const std::vector<float>&, int,
                                            const std::array<double, 3>&, int);
template std::complex<double> direct_type_1(const places<double>&, const std::vector<double>&, int,
                                            const std::array<double, 3>&, int);
template std::complex<double> direct_type_2(const mode_cube&, const std::vector<float>&, const std::array<double, 3>&,
                                            int);
template std::complex<double> direct_type_2(const mode_cube&, const std::vector<double>&, const std::array<double, 3>&,
                                            int);

}  // namespace quadrat::bench
