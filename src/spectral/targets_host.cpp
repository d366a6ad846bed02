// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/targets.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

#include "core/memory_check.hpp"
#include "mesh/shape.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"
#include "spectral/checks.hpp"
#include "spectral/fft/lines.hpp"

namespace quadrat::detail {

namespace {

/// The considered mesh points per mode. Fewer would divide by small numbers twice.
constexpr double target_oversamplings[] = {2, 2.05, 2.1, 2.15, 2.2};

template <typename T>
[[nodiscard]] inverse_transform inverse_of(const mesh_window<T>& window, double oversampling) {
  inverse_transform inverse{};
  inverse.most = 0.5 / oversampling;
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

template <typename T>
struct measured_window {
  mesh_window<T> window;
  window_limits limits;
};

/// The error of spreading with one window and of the transform with the other. The latter's aliases are relative to the
/// sum of the mesh values' moduli: at most the outer window's transform at 0 times that of the points, divided by its
/// transform at the targets. Rounding is random and grows with the sizes of both windows' mesh values.
template <typename T>
[[nodiscard]] double error_of(const measured_window<T>& outer, const measured_window<T>& inner) {
  return outer.limits.alias + (1 + outer.limits.alias) * outer.limits.ratio * inner.limits.alias +
         rounding_error<T>(outer.limits.growth * inner.limits.growth);
}

/// The windows with which a point has the fewest mesh points, for one oversampling; empty if none reach the tolerance.
template <typename T>
[[nodiscard]] std::optional<target_accuracy<T>> narrowest_windows(const window_request& request) {
  std::vector<measured_window<T>> windows;
  for (int width = 2; width <= mesh_window<T>::most_width; ++width) {
    const auto window = window_of_width<T>(request, width);
    windows.push_back({window, limits_of(window, 0.5 / request.oversampling, request.dimension)});
  }
  std::optional<target_accuracy<T>> best;
  double least = 0;
  for (const auto& outer : windows) {
    for (const auto& inner : windows) {
      const double error = error_of(outer, inner);
      const double cost =
          std::pow(outer.window.width, request.dimension) + std::pow(inner.window.width, request.dimension);
      if (error > request.tolerance || (best && cost >= least)) continue;
      best = target_accuracy<T>{request.oversampling, outer.window, inner.window, error, {}};
      least = cost;
    }
  }
  return best;
}

/// The smallest oversampling, unless only a larger one reaches the tolerance with windows that methods have loops for.
template <typename T>
[[nodiscard]] std::optional<target_accuracy<T>> accuracy_for(double tolerance, int dimension) {
  std::optional<target_accuracy<T>> best;
  for (const double oversampling : target_oversamplings) {
    const auto found = narrowest_windows<T>({window_shape::prolate, dimension, oversampling, tolerance, {}});
    if (!found) continue;
    const bool narrow = std::max(found->outer.width, found->inner.width) <= mesh_window<T>::most_fixed_width;
    if (!best || narrow) best = found;
    if (narrow) break;
  }
  if (best) best->inverse = inverse_of(best->outer, best->oversampling);
  return best;
}

[[nodiscard]] int even_up(double x) { return 2 * static_cast<int>(std::ceil(0.5 * x)); }

/// exp(-2 pi i a b / (4 n)), for whole numbers.
[[nodiscard]] std::complex<double> turn_of(std::int64_t a, std::int64_t b, std::int64_t n) {
  const auto rest = static_cast<double>(a * b % (4 * n));
  return std::polar(1.0, -2 * std::numbers::pi * rest / (4.0 * static_cast<double>(n)));
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
  // Corners of meshes are numbers of type T, which may lie farther apart than mesh points.
  const auto rounding = [](const interval& of) {
    return 2 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::max(std::fabs(of.low), std::fabs(of.high));
  };
  const double center = 0.5 * targets.low + 0.5 * targets.high;
  // Mesh points of the box must be far enough apart to be distinct in double precision.
  const double least = 256 * std::numeric_limits<double>::epsilon() / accuracy.error;
  const double reach = std::max(targets.high - center, center - targets.low) + rounding(targets) +
                       least * std::max(std::fabs(targets.low), std::fabs(targets.high));
  const double half = 0.5 * points.high - 0.5 * points.low;
  // If all targets are in one place, any spacing works.
  result.spacing = reach > 0 ? std::numbers::pi / (accuracy.oversampling * reach) : half > 0 ? half : 1;
  const double nodes =
      2 * half / result.spacing + accuracy.outer.width + 3 + std::floor(2 * rounding(points) / result.spacing);
  require(nodes <= most_mesh_extent / 2.0, "points ", 2 * half, " and targets ", targets.high - targets.low,
          " apart along axis ", axis, " need a mesh of ", std::ceil(nodes), " points; at most ", most_mesh_extent / 2,
          " are possible");
  // All extents follow from this size, which has few possible values. The box takes 1 / oversampling of it, plus the
  // reach of the windows.
  const double beyond = accuracy.inner.width + 3;
  const double least_size = (beyond + 2) / (1 - 1 / accuracy.oversampling);
  result.size = good_fft_size(std::max(accuracy.oversampling * even_up(nodes), least_size), true);
  result.nodes = 2 * static_cast<int>(0.5 * result.size / accuracy.oversampling);
  result.target_spacing = 2 * std::numbers::pi / (result.size * result.spacing);
  result.box = even_up(result.size / accuracy.oversampling + beyond);
  result.lower =
      static_cast<double>(static_cast<T>(0.5 * points.low + 0.5 * points.high - 0.5 * result.nodes * result.spacing));
  result.middle = result.lower + 0.5 * result.nodes * result.spacing;
  result.target_lower = static_cast<double>(static_cast<T>(center - 0.5 * result.box * result.target_spacing));
  result.target_half = 0.5 * result.box * result.target_spacing;
  return result;
}

template <typename T>
box_problem target_box(const target_accuracy<T>& accuracy, const target_axis* axes, int dimension) {
  box_problem box{};
  for (int axis = 0; axis < 3; ++axis) {
    box_axis& to = box.axis[axis];
    if (axis < 3 - dimension) continue;
    const target_axis& from = axes[axis - (3 - dimension)];
    to.size = from.size;
    const auto transforms = accuracy.inner.transforms(from.nodes / 2 + 1, from.size);
    to.mode_factors.clear();
    for (std::int64_t k = 0; k < from.nodes; ++k) {
      const double transform = transforms[static_cast<std::size_t>(std::abs(k - from.nodes / 2))];
      to.mode_factors.push_back(turn_of(2 * k, from.box, from.size) / transform);
    }
    to.box_factors.clear();
    for (std::int64_t i = 0; i < from.box; ++i) {
      // An offset of 4 sizes keeps numbers nonnegative.
      to.box_factors.push_back(turn_of(2 * i - from.box + std::int64_t{4} * from.size, from.nodes, from.size));
    }
  }
  return box;
}

void require_target_memory(const memory_resource& memory, double nodes, std::size_t bytes, std::size_t held,
                           std::size_t most) {
  require(most == 0 || bytes <= most, "points, targets and a mesh of ", nodes, " points need ", bytes, " bytes; ", most,
          " are allowed");
  require_memory(memory, "a transform to targets", bytes, held, "A larger tolerance needs less");
}

template target_accuracy<float> target_accuracy_of(double, int);
template target_accuracy<double> target_accuracy_of(double, int);
template target_axis target_axis_of(const target_accuracy<float>&, const interval&, const interval&, int);
template target_axis target_axis_of(const target_accuracy<double>&, const interval&, const interval&, int);
template box_problem target_box(const target_accuracy<float>&, const target_axis*, int);
template box_problem target_box(const target_accuracy<double>&, const target_axis*, int);

}  // namespace quadrat::detail
