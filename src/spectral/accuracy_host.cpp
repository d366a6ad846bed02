// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <string>

#include "mesh/tiles/cuda/plan.hpp"
#include "mesh/window_fit.hpp"
#include "quadrat/core/error.hpp"
#include "tune/choice.hpp"

namespace quadrat::detail {

namespace {

/// Rounding of weights, sums and the fast transform, in units of the rounding of T: it adds up at random.
constexpr double rounding_steps = 3;

[[nodiscard]] double cosine_transform(const std::vector<quadrature_node>& nodes, double frequency) {
  double sum = 0;
  for (const quadrature_node& node : nodes) {
    sum += node.weight * std::cos(2 * std::numbers::pi * frequency * node.place);
  }
  return sum;
}

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

/// The narrowest window for one oversampling that reaches the tolerance; of none does, the most accurate one.
template <typename T>
[[nodiscard]] transform_window<T> narrowest_window(window_request request, double oversampling) {
  request.oversampling = oversampling;
  const bool spline = request.shape == window_shape::bspline;
  const int most = spline ? mesh_window<T>::most_fixed_width : mesh_window<T>::most_width;
  transform_window<T> best{};
  best.error = std::numeric_limits<double>::infinity();
  for (int width = 2; width <= most; ++width) {
    // No window is better than this by far: the search begins where it may succeed.
    const double least = 0.05 * std::exp(-width * std::numbers::pi * std::sqrt(1 - 1 / oversampling));
    if (!spline && least > request.tolerance && width < most / 2) continue;
    const auto window = window_of_width<T>(request, width);
    const double error = transform_error(window, 0.5 / oversampling, request.dimension);
    if (error < best.error) best = {window, oversampling, error};
    if (best.error <= request.tolerance) break;
  }
  return best;
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
  constexpr int places = 32, frequencies = 24;
  constexpr double between = 1.05;  // what the deviation may be above the largest that is found
  const auto nodes = transform_nodes(window, frequency);
  double alias = 0;
  for (int f = 0; f <= frequencies; ++f) {
    const double here = frequency * f / frequencies;
    const double wanted = cosine_transform(nodes, here);
    for (int i = 0; i <= places; ++i) {
      const double s = 0.5 * i / places;
      double re = 0, im = 0;
      for (int j = 0; j < window.width; ++j) {
        const double angle = 2 * std::numbers::pi * here * (s + 0.5 * window.width - 0.5 - j);
        const double w = weight_of(window, j, s);
        re += w * std::cos(angle);
        im += w * std::sin(angle);
      }
      alias = std::max(alias, std::hypot(re - wanted, im) / std::fabs(wanted));
    }
  }
  const double edge = std::fabs(cosine_transform(nodes, frequency));
  const double ratio = std::fabs(cosine_transform(nodes, 0)) / edge;
  return {std::expm1(dimension * std::log1p(between * alias)),
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
  std::vector<double> considered{2, 1.5, 1.25};
  if (request.oversampling != 0) considered = {request.oversampling};
  std::vector<transform_window<T>> windows;
  double least = std::numeric_limits<double>::infinity();
  for (const double oversampling : considered) {
    const auto window = narrowest_window<T>(request, oversampling);
    least = std::min(least, window.error);
    if (window.error <= request.tolerance) windows.push_back(window);
  }
  require(!windows.empty(), "a tolerance of ", request.tolerance, " cannot be reached in ",
          sizeof(T) == 4 ? "single" : "double", " precision, ", request.dimension, " dimensions",
          request.oversampling != 0 ? message(" and with ", request.oversampling, " mesh points per mode") : "", "; ",
          two_digits_up(least), " can");
  return windows;
}

method_cost transform_cost(const transform_load& load) {
  constexpr int most_narrow = 8;
  const double share = 1e-6 / (load.cuda ? 1 : load.threads), wide = load.single ? 0 : 1;
  // A row of a footprint takes as long as three more contributions.
  double covered = std::pow(load.width, load.dimension - 1) * (load.width + 3) * load.components;
  const bool broad = load.width > most_narrow;
  bool cubes = false;
  if (load.cuda && load.dimension == 3) {
    const double products = least_cube_products(load.width, load.points / load.nodes);
    cubes = std::isfinite(products);
    if (cubes) covered = products * load.components;
  }
  const double sums = share * load.points * covered;
  const double butterflies = share * load.nodes * std::log2(load.nodes + 2) * load.components;
  return method_cost()
      .each("start", cost_unit::launch, 1)
      .each("points", cost_unit::step, share * load.points * load.dimension)
      .each("sums", cost_unit::step, broad || cubes ? 0 : sums)
      .each("sums_wide", cost_unit::step, broad || cubes ? 0 : wide * sums)
      .each("broad", cost_unit::step, broad && !cubes ? sums : 0)
      .each("broad_wide", cost_unit::step, broad && !cubes ? wide * sums : 0)
      .each("cubes", cost_unit::step, cubes ? sums : 0)
      .each("mesh", cost_unit::byte, butterflies)
      .each("mesh_wide", cost_unit::byte, wide * butterflies);
}

double expected_transform_ms(const transform_load& load, const device_profile& profile) {
  return expected_ms(profile, transform_module, transform_cost_name, transform_cost(load), 1);
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
