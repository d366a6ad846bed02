// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <string>

#include "mesh/window_fit.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// Rounding of weights, sums and the fast transform, in units of the rounding of T. Errors add like random numbers.
constexpr double rounding_steps = 3;

template <typename T>
[[nodiscard]] double weight_of(const mesh_window<T>& window, int j, double s) {
  double w = 0;
  for (int d = window.terms - 1; d >= 0; --d) w = w * s + static_cast<double>(window.coefficient[d][j]);
  return w;
}

/// The square root of the integral of the window's square: the size of the mesh values of one point.
template <typename T>
[[nodiscard]] double norm_of(const mesh_window<T>& window) {
  double sum = 0;
  for (const quadrature_node& node : gauss_legendre(mesh_window<T>::most_terms)) {
    for (int j = 0; j < window.width; ++j) {
      const double w = weight_of(window, j, node.place);
      sum += node.weight * w * w;
    }
  }
  return std::sqrt(sum);
}

/// One more mesh point of a window, at this many mesh points per mode, divides its error by about exp of this.
[[nodiscard]] double decay(double ratio) { return std::numbers::pi * std::sqrt(1 - 1 / ratio); }

/// The narrowest window for one oversampling that reaches the tolerance, at least `width` wide; if none does, the most
/// accurate one. `ratio`: mesh points per mode.
template <typename T>
[[nodiscard]] transform_window<T> narrowest_window(window_request request, double oversampling, double ratio,
                                                   int width) {
  request.oversampling = ratio;
  const bool spline = request.shape == window_shape::bspline;
  const int most = spline ? mesh_window<T>::most_fixed_width : mesh_window<T>::most_width;
  transform_window<T> best{};
  best.error = std::numeric_limits<double>::infinity();
  for (; width <= most; ++width) {
    // No window is much better than this, so the search starts at the first width that may succeed.
    const double least = 0.05 * std::exp(-width * decay(ratio));
    if (!spline && least > request.tolerance && width < most / 2) continue;
    const auto window = window_of_width<T>(request, width);
    const double error = transform_error(window, 0.5 / ratio, request.dimension);
    if (error < best.error) best = {window, oversampling, error};
    if (best.error <= request.tolerance) break;
  }
  return best;
}

/// The weights of a point at `count` + 1 places, from a mesh point to the middle between two, [place][mesh point].
template <typename T>
[[nodiscard]] std::vector<double> weights_at_places(const mesh_window<T>& window, int count) {
  std::vector<double> weights;
  for (int i = 0; i <= count; ++i) {
    for (int j = 0; j < window.width; ++j) weights.push_back(weight_of(window, j, 0.5 * i / count));
  }
  return weights;
}

/// A number with two digits, rounded up.
[[nodiscard]] double two_digits_up(double x) {
  const int exponent = static_cast<int>(std::floor(std::log10(x))) - 1;
  const std::string text = message(std::ceil(x / std::pow(10.0, exponent)), "e", exponent);
  return std::strtod(text.c_str(), nullptr);
}

}  // namespace

template <typename T>
window_limits limits_of(const mesh_window<T>& window, double frequency, int dimension) {
  constexpr int places = 48;
  // The transform of a window has a zero about every 1 / width periods per mesh unit, and the deviation is largest
  // between two of them near the highest frequency, or at it: steps are small up to 1.5 / width below that.
  constexpr double step = 0.01;
  constexpr int dense = 150, skipped = 10;
  constexpr double between = 1.01;  // factor by which the deviation may exceed the largest one found
  const int width = window.width, frequencies = static_cast<int>(std::ceil(frequency * width / step));
  const std::vector<double> weights = weights_at_places(window, places);
  const std::vector<double> transforms = window.transforms(frequencies + 1, frequencies / frequency);
  std::vector<std::complex<double>> turn(static_cast<std::size_t>(width));
  double square = 0;  // square of the largest deviation
  for (int f = frequencies; f >= 0; f -= f > frequencies - dense ? 1 : skipped) {
    const double here = 2 * std::numbers::pi * frequency * f / frequencies;
    const double wanted = transforms[static_cast<std::size_t>(f)];
    for (int j = 0; j < width; ++j) turn[static_cast<std::size_t>(j)] = std::polar(1.0, here * (0.5 * width - 0.5 - j));
    const double* w = weights.data();
    for (int i = 0; i <= places; ++i) {
      std::complex<double> sum = -wanted * std::polar(1.0, -here * 0.5 * i / places);
      for (const auto& one : turn) sum += *w++ * one;
      square = std::max(square, std::norm(sum) / (wanted * wanted));
    }
  }
  const double edge = std::fabs(transforms.back()), ratio = std::fabs(transforms.front()) / edge;
  return {std::expm1(dimension * std::log1p(between * std::sqrt(square))),
          std::pow(std::max(norm_of(window) / edge, 1.0), dimension), std::pow(ratio, dimension)};
}

