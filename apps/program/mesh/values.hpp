// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "quadrat/io/vtk.hpp"

namespace quadrat::program {

/// The type of an array of values.
struct value_kind {
  bool complex = false;  ///< each number has a real and an imaginary part
  bool single = false;   ///< float32 or complex64
  bool stacked = false;  ///< the first axis of the array counts vectors
  std::size_t vectors = 1;

  [[nodiscard]] std::size_t parts() const { return complex ? 2 : 1; }
  /// NumPy's name of the type, in this precision.
  [[nodiscard]] std::string type_name(bool single_precision) const;
};

/// Numbers read from an .npy or .vti file: float32, float64, complex64 or complex128.
struct value_file {
  std::string file;
  value_kind kind;
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;
  std::optional<io::vti_grid> grid;  ///< place of the mesh, from a .vti file

  /// Moves out all parts of all numbers, in C order. Throws data_error that names the first number that is not finite,
  /// or that T cannot hold.
  template <typename T>
  [[nodiscard]] std::vector<T> take();
};

/// Reads values of `points` points: one per point, or (vectors, points). Throws io_error that names the file and its
/// shape.
[[nodiscard]] value_file read_point_values(const std::filesystem::path& file, std::size_t points);

/// Reads one real weight for each of `points` points. Throws io_error.
[[nodiscard]] value_file read_weights(const std::filesystem::path& file, std::size_t points);

/// Reads values of a mesh of that many dimensions: [x][y][z], or [vector][x][y][z]. Throws io_error.
[[nodiscard]] value_file read_mesh_values(const std::filesystem::path& file, int dimension);

/// The sum of each vector, separately for each part: vectors x parts.
template <typename T>
[[nodiscard]] std::vector<double> sums_of(const std::vector<T>& numbers, const value_kind& kind);

/// Writes numbers as an .npy file of that shape. Throws io_error.
template <typename T>
void write_numbers(const std::filesystem::path& file, const std::vector<T>& numbers, bool complex,
                   const std::vector<std::size_t>& shape);

}  // namespace quadrat::program
