// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "quadrat/core/vec.hpp"

namespace quadrat::io {

/// A value of each particle, by a name of letters, digits and underscores.
struct particle_field {
  std::string name;
  std::vector<float> values;
};

/// Particles at one time, as files hold them: host memory, in order of id. Arrays are as long as `positions`, or empty.
struct particle_frame {
  double time = 0;
  std::vector<vec<float, 3>> positions{};
  std::vector<vec<float, 3>> velocities{};
  std::vector<float> radii{};
  std::vector<particle_field> fields{};
  /// The box, whose edges lie along the axes; where two dimensions are shown in three, it is 1 thick.
  vec<double, 3> lower{};
  vec<double, 3> upper{{1, 1, 1}};
  vec<bool, 3> periodic{};
  std::uint64_t first_id = 0;  ///< of the first particle
};

/// Writes VTK PolyData (.vtp, binary): one poly-vertex, with the point arrays velocity and speed, radius, the fields
/// (all float32), and id (uint32); as field data the time (TimeValue) and the box (BoxLower, BoxUpper,
/// Periodic). What is empty is left out. Throws argument_error for unequal lengths and for names that a file cannot
/// have, and io_error; the file appears complete or not at all. Likewise below.
void write_vtp(const std::filesystem::path& file, const particle_frame& frame);

/// The same as VTK UnstructuredGrid (.vtu) with a vertex for each particle: larger, and readable by meshio.
void write_vtu(const std::filesystem::path& file, const particle_frame& frame);

/// Writes extended XYZ (https://github.com/libAtoms/extxyz), which OVITO and ASE read: a line for each particle with
/// the species X, its position, and as far as they are there velo, radius and the fields, then its id; the comment line
/// has the box as Lattice, Origin and pbc, and the Time. Numbers read back as the same float32.
void write_xyz(const std::filesystem::path& file, const particle_frame& frame);

/// Writes what joins pieces, files of write_vtp or write_vtu in the same folder, to one data set (.pvtp, .pvtu): the
/// arrays of `piece`, its time and its box. All pieces have those arrays. Throws io_error.
void write_pvtp(const std::filesystem::path& file, const particle_frame& piece, std::span<const std::string> pieces);
void write_pvtu(const std::filesystem::path& file, const particle_frame& piece, std::span<const std::string> pieces);

}  // namespace quadrat::io
