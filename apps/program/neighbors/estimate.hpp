// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "program/neighbors/box.hpp"
#include "program/particle_file.hpp"

namespace quadrat::program {

/// A cheap estimate of the number of neighbors of a point. If all axes are periodic, it follows from the mean density,
/// images included. Otherwise it is a mean over some points of the file, without images.
[[nodiscard]] double expected_neighbors(const particle_file& particles, const search_box& box, double cutoff);

}  // namespace quadrat::program
