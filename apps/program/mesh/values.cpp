// SPDX-License-Identifier: BSD-3-Clause
#include "program/mesh/values.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "core/counted.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/npy.hpp"
#include "quadrat/io/vtk.hpp"

namespace quadrat::program {
namespace {

/// `what` names the values in messages: "values".
value_file read_numbers(const std::filesystem::path& file, std::string_view what, std::string_view endings) {
  require(file.extension() == ".npy", what, " are read from ", endings, " files; ", file.string(), " ends otherwise");
  io::npy_array array = io::read_npy(file);
  value_file result;
  result.file = array.file;
  result.kind.complex = array.type == io::npy_type::complex64 || array.type == io::npy_type::complex128;
  result.kind.single = array.type == io::npy_type::float32 || array.type == io::npy_type::complex64;
  if (!result.kind.complex && !result.kind.single && array.type != io::npy_type::float64) {
    throw io_error(message(array.file, ": the array holds ", name_of(array.type), "; ", what,
                           " are float32, float64, complex64 or complex128"));
  }
  result.shape = array.shape;
  result.bytes = std::move(array.bytes);
  return result;
}

std::string text_of_shape(const std::vector<std::size_t>& shape) {
  io::npy_array array;
  array.shape = shape;
  return array.shape_text();
}

/// If there is one axis too many, the first one counts vectors.
void count_vectors(value_file& values, std::size_t rank) {
  values.kind.stacked = values.shape.size() == rank + 1;
  if (values.kind.stacked) values.kind.vectors = values.shape[0];
  constexpr std::size_t most = std::numeric_limits<int>::max();
  if (values.kind.vectors >= 1 && values.kind.vectors <= most) return;
  throw io_error(message(values.file, ": the array has shape ", text_of_shape(values.shape), ", which is ",
                         values.kind.vectors, " vectors; 1 to ", most, " are possible"));
}

template <typename T, typename Stored>
std::vector<T> converted(const value_file& values) {
  const std::span stored(reinterpret_cast<const Stored*>(values.bytes.data()), values.bytes.size() / sizeof(Stored));
  std::vector<T> result(stored.size());
  for (std::size_t k = 0; k < stored.size(); ++k) {
    result[k] = static_cast<T>(stored[k]);
    if (std::isfinite(result[k])) continue;
    throw data_error(message(
        values.file, ": element ", io::index_text(k / values.kind.parts(), values.shape), " is ", stored[k],
        std::isfinite(stored[k]) ? ", which float cannot hold (ask for --precision double)" : "; all must be finite"));
  }
  return result;
}

/// A mesh of `dimension` axes; further axes must have one point. Several arrays are several vectors.
value_file read_mesh_vti(const std::filesystem::path& file, int dimension) {
  io::vti_mesh mesh = io::read_vti(file);
  value_file result;
  result.file = file.string();
  result.kind.complex = mesh.complex;
  result.kind.single = mesh.single;
  if (mesh.names != std::vector<std::string>{"values"}) result.shape.push_back(mesh.names.size());
  for (int axis = 0; axis < 3; ++axis) {
    if (axis < dimension) {
      result.shape.push_back(mesh.grid.extent[axis]);
    } else if (mesh.grid.extent[axis] != 1) {
      throw io_error(message(result.file, ": the mesh has ", mesh.grid.extent[axis], " points along ", "xyz"[axis],
                             ", but the points are in ", detail::counted(dimension, "dimension")));
    }
  }
  result.bytes = std::move(mesh.bytes);
  result.grid = mesh.grid;
  return result;
}

}  // namespace

std::string value_kind::type_name(bool single_precision) const {
  using io::npy_type;
  const npy_type type = complex ? (single_precision ? npy_type::complex64 : npy_type::complex128)
                                : (single_precision ? npy_type::float32 : npy_type::float64);
  return std::string(name_of(type));
}

template <typename T>
std::vector<T> value_file::take() {
  std::vector<T> result = kind.single ? converted<T, float>(*this) : converted<T, double>(*this);
  bytes = {};
  return result;
}

value_file read_point_values(const std::filesystem::path& file, std::size_t points) {
  value_file result = read_numbers(file, "values", ".npy");
  const std::size_t rank = result.shape.size();
  if (rank < 1 || rank > 2 || result.shape.back() != points) {
    throw io_error(message(result.file, ": the array has shape ", text_of_shape(result.shape), "; values of ", points,
                           " points have shape (", points, ",) or (vectors, ", points, ")"));
  }
  count_vectors(result, 1);
  return result;
}

value_file read_weights(const std::filesystem::path& file, std::size_t points) {
  value_file result = read_point_values(file, points);
  if (!result.kind.complex && result.kind.vectors == 1) return result;
  throw io_error(message(result.file, ": one real weight for each point is needed"));
}

value_file read_mesh_values(const std::filesystem::path& file, int dimension) {
  value_file result =
      file.extension() == ".vti" ? read_mesh_vti(file, dimension) : read_numbers(file, "mesh values", ".npy and .vti");
  const auto rank = static_cast<std::size_t>(dimension);
  if (result.shape.size() != rank && result.shape.size() != rank + 1) {
    throw io_error(message(result.file, ": the array has shape ", text_of_shape(result.shape), "; with points in ",
                           dimension, " dimensions, mesh values have ", rank, " axes, or ", rank + 1,
                           " of which the first counts vectors"));
  }
  count_vectors(result, rank);
  constexpr std::size_t most = std::numeric_limits<int>::max();
  for (std::size_t k = result.shape.size() - rank; k < result.shape.size(); ++k) {
    if (result.shape[k] >= 1 && result.shape[k] <= most) continue;
    throw io_error(message(result.file, ": the array has shape ", text_of_shape(result.shape),
                           ", which is not a mesh: axes have at least 1 and at most ", most, " points"));
  }
  return result;
}

template <typename T>
std::vector<double> sums_of(const std::vector<T>& numbers, const value_kind& kind) {
  const std::size_t parts = kind.parts(), in_vector = numbers.size() / kind.vectors;
  std::vector<double> sums(kind.vectors * parts, 0.0);
  for (std::size_t v = 0; v < kind.vectors; ++v) {
    for (std::size_t k = 0; k < in_vector; ++k) {
      sums[v * parts + k % parts] += static_cast<double>(numbers[v * in_vector + k]);
    }
  }
  return sums;
}

template <typename T>
void write_numbers(const std::filesystem::path& file, const std::vector<T>& numbers, bool complex,
                   const std::vector<std::size_t>& shape) {
  io::npy_writer out(file, complex ? io::npy_type_of<std::complex<T>> : io::npy_type_of<T>, shape);
  if (complex) {
    // std::complex is two consecutive numbers.
    out.write(std::span(reinterpret_cast<const std::complex<T>*>(numbers.data()), numbers.size() / 2));
  } else {
    out.write(std::span<const T>(numbers));
  }
  out.commit();
}

template std::vector<float> value_file::take<float>();
template std::vector<double> value_file::take<double>();
template std::vector<double> sums_of(const std::vector<float>&, const value_kind&);
template std::vector<double> sums_of(const std::vector<double>&, const value_kind&);
template void write_numbers(const std::filesystem::path&, const std::vector<float>&, bool,
                            const std::vector<std::size_t>&);
template void write_numbers(const std::filesystem::path&, const std::vector<double>&, bool,
                            const std::vector<std::size_t>&);

}  // namespace quadrat::program