template <typename T>
double rounding_error(double growth) {
  return rounding_steps * static_cast<double>(std::numeric_limits<T>::epsilon()) * growth;
}

template <typename T>
double transform_error(const mesh_window<T>& window, double frequency, int dimension) {
  const window_limits limits = limits_of(window, frequency, dimension);
  return limits.alias + rounding_error<T>(limits.growth);
}

template <typename T>
mesh_window<T> window_of_width(const window_request& request, int width) {
  // The error of the fit is divided by the transform of the window at the highest mode, compared to that at mode 0.
  const double band = std::numbers::pi * width * (1 - 0.5 / request.oversampling);
  const double edge = 1 / (2 * request.oversampling - 1);
  const bool spline = request.shape == window_shape::bspline;
  const double fall = spline ? 1 : std::exp(-band * (1 - std::sqrt(1 - edge * edge)));
  return named_window<T>(request.shape, width, request.oversampling, 0.01 * fall * request.tolerance);
}

template <typename T>
std::vector<transform_window<T>> transform_windows(const window_request& request) {
  // For 2^k modes these give meshes with 2, 15/8, 225/128, 27/16, 25/16, 3/2, 45/32 and 5/4 times as many points.
  std::vector<double> considered{2, 1.875, 1.75, 1.68, 1.56, 1.5, 1.4, 1.25};
  if (request.oversampling != 0) considered = {request.oversampling};
  std::vector<transform_window<T>> windows;
  double least = std::numeric_limits<double>::infinity(), last = 0;
  for (const double oversampling : considered) {
    const double ratio = request.ratio ? request.ratio(oversampling) : oversampling;
    int narrowest = 2;
    if (!windows.empty()) {
      // Estimates the error of a window as wide as the last one by the law of decay.
      narrowest = windows.back().window.width;
      const double expected = windows.back().error * std::exp(narrowest * (decay(last) - decay(ratio)));
      if (expected > 3 * request.tolerance) ++narrowest;
    }
    const auto window = narrowest_window<T>(request, oversampling, ratio, narrowest);
    last = ratio;
    least = std::min(least, window.error);
    if (window.error > request.tolerance) break;  // with fewer mesh points no window is better
    // For the same window the smaller mesh is faster.
    if (!windows.empty() && windows.back().window.width == window.window.width) windows.pop_back();
    windows.push_back(window);
  }
  require(!windows.empty(), "a tolerance of ", request.tolerance, " cannot be reached in ",
          sizeof(T) == 4 ? "single" : "double", " precision, ", request.dimension, " dimensions",
          request.oversampling != 0 ? message(" and with ", request.oversampling, " mesh points per mode") : "", "; ",
          two_digits_up(least), " can");
  return windows;
}

template window_limits limits_of(const mesh_window<float>&, double, int);
template window_limits limits_of(const mesh_window<double>&, double, int);
template double rounding_error<float>(double);
template double rounding_error<double>(double);
template double transform_error(const mesh_window<float>&, double, int);
template double transform_error(const mesh_window<double>&, double, int);
template mesh_window<float> window_of_width(const window_request&, int);
template mesh_window<double> window_of_width(const window_request&, int);
template std::vector<transform_window<float>> transform_windows(const window_request&);
template std::vector<transform_window<double>> transform_windows(const window_request&);

}  // namespace quadrat::detail
