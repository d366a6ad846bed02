// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/context.hpp"
#include "quadrat/mesh/spread_plan.hpp"

namespace quadrat {

struct density_options {
  int iterations = 30;  ///< at most
  /// Ends when the changes of an iteration, without their signs, sum up to at most this part of the sum of the weights.
  double tolerance = 1e-4;
};

struct density_result {
  int iterations = 0;  ///< number of iterations done
  double change = 0;   ///< of the last iteration, relative to the sum of the weights
};

/// Density compensation: weights for points of uneven density, so that the sum over the points of weights[i] f(x_i)
/// approximates the integral of f over the region of the points, divided by the volume of the box. weights[i] is the
/// fraction of the box's volume that point i represents. Uniform points in a periodic box have weights of 1 / their
/// number. A point farther from all others than the width of the window has the largest possible weight, some part of
/// the window's volume.
///
/// The points must be set in `plan`. `weights`: one per point, in their order, in the memory of the plan's context.
/// They are positive, or 0 for a point whose footprint misses the mesh (spread_plan::left_out). Points in one place
/// share a weight evenly.
///
/// The weights spread onto the mesh and interpolated at the points become 1: w <- w / interpolate(spread(w)), from 1 on
/// (Pipe and Menon 1999). The wider the window, the farther the weights smooth over gaps. Each iteration costs one
/// spreading and one interpolation. Waits. May allocate: a mesh and a number for each point. Determinism: that of
/// spreading. Throws argument_error if no points are set, for null pointers, for fewer than one iteration and for a
/// tolerance that is negative or not a number; data_error like spread_plan::check.
template <typename Context, typename T, int D>
density_result density_weights(spread_plan<Context, T, D>& plan, T* weights, const density_options& options = {});

}  // namespace quadrat
