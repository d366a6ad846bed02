// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "program/neighbors/box.hpp"
#include "program/particle_file.hpp"

namespace quadrat::program {

/// Neighbors of a point to be expected, from counts that are cheap: where all axes are periodic the points within the
/// cutoff at their mean density, images of the box included; elsewhere a mean over some points of the file, which
/// leaves out images.
[[nodiscard]] double expected_neighbors(const particle_file& particles, const search_box& box, double cutoff);

}  // namespace quadrat::program
