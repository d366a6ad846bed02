// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "quadrat/core/context.hpp"
#include "quadrat/core/macros.hpp"
#include "spectral/accuracy.hpp"
#include "spectral/box_transform.hpp"

/// The parts of transforms to targets besides a spread_plan and a nufft_plan.
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

/// The two windows of a transform to targets. Both meshes have `oversampling` times as many points as there are modes.
template <typename T>
struct target_accuracy {
  double oversampling;
  mesh_window<T> outer;       ///< with which points are spread
  mesh_window<T> inner;       ///< with which the transform of their mesh is interpolated at the targets
  double error;               ///< bound for both together
  inverse_transform inverse;  ///< of the outer window
};

/// Throws argument_error for a tolerance that cannot be reached, and names one that can.
template <typename T>
[[nodiscard]] target_accuracy<T> target_accuracy_of(double tolerance, int dimension);

struct interval {
  double low, high;
};

/// One axis: the mesh onto which points are spread, whose values become modes, and the part of their transform computed
/// around the targets, on a mesh of `size` points per period.
struct target_axis {
  int nodes;
  int size;
  int box;                ///< mesh points of that part: from `nodes` to `size`
  double spacing;         ///< of mesh points
  double lower;           ///< where mesh point 0 is; a number of type T
  double middle;          ///< where mesh point nodes / 2 is
  double target_spacing;  ///< of mesh points of the box
  double target_lower;    ///< where its mesh point 0 is; a number of type T
  double target_half;     ///< from there to its mesh point box / 2

  /// Whether all extents are the same, so that nothing must be rebuilt.
  [[nodiscard]] bool same_sizes(const target_axis& other) const {
    return nodes == other.nodes && size == other.size && box == other.box;
  }
};

/// The mesh for points and targets of these extents. Throws argument_error if it would have too many points.
template <typename T>
[[nodiscard]] target_axis target_axis_of(const target_accuracy<T>& accuracy, const interval& points,
                                         const interval& targets, int axis);

/// The transform from the mesh to the box, with the division by the inner window's transform. Both are numbered from 0;
/// factors shift modes by nodes / 2 and places by box / 2.
template <typename T>
[[nodiscard]] box_problem target_box(const target_accuracy<T>& accuracy, const target_axis* axes, int dimension);

/// Throws argument_error for a mesh of too many points, or for more memory than is free or allowed.
void require_target_memory(const memory_resource& memory, double nodes, std::size_t bytes, std::size_t held,
                           std::size_t most);

}  // namespace quadrat::detail
