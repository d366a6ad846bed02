// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <numbers>
#include <string_view>
#include <utility>

#include "mesh/window_fit.hpp"
#include "quadrat/mesh/window.hpp"

namespace quadrat {

namespace {

using detail::prolate_function;

[[nodiscard]] std::string_view name_of(window_shape shape) {
  constexpr std::string_view names[] = {"B-spline", "prolate window", "Kaiser-Bessel window",
                                        "exponential of a semicircle"};
  return names[static_cast<int>(shape)];
}

/// The modified Bessel function of the first kind of order 0, by its power series: all terms are positive.
[[nodiscard]] double bessel_i0(double x) {
  const long double square = 0.25L * x * x;
  long double term = 1, sum = 1;
  for (int k = 1; term > 1e-20L * sum; ++k) {
    term *= square / (static_cast<long double>(k) * k);
    sum += term;
  }
  return static_cast<double>(sum);
}

/// The number of coefficients with which each piece of `shape` is accurate to `limit`, at most mesh_window::most_terms:
/// the sum of the Chebyshev coefficients left out is a bound of the error.
template <typename Shape>
[[nodiscard]] int terms_for(int width, double limit, const Shape& shape) {
  constexpr int most = mesh_window<double>::most_terms;
  constexpr int samples = most + 8;
  double tail[most + 1] = {};
  for (int j = 0; j < (width + 1) / 2; ++j) {
    double values[samples];
    for (int i = 0; i < samples; ++i) values[i] = shape(detail::fit_point(i, samples) + 0.5 * width - 0.5 - j);
    double sum = 0;
    for (int k = samples - 1; k >= 1; --k) {
      double coefficient = 0;
      for (int i = 0; i < samples; ++i) {
        coefficient += 2.0 / samples * values[i] * std::cos(std::numbers::pi * k * (i + 0.5) / samples);
      }
      sum += std::fabs(coefficient);
      if (k <= most) tail[k] = std::max(tail[k], sum);
    }
  }
  int terms = 1;
  while (terms < most && tail[terms] > limit) ++terms;
  return terms;
}

/// Makes the pieces mirror images of each other, exactly.
template <typename T>
void mirror(mesh_window<T>& window) {
  const int width = window.width;
  for (int d = 0; d < window.terms; ++d) {
    for (int j = 0; j < (width + 1) / 2; ++j) {
      T& own = window.coefficient[d][j];
      if (2 * j == width - 1 && d % 2 == 1) own = T(0);
      window.coefficient[d][width - 1 - j] = d % 2 == 0 ? own : -own;
    }
  }
  window.symmetric = true;
}

template <typename T, typename Shape>
[[nodiscard]] mesh_window<T> fitted_even(int width, double limit, const Shape& shape) {
  mesh_window<T> window = fitted_window<T>(width, terms_for(width, limit, shape), shape);
  mirror(window);
  return window;
}

}  // namespace

namespace detail {

template <typename T>
mesh_window<T> prolate_window(int width, double band, double accuracy) {
  const prolate_function prolate(band);
  const double limit = std::max(0.25 * static_cast<double>(std::numeric_limits<T>::epsilon()), accuracy);
  return fitted_even<T>(width, limit, [&](double x) { return prolate(2 * x / width); });
}

template mesh_window<float> prolate_window(int, double, double);
template mesh_window<double> prolate_window(int, double, double);

double prolate_part(int width) {
  constexpr double narrow[] = {0.94, 0.97, 0.944, 0.98, 0.993, 0.987, 0.992};
  return width < 9 ? narrow[width - 2] : 0.996;
}

template <typename T>
mesh_window<T> named_window(window_shape shape, int width, double oversampling, double accuracy) {
  if (shape == window_shape::bspline) return bspline_window<T>(width);
  constexpr int most = mesh_window<T>::most_width;
  require(width >= 2 && width <= most, "the width of a ", name_of(shape), " is ", width, "; 2 to ", most,
          " are possible");
  require(oversampling > 1 && oversampling <= 8, "the oversampling is ", oversampling, "; above 1 to 8 is possible");
  // The band ends slightly before the nearest alias. The error beyond the band then balances the jump at the edge.
  // These factors nearly minimize the maximal error for oversampling by 1.25 and 2, those of prolate windows also for
  // 1.5.
  const bool prolate = shape == window_shape::prolate;
  const double part = prolate ? prolate_part(width) : std::min(0.98, 0.88 + 0.014 * width);
  const double band = part * std::numbers::pi * width * (1 - 0.5 / oversampling);
  const double half = 0.5 * width;
  const double limit = std::max(0.25 * static_cast<double>(std::numeric_limits<T>::epsilon()), accuracy);
  const auto root = [=](double x) { return std::sqrt(std::max(0.0, 1 - x * x / (half * half))); };
  if (prolate) return prolate_window<T>(width, band, accuracy);
  if (shape == window_shape::kaiser_bessel) {
    const double peak = bessel_i0(band);
    return fitted_even<T>(width, limit, [=](double x) { return bessel_i0(band * root(x)) / peak; });
  }
  return fitted_even<T>(width, std::max(limit, std::exp(-band)),
                        [=](double x) { return std::exp(band * (root(x) - 1)); });
}

template mesh_window<float> named_window(window_shape, int, double, double);
template mesh_window<double> named_window(window_shape, int, double, double);

prolate_function::prolate_function(double band) {
  // The normalized Legendre coefficients of even order are the eigenvector of the least eigenvalue of a symmetric
  // tridiagonal matrix (Xiao, Rokhlin and Yarvin 2001, section 4); inverse iteration gains a factor of five a step.
  const int size = 24 + static_cast<int>(band);
  const long double square = static_cast<long double>(band) * band;
  std::vector<long double> diagonal, beside, v(static_cast<std::size_t>(size), 1.0L);
  for (int i = 0; i < size; ++i) {
    const long double k = 2 * i;
    diagonal.push_back(k * (k + 1) + (2 * k * (k + 1) - 1) / ((2 * k + 3) * (2 * k - 1)) * square);
    beside.push_back((k + 2) * (k + 1) / ((2 * k + 3) * std::sqrt((2 * k + 1) * (2 * k + 5))) * square);
  }
  const auto last = static_cast<std::size_t>(size) - 1;
  std::vector<long double> pivot(diagonal);
  for (std::size_t i = 1; i <= last; ++i) pivot[i] -= beside[i - 1] * beside[i - 1] / pivot[i - 1];
  for (int step = 0; step < 40; ++step) {
    for (std::size_t i = 1; i <= last; ++i) v[i] -= beside[i - 1] / pivot[i - 1] * v[i - 1];
    v[last] /= pivot[last];
    for (std::size_t i = last; i-- > 0;) v[i] = (v[i] - beside[i] * v[i + 1]) / pivot[i];
    long double norm = 0;
    for (const long double x : v) norm += x * x;
    for (long double& x : v) x /= std::sqrt(norm);
  }
  for (std::size_t i = 0; i <= last; ++i) v[i] *= std::sqrt(2.0L * static_cast<long double>(i) + 0.5L);
  coefficients_ = std::move(v);
  const long double peak = sum(0);
  for (long double& x : coefficients_) x /= peak;
}

long double prolate_function::sum(long double x) const {
  long double before = 1, here = x, total = coefficients_[0];
  for (std::size_t i = 1; i < coefficients_.size(); ++i) {
    for (std::size_t k = 2 * i; k <= 2 * i + 1; ++k) {
      const auto n = static_cast<long double>(k);
      const long double next = ((2 * n - 1) * x * here - (n - 1) * before) / n;
      before = here;
      here = next;
    }
    total += coefficients_[i] * before;
  }
  return total;
}

double prolate_function::slope(double x) const {
  // P'_(n + 1) = P'_(n - 1) + (2 n + 1) P_n.
  long double before = 1, here = x, slope = 0, total = 0;
  for (std::size_t i = 1; i < coefficients_.size(); ++i) {
    for (std::size_t k = 2 * i; k <= 2 * i + 1; ++k) {
      const auto n = static_cast<long double>(k);
      if (k == 2 * i) slope += (2 * n - 1) * here;
      const long double next = ((2 * n - 1) * x * here - (n - 1) * before) / n;
      before = here;
      here = next;
    }
    total += coefficients_[i] * slope;
  }
  return static_cast<double>(total);
}

std::vector<quadrature_node> gauss_legendre(int count) {
  std::vector<quadrature_node> nodes;
  for (int i = 0; i < count; ++i) {
    // Newton's method from an estimate of the root of the Legendre polynomial.
    long double x = std::cos(std::numbers::pi_v<long double> * (i + 0.75L) / (count + 0.5L)), slope = 1;
    for (int step = 0; step < 8; ++step) {
      long double before = 1, here = x;
      for (int n = 2; n <= count; ++n) {
        const long double next = ((2 * n - 1) * x * here - (n - 1) * before) / n;
        before = here;
        here = next;
      }
      slope = count * (x * here - before) / (x * x - 1);
      x -= here / slope;
    }
    nodes.push_back({static_cast<double>(x / 2), static_cast<double>(1 / ((1 - x * x) * slope * slope))});
  }
  return nodes;
}

template <typename T>
std::vector<quadrature_node> transform_nodes(const mesh_window<T>& window, double frequency) {
  // The polynomials have up to 20 terms, and the cosine turns by pi times the frequency over half a piece.
  const int count = 20 + 2 * static_cast<int>(std::ceil(2 * std::fabs(frequency)));
  const auto value = [&](int j, double s) {
    double w = 0;
    for (int d = window.terms - 1; d >= 0; --d) w = w * s + static_cast<double>(window.coefficient[d][j]);
    return w;
  };
  std::vector<quadrature_node> nodes;
  for (const quadrature_node& node : gauss_legendre(count)) {
    for (int j = 0; j < window.width; ++j) {
      const double x = node.place + 0.5 * window.width - 0.5 - j;
      // The nodes are symmetric and none is at 0, so positive nodes represent their mirror images, too.
      if (x > 0) nodes.push_back({x, node.weight * (value(j, node.place) + value(window.width - 1 - j, -node.place))});
    }
  }
  return nodes;
}

template std::vector<quadrature_node> transform_nodes(const mesh_window<float>&, double);
template std::vector<quadrature_node> transform_nodes(const mesh_window<double>&, double);

}  // namespace detail

template <typename T>
mesh_window<T> named_window(window_shape shape, int width, double oversampling) {
  return detail::named_window<T>(shape, width, oversampling, 0);
}

template <typename T>
double mesh_window<T>::transform(double mode, double points) const {
  const double frequency = mode / points;
  double sum = 0;
  for (const detail::quadrature_node& node : detail::transform_nodes(*this, frequency)) {
    sum += node.weight * std::cos(2 * std::numbers::pi * frequency * node.place);
  }
  return sum;
}

template <typename T>
std::vector<double> mesh_window<T>::transforms(int count, double points) const {
  require(count >= 0, "transforms of ", count, " modes were asked for; 0 or more are possible");
  constexpr int block = 64;  // modes with cosines by recurrence, to a few units of rounding
  const auto nodes = detail::transform_nodes(*this, count / points);
  std::vector<double> result(static_cast<std::size_t>(count), 0.0);
  std::vector<double> cosine(nodes.size()), sine(nodes.size()), turn(nodes.size()), lift(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    turn[i] = std::cos(2 * std::numbers::pi / points * nodes[i].place);
    lift[i] = std::sin(2 * std::numbers::pi / points * nodes[i].place);
  }
  for (int mode = 0; mode < count; ++mode) {
    double sum = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (mode % block == 0) {
        const double angle = 2 * std::numbers::pi * (mode / points) * nodes[i].place;
        cosine[i] = std::cos(angle);
        sine[i] = std::sin(angle);
      }
      sum += nodes[i].weight * cosine[i];
      const double next = cosine[i] * turn[i] - sine[i] * lift[i];
      sine[i] = sine[i] * turn[i] + cosine[i] * lift[i];
      cosine[i] = next;
    }
    result[static_cast<std::size_t>(mode)] = sum;
  }
  return result;
}

template mesh_window<float> named_window(window_shape, int, double);
template mesh_window<double> named_window(window_shape, int, double);
template double mesh_window<float>::transform(double, double) const;
template double mesh_window<double>::transform(double, double) const;
template std::vector<double> mesh_window<float>::transforms(int, double) const;
template std::vector<double> mesh_window<double>::transforms(int, double) const;

}  // namespace quadrat
