// SPDX-License-Identifier: BSD-3-Clause
//
// Particles as VTK PolyData, and collections of files.
#include "quadrat/io/vtk.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#include "core/number_text.hpp"
#include "io/vtk_writer.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"

namespace quadrat::io {
namespace {

template <typename T>
std::array<float, 3> as_floats(const vec<T, 3>& v) {
  return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}

/// `declare_arrays` declares the point arrays except the id; `active` names those that a viewer shows first.
template <typename DeclareArrays>
void write_head(vtk_writer& out, std::size_t count, double time, const std::string& active,
                DeclareArrays&& declare_arrays) {
  out.xml("<PolyData>\n<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" ",
          "format=\"ascii\">", time, "</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"", count,
          "\" NumberOfVerts=\"", count > 0 ? 1 : 0,
          "\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n<PointData ", active, ">\n");
  declare_arrays();
  out.declare("UInt32", "id", 1, count, sizeof(std::uint32_t));
  out.xml("</PointData>\n<Points>\n");
  out.declare("Float32", "Points", 3, count, sizeof(float));
  out.xml("</Points>\n<Verts>\n");
  out.declare("Int64", "connectivity", 1, count, sizeof(std::int64_t));
  out.declare("Int64", "offsets", 1, count > 0 ? 1 : 0, sizeof(std::int64_t));
  out.xml("</Verts>\n</Piece>\n");
}

/// What follows the point arrays.
template <typename T>
void append_points(vtk_writer& out, const points_view<T, 3>& positions) {
  const std::size_t count = positions.size();
  out.append<std::uint32_t, 1>(count, [](std::size_t i) { return std::array{static_cast<std::uint32_t>(i)}; });
  out.append<float, 3>(count, [&](std::size_t i) { return as_floats(positions[i]); });
  out.append<std::int64_t, 1>(count, [](std::size_t i) { return std::array{static_cast<std::int64_t>(i)}; });
  out.append<std::int64_t, 1>(count > 0 ? 1 : 0,
                              [&](std::size_t) { return std::array{static_cast<std::int64_t>(count)}; });
}

}  // namespace

template <typename T>
void write_vtp(const std::filesystem::path& file, const points_view<T, 3>& positions,
               const points_view<T, 3>& velocities, double time, std::span<const float> radii) {
  const std::size_t count = positions.size();
  require(velocities.size() == count, "write_vtp got ", count, " positions and ", velocities.size(), " velocities");
  require(radii.empty() || radii.size() == count, "write_vtp got ", count, " positions and ", radii.size(), " radii");
  vtk_writer out(file, "PolyData");
  write_head(out, count, time, "Scalars=\"speed\" Vectors=\"velocity\"", [&] {
    out.declare("Float32", "velocity", 3, count, sizeof(float));
    out.declare("Float32", "speed", 1, count, sizeof(float));
    if (!radii.empty()) out.declare("Float32", "radius", 1, count, sizeof(float));
  });
  out.begin_payload();
  out.append<float, 3>(count, [&](std::size_t i) { return as_floats(velocities[i]); });
  out.append<float, 1>(
      count, [&](std::size_t i) { return std::array{static_cast<float>(std::sqrt(squared_norm(velocities[i])))}; });
  if (!radii.empty()) out.append<float, 1>(count, [&](std::size_t i) { return std::array{radii[i]}; });
  append_points(out, positions);
  out.commit();
}

template <typename T>
void write_vtp(const std::filesystem::path& file, const points_view<T, 3>& positions, const std::string& name,
               std::span<const float> values, double time) {
  const std::size_t count = positions.size();
  require(values.size() == count, "write_vtp got ", count, " positions and ", values.size(), " values");
  vtk_writer out(file, "PolyData");
  write_head(out, count, time, "Scalars=\"" + name + "\"",
             [&] { out.declare("Float32", name, 1, count, sizeof(float)); });
  out.begin_payload();
  out.append<float, 1>(count, [&](std::size_t i) { return std::array{values[i]}; });
  append_points(out, positions);
  out.commit();
}

template void write_vtp<float>(const std::filesystem::path&, const points_view<float, 3>&, const points_view<float, 3>&,
                               double, std::span<const float>);
template void write_vtp<double>(const std::filesystem::path&, const points_view<double, 3>&,
                                const points_view<double, 3>&, double, std::span<const float>);
template void write_vtp<float>(const std::filesystem::path&, const points_view<float, 3>&, const std::string&,
                               std::span<const float>, double);
template void write_vtp<double>(const std::filesystem::path&, const points_view<double, 3>&, const std::string&,
                                std::span<const float>, double);

void write_pvd(const std::filesystem::path& file, std::span<const pvd_entry> entries) {
  std::string text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n";
  for (const pvd_entry& entry : entries) {
    text += message("<DataSet timestep=\"", full_number_text(entry.time), "\" file=\"", entry.file, "\"/>\n");
  }
  write_text_file(file, text + "</Collection>\n</VTKFile>\n");
}

}  // namespace quadrat::io
