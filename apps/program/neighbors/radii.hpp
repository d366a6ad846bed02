// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "program/particle_file.hpp"

namespace quadrat::program {

/// Reads a radius for each point from a column of the points' .csv file, or from an .npy file of N numbers. Throws
/// argument_error if they do not fit the points, data_error for a radius that is negative or not finite, and io_error.
[[nodiscard]] std::vector<double> read_radii(const std::string& source, const particle_file& particles);

}  // namespace quadrat::program
