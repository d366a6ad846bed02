// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "quadrat/core/vec.hpp"

namespace quadrat::io {

/// A value per particle. Its name consists of letters, digits and underscores.
struct particle_field {
  std::string name;
  std::vector<float> values;
};

/// Particles at one time, in host memory and in order of id. Each array is as long as `positions`, or empty.
struct particle_frame {
  double time = 0;
  std::vector<vec<float, 3>> positions{};
  std::vector<vec<float, 3>> velocities{};
  std::vector<float> radii{};
  std::vector<particle_field> fields{};
  /// The box; its edges lie along the axes. A two-dimensional box is 1 thick.
  vec<double, 3> lower{};
  vec<double, 3> upper{{1, 1, 1}};
  vec<bool, 3> periodic{};
  std::uint64_t first_id = 0;  ///< of the first particle
};

/// Writes VTK PolyData (.vtp, binary): one poly-vertex. Its point arrays are velocity and speed, radius, the fields
/// (all float32), and id (uint32). Its field data are the time (TimeValue) and the box (BoxLower, BoxUpper, Periodic).
/// Empty arrays are left out. The file appears complete or not at all. Throws argument_error for unequal lengths and
/// for names that a file cannot have, and io_error. The functions below do the same.
void write_vtp(const std::filesystem::path& file, const particle_frame& frame);

/// The same as VTK UnstructuredGrid (.vtu) with a vertex for each particle: larger, and readable by meshio.
void write_vtu(const std::filesystem::path& file, const particle_frame& frame);

/// Writes extended XYZ (https://github.com/libAtoms/extxyz), which OVITO and ASE read. Each particle has a line: the
/// species X, its position, velo, radius and the fields if there are any, and its id. The comment line has the box as
/// Lattice, Origin and pbc, and the Time. Numbers read back as the same float32.
void write_xyz(const std::filesystem::path& file, const particle_frame& frame);

/// Writes the file that joins pieces to one data set (.pvtp, .pvtu). Pieces are files of write_vtp or write_vtu in the
/// same folder. All of them have the arrays of `piece`; its time and box are those of the data set. Throws io_error.
void write_pvtp(const std::filesystem::path& file, const particle_frame& piece, std::span<const std::string> pieces);
void write_pvtu(const std::filesystem::path& file, const particle_frame& piece, std::span<const std::string> pieces);

}  // namespace quadrat::io
