// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "quadrat/core/lattice.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/ewald/electrostatics.hpp"

namespace quadrat::program {

/// The frames of an .xyz or .gsd file. Each frame is a system with its own cell. Points are in the order of the file.
struct charged_systems {
  std::string file;
  std::vector<vec<double, 3>> positions;
  std::vector<double> charges;
  std::vector<std::uint32_t> system_of_point;
  std::vector<std::size_t> lines;  ///< by point, from 1; empty if the file has no lines
  std::vector<lattice<double, 3>> cells;
  std::vector<std::string> names;  ///< by system, for messages: "the frame at line 3"

  [[nodiscard]] std::size_t size() const { return positions.size(); }
};

/// Throws argument_error unless the file is one of frames, and each frame has a cell that is periodic along three
/// vectors, or the first two. Throws io_error if the file is wrong or has no charges. Both name file and line.
[[nodiscard]] charged_systems read_charged_systems(const std::filesystem::path& file);

/// Reads pairs of points whose interaction is scaled, for every frame: from a text with one pair per line, "i j" or "i
/// j scale", where # begins a comment, or from an .npy array of N x 2 integers. Points of a frame count from 0. Throws
/// io_error that names the place.
[[nodiscard]] std::vector<scaled_pair> read_scaled_pairs(const std::filesystem::path& file,
                                                         const charged_systems& systems);

}  // namespace quadrat::program
