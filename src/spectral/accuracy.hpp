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

/// The requirements on a window.
struct window_request {
  window_shape shape = window_shape::prolate;
  int dimension = 3;
  double oversampling = 0;  ///< 0: 0: any of the considered ones
  double tolerance = 0;
  /// Maps an oversampling to the mesh points per mode of the actual mesh, whose sizes are few; by default the identity.
  std::function<double(double)> ratio;
};

/// The limits of a transform with modes up to `frequency` periods per mesh unit, in all dimensions.
struct window_limits {
  /// For a sum over one point: the largest relative deviation of the aliased window from its transform, over positions
  /// between mesh points and over frequencies.
  double alias;
  /// The growth of rounding: the size of the mesh values of one point over the transform at the highest modes.
  double growth;
  /// The transform at mode 0 divided by that at the highest modes.
  double ratio;
};

template <typename T>
[[nodiscard]] window_limits limits_of(const mesh_window<T>& window, double frequency, int dimension);

/// The estimated rounding error of a transform, relative to the sum of the moduli of its terms.
template <typename T>
[[nodiscard]] double rounding_error(double growth);

/// The largest error of a transform with modes up to `frequency` periods per mesh unit, relative to the sum of the
/// moduli of its terms: aliases and rounding.
template <typename T>
[[nodiscard]] double transform_error(const mesh_window<T>& window, double frequency, int dimension);

/// The window of this width for a request with a given oversampling.
template <typename T>
[[nodiscard]] mesh_window<T> window_of_width(const window_request& request, int width);

/// For each considered oversampling that can reach the tolerance, the narrowest such window; of those with the same
/// width, the one with the smallest mesh. Never empty, largest oversampling first. Throws argument_error, with the
/// least tolerance possible, if none reaches it.
template <typename T>
[[nodiscard]] std::vector<transform_window<T>> transform_windows(const window_request& request);

}  // namespace quadrat::detail
