// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// The operations of a plan, by mesh, number of points, precision, kind of values, order of the window, distribution of
/// the points and level of determinism. Values are in the caller's order, and results are overwritten (clearing is
/// included).
void run_spread(const session& s);
void run_interpolate(const session& s);
void run_interpolate_gradient(const session& s);
void run_interpolate_with_gradient(const session& s);
void run_set_points(const session& s);
/// The same with all points on a line, in a spot or in one place, compared with as many uniform points. Reads the mesh
/// of the probe, and the one onto which the points' values were spread.
void run_crowds(const session& s);

/// particle-mesh-spreading: uniform random points, p = 6, periodic, N = 1e3 to 1e7.
/// Figure 3: single_mesh by size of its compute units, K = 32 to 256.
void run_figure_3(const session& s);
/// Figure 4: group_mesh by size of its groups, K = 128.
void run_figure_4(const session& s);
/// Figure 5: single_mesh, reduction by warp shuffles and through shared memory, K = 128.
void run_figure_5(const session& s);
/// Figure 6: the particle method with and without atomic operations, K = 64.
void run_figure_6(const session& s);
/// Figure 7: the particle method and gather, K = 64.
void run_figure_7(const session& s);
/// Figure 8: spreading by every method, K = 128.
void run_figure_8(const session& s);
/// Figure 9: setting the points of every method, K = 128.
void run_figure_9(const session& s);
/// Section 4.5: the fastest method for each number of repetitions, from both times of every method.
void run_repetitions(const session& s);

}  // namespace quadrat::bench
