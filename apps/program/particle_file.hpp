// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/io/frames.hpp"

namespace quadrat::program {

/// The box of a particle file: the cell of an .xyz or .gsd file.
struct file_box {
  vec<double, 3> origin{};
  std::optional<vec<vec<double, 3>, 3>> vectors;  ///< the vector of an open axis may be zero
  vec<bool, 3> periodic{};
  std::size_t frames = 1;  ///< frames of the file; only the first is read
  std::size_t line = 2;    ///< line of the box in the file; 0 if the file has no lines
};

/// Points read from a file.
struct particle_file {
  std::string file;
  int dimension = 3;
  bool single_precision = false;    ///< the file stores float32
  std::vector<double> coordinates;  ///< N x dimension
  std::vector<std::size_t> lines;   ///< by point, from 1; empty if the file has no lines
  std::optional<file_box> box;

  [[nodiscard]] std::size_t size() const { return coordinates.size() / static_cast<std::size_t>(dimension); }
  /// The place of the box for messages: "atoms.xyz:2", or only the file if it has no lines.
  [[nodiscard]] std::string place_of_box() const {
    return box && box->line == 0 ? file : message(file, ":", box ? box->line : 1);
  }
  /// Component `axis` of point i.
  [[nodiscard]] double at(std::size_t i, int axis) const {
    return coordinates[i * static_cast<std::size_t>(dimension) + static_cast<std::size_t>(axis)];
  }
};

/// The points as vectors; points on a line become (x, 0). Throws data_error for a coordinate that T cannot hold.
template <typename T, int D>
[[nodiscard]] std::vector<vec<T, D>> points_in(const particle_file& particles) {
  std::vector<vec<T, D>> points(particles.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (int axis = 0; axis < std::min(D, particles.dimension); ++axis) {
      const double given = particles.at(i, axis);
      points[i][axis] = static_cast<T>(given);
      if (std::isfinite(points[i][axis]) || !std::isfinite(given)) continue;
      throw data_error(
          message("point ", i, " has the coordinate ", given, ", which float cannot hold (ask for --precision double)"),
          i);
    }
  }
  return points;
}

/// The points in the output of --json: file, count, dimensions, and the number of frames of .xyz files.
[[nodiscard]] nlohmann::ordered_json as_json(const particle_file& particles);

/// Prints a note on stderr, once, if the file has frames that are not read.
void note_what_is_left_out(const particle_file& particles);

/// Reads points. The ending of the name gives the format: .npy (N x 2 or N x 3, float32 or float64), .csv (columns x, y
/// and perhaps z), or .xyz, .extxyz, .gsd. With least_dimension 1 also N or N x 1, and the column x alone. Throws
/// argument_error for another ending, and io_error.
[[nodiscard]] particle_file read_particles(const std::filesystem::path& file, int least_dimension = 2);

/// The points of a frame.
[[nodiscard]] particle_file particles_of(const io::file_frame& frame);

}  // namespace quadrat::program
