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

/// The box that came with the points: the cell of an .xyz or .gsd file.
struct file_box {
  vec<double, 3> origin{};
  std::optional<vec<vec<double, 3>, 3>> vectors;  ///< one may be zero where its axis is open
  vec<bool, 3> periodic{};
  std::size_t frames = 1;  ///< in the file, of which the first is read
  std::size_t line = 2;    ///< of the file that it is in; 0: the file has no lines
};

/// Points as a file holds them.
struct particle_file {
  std::string file;
  int dimension = 3;
  bool single_precision = false;    ///< stored as float32
  std::vector<double> coordinates;  ///< N x dimension
  std::vector<std::size_t> lines;   ///< by point: its line, from 1; empty: the file has none
  std::optional<file_box> box;

  [[nodiscard]] std::size_t size() const { return coordinates.size() / static_cast<std::size_t>(dimension); }
  /// Where the box is given, for messages: "atoms.xyz:2", or the file alone where it has no lines.
  [[nodiscard]] std::string place_of_box() const {
    return box && box->line == 0 ? file : message(file, ":", box ? box->line : 1);
  }
  /// Component `axis` of point i.
  [[nodiscard]] double at(std::size_t i, int axis) const {
    return coordinates[i * static_cast<std::size_t>(dimension) + static_cast<std::size_t>(axis)];
  }
};

/// The points as vectors; those on a line as (x, 0). Throws data_error for a coordinate that T cannot hold.
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

/// What --json prints of the points: file, count, dimensions, and of .xyz files the number of frames.
[[nodiscard]] nlohmann::ordered_json as_json(const particle_file& particles);

/// Says once, on stderr, what of the file is not read: frames behind the first.
void note_what_is_left_out(const particle_file& particles);

/// Reads points by the name's ending: .npy (N x 2 or N x 3, float32 or float64), .csv (columns x, y and perhaps z) or
/// .xyz, .extxyz, .gsd. Where one dimension is enough, N or N x 1 and the column x alone as well. Throws argument_error
/// for another ending, and io_error.
[[nodiscard]] particle_file read_particles(const std::filesystem::path& file, int least_dimension = 2);

/// The points of a frame.
[[nodiscard]] particle_file particles_of(const io::file_frame& frame);

}  // namespace quadrat::program
