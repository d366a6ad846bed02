// SPDX-License-Identifier: BSD-3-Clause
//
// Meshes as VTK ImageData.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "io/vtk_writer.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/vtk.hpp"

namespace quadrat::io {
namespace {

/// Planes of equal z that are transposed at a time: neighbors along z share cache lines of the mesh.
constexpr std::size_t planes_a_block = 16;

std::size_t size_of(const vti_grid& grid) { return grid.extent[0] * grid.extent[1] * grid.extent[2]; }

template <typename T>
void write_vti_head(vtk_writer& out, const vti_grid& grid, std::span<const vti_array<T>> arrays) {
  const auto extent = message("0 ", grid.extent[0] - 1, " 0 ", grid.extent[1] - 1, " 0 ", grid.extent[2] - 1);
  out.xml("<ImageData WholeExtent=\"", extent, "\" Origin=\"", grid.origin[0], ' ', grid.origin[1], ' ', grid.origin[2],
          "\" Spacing=\"", grid.spacing[0], ' ', grid.spacing[1], ' ', grid.spacing[2], "\">\n<Piece Extent=\"", extent,
          "\">\n<PointData");
  if (!arrays.empty()) out.xml(" Scalars=\"", arrays.front().name, '"');
  out.xml(">\n");
  for (const vti_array<T>& array : arrays) {
    out.declare(std::is_same_v<T, float> ? "Float32" : "Float64", array.name, array.complex ? 2 : 1, size_of(grid),
                sizeof(T), array.complex ? " ComponentName0=\"real\" ComponentName1=\"imaginary\"" : "");
  }
  out.xml("</PointData>\n</Piece>\n");
  out.begin_payload();
}

/// The planes z = first to first + count - 1 one after the other, each [y][x].
template <typename T>
void turn(const vti_grid& grid, const vti_array<T>& array, std::size_t first, std::size_t count, T* planes) {
  const std::size_t parts = array.complex ? 2 : 1;
  const std::size_t nx = grid.extent[0], ny = grid.extent[1], nz = grid.extent[2];
  for (std::size_t x = 0; x < nx; ++x) {
    for (std::size_t y = 0; y < ny; ++y) {
      const T* const from = array.values.data() + ((x * ny + y) * nz + first) * parts;
      for (std::size_t z = 0; z < count; ++z) {
        std::memcpy(planes + ((z * ny + y) * nx + x) * parts, from + z * parts, parts * sizeof(T));
      }
    }
  }
}

template <typename T>
void append_mesh(vtk_writer& out, const vti_grid& grid, const vti_array<T>& array) {
  const std::size_t plane = grid.extent[0] * grid.extent[1] * (array.complex ? 2 : 1);
  out.begin_array(array.values.size_bytes());
  std::vector<T> planes(plane * std::min(planes_a_block, grid.extent[2]));
  for (std::size_t first = 0; first < grid.extent[2]; first += planes_a_block) {
    const std::size_t count = std::min(planes_a_block, grid.extent[2] - first);
    turn(grid, array, first, count, planes.data());
    out.append_bytes(std::as_bytes(std::span(planes).first(plane * count)));
  }
}

}  // namespace

template <typename T>
void write_vti(const std::filesystem::path& file, const vti_grid& grid, std::span<const vti_array<T>> arrays) {
  require(size_of(grid) > 0, "write_vti got a mesh without points");
  for (const vti_array<T>& array : arrays) {
    const std::size_t parts = array.complex ? 2 : 1;
    require(array.values.size() == size_of(grid) * parts, "write_vti got ", array.values.size(), " values of ", parts,
            " a point for ", size_of(grid), " points");
  }
  vtk_writer out(file, "ImageData");
  write_vti_head(out, grid, arrays);
  for (const vti_array<T>& array : arrays) append_mesh(out, grid, array);
  out.commit();
}

template void write_vti<float>(const std::filesystem::path&, const vti_grid&, std::span<const vti_array<float>>);
template void write_vti<double>(const std::filesystem::path&, const vti_grid&, std::span<const vti_array<double>>);

}  // namespace quadrat::io
