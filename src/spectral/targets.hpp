// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "quadrat/core/context.hpp"
#include "quadrat/core/macros.hpp"
#include "spectral/accuracy.hpp"

/// What transforms to targets need besides a spread_plan and a nufft_plan.
namespace quadrat::detail {

/// 1 / the transform of a window, at frequencies up to `most` periods per mesh unit: a Chebyshev series in their
/// square, with which a kernel computes it for every target.
struct inverse_transform {
  static constexpr int most_terms = 32;

  int terms;
  double most;
  double coefficient[most_terms];

  [[nodiscard]] QUADRAT_HD double operator()(double frequency) const {
    const double x = 2 * (frequency * frequency) / (most * most) - 1;
    double next = 0, after = 0;
    for (int k = terms - 1; k >= 1; --k) {
      const double here = 2 * x * next - after + coefficient[k];
      after = next;
      next = here;
    }
    return x * next - after + coefficient[0];
  }
};

/// The two windows of a transform to targets.
template <typename T>
struct target_accuracy {
  transform_window<T> outer;  ///< for spreading the points
  double inner_tolerance;     ///< of the transform from that mesh to the targets
  double inner_oversampling;
  int inner_width;
  double error;               ///< bound, of both together
  inverse_transform inverse;  ///< of the outer window
};

/// Throws argument_error for a tolerance that cannot be reached, naming one that can.
template <typename T>
[[nodiscard]] target_accuracy<T> target_accuracy_of(double tolerance, int dimension);

struct interval {
  double low, high;
};

/// One axis of the mesh that the points are spread onto, and what its transform is evaluated at.
struct target_axis {
  int nodes;
  double spacing;        ///< of mesh points
  double lower;          ///< where mesh point 0 is; a number of type T
  double middle;         ///< where mesh point nodes / 2 is
  double target_center;  ///< a number of type T
};

/// The mesh for points and targets of these extents. Throws argument_error where it would have too many points.
template <typename T>
[[nodiscard]] target_axis target_axis_of(const target_accuracy<T>& accuracy, const interval& points,
                                         const interval& targets, int axis);

/// Throws argument_error for a mesh of too many points, or for more memory than there is or is allowed.
void require_target_memory(const memory_resource& memory, double nodes, std::size_t bytes, std::size_t held,
                           std::size_t most);

}  // namespace quadrat::detail
