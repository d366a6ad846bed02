// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "quadrat/mesh/window.hpp"

/// Windows for non-uniform Fourier transforms, and their errors. Host only.
namespace quadrat::detail {

template <typename T>
struct transform_window {
  mesh_window<T> window;
  double oversampling;
  double error;  ///< bound, relative to the sum of moduli
};

/// What a window is wanted for.
struct window_request {
  window_shape shape = window_shape::prolate;
  int dimension = 3;
  double oversampling = 0;  ///< 0: any of those that are considered
  double tolerance = 0;
  /// Mesh points per mode of the mesh that is made for one of those; by default that itself. Meshes have few sizes.
  std::function<double(double)> ratio;
};

/// What limits a transform with modes up to `frequency` periods per mesh unit, in all dimensions.
struct window_limits {
  /// Of a sum over one point, the largest deviation of the aliased window from its transform, relative to that, over
  /// positions between mesh points and frequencies.
  double alias;
  /// By how much rounding grows: the size of the mesh values of one point over the transform at the highest modes.
  double growth;
  /// The transform at mode 0 over that at the highest modes.
  double ratio;
};

template <typename T>
[[nodiscard]] window_limits limits_of(const mesh_window<T>& window, double frequency, int dimension);

/// An estimate of what rounding adds to the error of a transform, relative to the sum of the moduli of what is summed.
template <typename T>
[[nodiscard]] double rounding_error(double growth);

/// The largest error of a transform with modes up to `frequency` periods per mesh unit, relative to the sum of the
/// moduli of what is summed: aliases and rounding.
template <typename T>
[[nodiscard]] double transform_error(const mesh_window<T>& window, double frequency, int dimension);

/// The window of this width for a request, whose oversampling is given.
template <typename T>
[[nodiscard]] mesh_window<T> window_of_width(const window_request& request, int width);

/// The narrowest window that reaches the tolerance for each oversampling that is considered and can, of those with the
/// same width the one with the smallest mesh; never empty, the largest oversampling first. Throws argument_error,
/// naming the least tolerance that can be reached, if none can.
template <typename T>
[[nodiscard]] std::vector<transform_window<T>> transform_windows(const window_request& request);

}  // namespace quadrat::detail
