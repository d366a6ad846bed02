// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "quadrat/core/vec.hpp"

namespace quadrat::program {

/// The box that came with the points: the cell of an .xyz file.
struct file_box {
  vec<double, 3> origin{};
  std::optional<vec<vec<double, 3>, 3>> vectors;  ///< one may be zero where its axis is open
  vec<bool, 3> periodic{};
};

/// Points as a file holds them.
struct particle_file {
  std::string file;
  int dimension = 3;
  bool single_precision = false;    ///< stored as float32
  std::vector<double> coordinates;  ///< N x dimension
  std::optional<file_box> box;

  [[nodiscard]] std::size_t size() const { return coordinates.size() / static_cast<std::size_t>(dimension); }
  /// Component `axis` of point i.
  [[nodiscard]] double at(std::size_t i, int axis) const {
    return coordinates[i * static_cast<std::size_t>(dimension) + static_cast<std::size_t>(axis)];
  }
};

/// Reads points by the name's ending: .npy (N x 2 or N x 3, float32 or float64), .csv (columns x, y and perhaps z) or
/// .xyz. Where one dimension is enough, N or N x 1 and the column x alone as well. Throws argument_error for another
/// ending, and io_error.
[[nodiscard]] particle_file read_particles(const std::filesystem::path& file, int least_dimension = 2);

}  // namespace quadrat::program
