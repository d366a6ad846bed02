// SPDX-License-Identifier: BSD-3-Clause
//
// Particles as VTK data sets, and collections of files.
#include "quadrat/io/vtk.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#include "core/number_text.hpp"
#include "io/particle_frame.hpp"
#include "io/vtk_writer.hpp"
#include "quadrat/io/atomic_file.hpp"
#include "quadrat/io/particle_frame.hpp"

namespace quadrat::io {
namespace {

std::array<float, 3> as_array(const vec<float, 3>& v) { return {v[0], v[1], v[2]}; }

/// The data set, in which a cell is as VTK wants it. The head declares the arrays in the order of the payload.
class particle_writer {
 public:
  particle_writer(const std::filesystem::path& file, const particle_frame& frame, bool grid)
      : frame_(frame), count_(frame.positions.size()), grid_(grid), out_(file, kind()) {}

  void write() {
    write_head();
    out_.begin_payload();
    append_fields();
    append_points();
    out_.commit();
  }

 private:
  [[nodiscard]] const char* kind() const { return grid_ ? "UnstructuredGrid" : "PolyData"; }
  /// One cell with all points, or one for each.
  [[nodiscard]] std::size_t cells() const { return grid_ ? count_ : count_ > 0 ? 1 : 0; }

  void write_head() {
    out_.xml("<", kind(), ">\n<FieldData>\n");
    field_data("TimeValue", vec<double, 1>{frame_.time});
    field_data("BoxLower", frame_.lower);
    field_data("BoxUpper", frame_.upper);
    field_data("Periodic", make_vec<double, 3>([&](int axis) { return frame_.periodic[axis] ? 1.0 : 0.0; }));
    out_.xml("</FieldData>\n<Piece NumberOfPoints=\"", count_, "\" ");
    if (grid_) {
      out_.xml("NumberOfCells=\"", cells(), "\">\n");
    } else {
      out_.xml("NumberOfVerts=\"", cells(), "\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n");
    }
    out_.xml("<PointData", active(), ">\n");
    declare_fields();
    out_.xml("</PointData>\n<Points>\n");
    out_.declare("Float32", "Points", 3, count_, sizeof(float));
    out_.xml("</Points>\n", grid_ ? "<Cells>\n" : "<Verts>\n");
    out_.declare("Int64", "connectivity", 1, count_, sizeof(std::int64_t));
    out_.declare("Int64", "offsets", 1, cells(), sizeof(std::int64_t));
    if (grid_) out_.declare("UInt8", "types", 1, cells(), 1);
    out_.xml(grid_ ? "</Cells>\n" : "</Verts>\n", "</Piece>\n");
  }

  template <int D>
  void field_data(const char* name, const vec<double, D>& values) {
    out_.xml("<DataArray type=\"Float64\" Name=\"", name, "\" NumberOfTuples=\"1\" NumberOfComponents=\"", D,
             "\" format=\"ascii\">");
    for (int k = 0; k < D; ++k) out_.xml(k > 0 ? " " : "", values[k]);
    out_.xml("</DataArray>\n");
  }

  /// What a viewer shows first.
  [[nodiscard]] std::string active() const {
    if (!frame_.velocities.empty()) return " Scalars=\"speed\" Vectors=\"velocity\"";
    return frame_.fields.empty() ? "" : " Scalars=\"" + frame_.fields.front().name + "\"";
  }

  void declare_fields() {
    if (!frame_.velocities.empty()) {
      out_.declare("Float32", "velocity", 3, count_, sizeof(float));
      out_.declare("Float32", "speed", 1, count_, sizeof(float));
    }
    if (!frame_.radii.empty()) out_.declare("Float32", "radius", 1, count_, sizeof(float));
    for (const particle_field& field : frame_.fields) out_.declare("Float32", field.name, 1, count_, sizeof(float));
    out_.declare("UInt32", "id", 1, count_, sizeof(std::uint32_t));
  }

  void append_fields() {
    if (!frame_.velocities.empty()) {
      out_.append<float, 3>(count_, [&](std::size_t i) { return as_array(frame_.velocities[i]); });
      out_.append<float, 1>(count_,
                            [&](std::size_t i) { return std::array{std::sqrt(squared_norm(frame_.velocities[i]))}; });
    }
    const auto append = [&](const std::vector<float>& values) {
      if (!values.empty()) out_.append<float, 1>(count_, [&](std::size_t i) { return std::array{values[i]}; });
    };
    append(frame_.radii);
    for (const particle_field& field : frame_.fields) append(field.values);
    out_.append<std::uint32_t, 1>(count_, [](std::size_t i) { return std::array{static_cast<std::uint32_t>(i)}; });
  }

  void append_points() {
    out_.append<float, 3>(count_, [&](std::size_t i) { return as_array(frame_.positions[i]); });
    out_.append<std::int64_t, 1>(count_, [](std::size_t i) { return std::array{static_cast<std::int64_t>(i)}; });
    const std::size_t of_a_cell = grid_ ? 1 : count_;
    out_.append<std::int64_t, 1>(
        cells(), [&](std::size_t i) { return std::array{static_cast<std::int64_t>((i + 1) * of_a_cell)}; });
    constexpr std::uint8_t vertex = 1;
    if (grid_) out_.append<std::uint8_t, 1>(cells(), [](std::size_t) { return std::array{vertex}; });
  }

  const particle_frame& frame_;
  std::size_t count_;
  bool grid_;
  vtk_writer out_;
};

}  // namespace

void write_vtp(const std::filesystem::path& file, const particle_frame& frame) {
  require_complete(frame, "VTP");
  particle_writer(file, frame, false).write();
}

void write_vtu(const std::filesystem::path& file, const particle_frame& frame) {
  require_complete(frame, "VTU");
  particle_writer(file, frame, true).write();
}

void write_pvd(const std::filesystem::path& file, std::span<const pvd_entry> entries) {
  std::string text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n";
  for (const pvd_entry& entry : entries) {
    text += message("<DataSet timestep=\"", full_number_text(entry.time), "\" file=\"", entry.file, "\"/>\n");
  }
  write_text_file(file, text + "</Collection>\n</VTKFile>\n");
}

}  // namespace quadrat::io
