// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/core/vec.hpp"

namespace quadrat::io {

/// The points of a mesh in an orthorhombic box. Point (i, j, k) is at origin + (i, j, k) * spacing. Axes beyond the
/// dimension have extent 1.
struct vti_grid {
  vec<std::size_t, 3> extent{1, 1, 1};
  vec<double, 3> origin{};
  vec<double, 3> spacing{1, 1, 1};
};

/// An array over the points of a mesh.
template <typename T>
struct vti_array {
  std::string name;
  /// C-ordered [x][y][z][part]: z varies fastest. In the file x does, as the format requires.
  std::span<const T> values;
  bool complex = false;  ///< two parts per point, stored in the file as the components "real" and "imaginary"
};

/// Writes a mesh as VTK ImageData (.vti, binary) with arrays over its points. T: float or double. Throws argument_error
/// when an array does not have the size of the mesh, and io_error; the file appears complete or not at all.
template <typename T>
void write_vti(const std::filesystem::path& file, const vti_grid& grid, std::span<const vti_array<T>> arrays);

/// A mesh that write_vti has written.
struct vti_mesh {
  vti_grid grid;
  bool single = false;             ///< float32; otherwise float64
  bool complex = false;            ///< two parts per point
  std::vector<std::string> names;  ///< of the arrays
  std::vector<std::byte> bytes;    ///< of one array after the other, C-ordered [x][y][z][part]
};

/// Reads a mesh that write_vti has written on a machine of the same byte order: uncompressed arrays of one type. Throws
/// io_error that names the file and what is wrong with it.
[[nodiscard]] vti_mesh read_vti(const std::filesystem::path& file);
/// The same for a text in memory; `file` is its name in messages.
[[nodiscard]] vti_mesh parse_vti(std::string_view text, const std::string& file);

/// A file of a time series; its path is relative to the collection's folder.
struct pvd_entry {
  double time;
  std::string file;
};

/// Writes a ParaView collection (.pvd) of the files, in the order given. Throws io_error.
void write_pvd(const std::filesystem::path& file, std::span<const pvd_entry> entries);

}  // namespace quadrat::io
