// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "program/particle_file.hpp"

namespace quadrat::program {

/// A radius for each point: a column of the points' .csv file, or an .npy file of N numbers. Throws argument_error
/// where they do not fit the points, data_error for a radius that is negative or not finite, and io_error.
[[nodiscard]] std::vector<double> read_radii(const std::string& source, const particle_file& particles);

}  // namespace quadrat::program
