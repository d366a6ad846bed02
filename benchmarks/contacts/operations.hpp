// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// From positions to records by the automatic choice, by number of bodies: spheres of equal and of different size,
/// ellipsoids.
void run_detect(const session& s);
/// Every method on the same scenes, each with bins of its own choice.
void run_contact_methods(const session& s);
/// The open questions of parallel-binning-collision: the nine stages as a function of bin size, with and without the
/// sort for load balance, with bodies in random and in spatial order.
void run_bins(const session& s);
/// Bodies of one density in domains much larger than they are, with a stray body, and in cubes far apart.
void run_sparse_contacts(const session& s);
/// The step of the granular model with friction, of grains that have settled in a box.
void run_friction(const session& s);

}  // namespace quadrat::bench
