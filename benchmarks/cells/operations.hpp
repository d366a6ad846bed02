// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// Building every cell list on the paper's 64^3 cells, in single and double precision; the cost of reproducible order.
void run_insert(const session& s);
/// Building every cell list in cubic boxes at 2, 3.5 and 8 particles per cell.
void run_boxes(const session& s);
/// Building `counting` and `sorted` if all points are in one Gaussian blob of a much larger grid.
void run_blob(const session& s);
/// Building, with positions and velocities moved into the order of cells.
void run_carry(const session& s);
/// Walking the neighborhood of every particle over every cell list.
void run_walk(const session& s);
/// The paper's secondary finding: the path of scattered loads (CUDA only).
void run_read_paths(const session& s);
/// The hash table by chaining, with every kind of buckets: inserting all keys, and finding all keys.
void run_hash(const session& s);
/// Figure 3 of the paper: building in the slowest step of the wave.
void run_slowest_step(const session& s);

}  // namespace quadrat::bench
