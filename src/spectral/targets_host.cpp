// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/targets.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "core/memory_check.hpp"
#include "mesh/shape.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"
#include "spectral/checks.hpp"
#include "spectral/fft/lines.hpp"

namespace quadrat::detail {

namespace {

/// Twice as many mesh points as modes, in both stages: less would divide by small numbers twice.
constexpr double target_oversampling = 2;

template <typename T>
[[nodiscard]] inverse_transform inverse_of(const mesh_window<T>& window) {
  inverse_transform inverse{};
  inverse.most = 0.5 / target_oversampling;
  constexpr int samples = inverse_transform::most_terms;
  double values[samples];
  for (int i = 0; i < samples; ++i) {
    const double x = std::cos(std::numbers::pi * (i + 0.5) / samples);
    values[i] = 1 / window.transform(inverse.most * std::sqrt(0.5 * (x + 1)), 1);
  }
  inverse.terms = 1;
  for (int k = 0; k < samples; ++k) {
    double sum = 0;
    for (int i = 0; i < samples; ++i) sum += values[i] * std::cos(std::numbers::pi * k * (i + 0.5) / samples);
    inverse.coefficient[k] = sum * (k == 0 ? 1.0 : 2.0) / samples;
    if (std::fabs(inverse.coefficient[k]) > 1e-17 * std::fabs(inverse.coefficient[0])) inverse.terms = k + 1;
  }
  return inverse;
}

/// Half of the error for either stage. The error of the second is relative to the sum of the mesh values' moduli, which
/// may be the window's transform at 0 times that of the points' values, and is divided by its transform at the targets.
template <typename T>
[[nodiscard]] std::optional<target_accuracy<T>> accuracy_for(double tolerance, int dimension) {
  const window_request request{window_shape::prolate, dimension, target_oversampling, 0.5 * tolerance};
  target_accuracy<T> accuracy{};
  try {
    accuracy.outer = transform_windows<T>(request).front();
    accuracy.inverse = inverse_of(accuracy.outer.window);
    const double ratio =
        std::pow(accuracy.outer.window.transform(0, 1) * accuracy.inverse(accuracy.inverse.most), dimension);
    accuracy.inner_oversampling = target_oversampling;
    accuracy.inner_tolerance = std::min(1.0, 0.5 * tolerance / ratio);
    window_request inner = request;
    inner.tolerance = accuracy.inner_tolerance;
    const transform_window<T> inner_window = transform_windows<T>(inner).front();
    accuracy.inner_width = inner_window.window.width;
    accuracy.error = accuracy.outer.error + ratio * inner_window.error;
  } catch (const argument_error&) {
    return std::nullopt;
  }
  return accuracy;
}

}  // namespace

template <typename T>
target_accuracy<T> target_accuracy_of(double tolerance, int dimension) {
  if (const auto accuracy = accuracy_for<T>(checked_tolerance(tolerance), dimension)) return *accuracy;
  double reached = 1e-16;
  while (reached < 1 && (reached < tolerance || !accuracy_for<T>(reached, dimension))) reached *= 2;
  throw argument_error(message("a tolerance of ", tolerance, " cannot be reached by type 3 in ",
                               sizeof(T) == 4 ? "single" : "double", " precision, ", dimension, " dimensions; ",
                               reached, " can"));
}

template <typename T>
target_axis target_axis_of(const target_accuracy<T>& accuracy, const interval& points, const interval& targets,
                           int axis) {
  target_axis result{};
  result.target_center = static_cast<double>(static_cast<T>(0.5 * targets.low + 0.5 * targets.high));
  const double reach = std::max(targets.high - result.target_center, result.target_center - targets.low);
  const double half = 0.5 * points.high - 0.5 * points.low;
  // Where all targets are in one place any spacing will do.
  result.spacing = reach > 0 ? std::numbers::pi / (target_oversampling * reach) : half > 0 ? half : 1;
  const double nodes = 2 * half / result.spacing + accuracy.outer.window.width + 3;
  require(nodes <= most_mesh_extent / 2.0, "points ", 2 * half, " and targets ", targets.high - targets.low,
          " apart along axis ", axis, " need a mesh of ", std::ceil(nodes), " points; at most ", most_mesh_extent / 2,
          " are possible");
  result.nodes = good_fft_size(nodes, true);
  const double center = 0.5 * points.low + 0.5 * points.high;
  result.lower = static_cast<double>(static_cast<T>(center - 0.5 * result.nodes * result.spacing));
  result.middle = result.lower + 0.5 * result.nodes * result.spacing;
  return result;
}

void require_target_memory(const memory_resource& memory, double nodes, std::size_t bytes, std::size_t held,
                           std::size_t most) {
  require(8 * nodes <= static_cast<double>(max_count), "points and targets need a mesh of ", nodes, " points; at most ",
          max_count / 8, " are possible");
  require(most == 0 || bytes <= most, "points, targets and a mesh of ", nodes, " points need ", bytes, " bytes; ", most,
          " are allowed");
  require_memory(memory, "a transform to targets", bytes, held, "A larger tolerance needs less");
}

template struct target_accuracy<float>;
template struct target_accuracy<double>;
template target_accuracy<float> target_accuracy_of(double, int);
template target_accuracy<double> target_accuracy_of(double, int);
template target_axis target_axis_of(const target_accuracy<float>&, const interval&, const interval&, int);
template target_axis target_axis_of(const target_accuracy<double>&, const interval&, const interval&, int);

}  // namespace quadrat::detail
