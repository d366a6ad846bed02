// SPDX-License-Identifier: BSD-3-Clause
//
// Particles as VTK data sets, and collections of files.
#include "quadrat/io/vtk.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#include "core/number_text.hpp"
#include "io/frames/particle_frame.hpp"
#include "io/vtk_writer.hpp"
#include "quadrat/io/atomic_file.hpp"
#include "quadrat/io/particle_frame.hpp"

namespace quadrat::io {
namespace {

std::array<float, 3> as_array(const vec<float, 3>& v) { return {v[0], v[1], v[2]}; }

/// Time and box.
std::string field_data(const particle_frame& frame) {
  std::string text = "<FieldData>\n";
  const auto add = [&](const char* name, std::span<const double> values) {
    text += message("<DataArray type=\"Float64\" Name=\"", name, "\" NumberOfTuples=\"1\" NumberOfComponents=\"",
                    values.size(), "\" format=\"ascii\">");
    for (std::size_t k = 0; k < values.size(); ++k) text += (k > 0 ? " " : "") + full_number_text(values[k]);
    text += "</DataArray>\n";
  };
  const auto periodic = make_vec<double, 3>([&](int axis) { return frame.periodic[axis] ? 1.0 : 0.0; });
  add("TimeValue", {&frame.time, 1});
  add("BoxLower", frame.lower.component);
  add("BoxUpper", frame.upper.component);
  add("Periodic", periodic.component);
  return text + "</FieldData>\n";
}

/// The attributes that tell viewers what to show first.
std::string active(const particle_frame& frame) {
  if (!frame.velocities.empty()) return " Scalars=\"speed\" Vectors=\"velocity\"";
  return frame.fields.empty() ? "" : " Scalars=\"" + frame.fields.front().name + "\"";
}

void write_parallel(const std::filesystem::path& file, const particle_frame& piece, std::span<const std::string> pieces,
                    std::string_view kind) {
  const auto array = [](std::string_view type, std::string_view name, int components) {
    return message("<PDataArray type=\"", type, "\" Name=\"", name, "\" NumberOfComponents=\"", components, "\"/>\n");
  };
  std::string text = message("<?xml version=\"1.0\"?>\n<VTKFile type=\"", kind, "\" version=\"1.0\" byte_order=\"",
                             byte_order_name(), "\" header_type=\"UInt64\">\n<", kind, " GhostLevel=\"0\">\n",
                             field_data(piece), "<PPointData", active(piece), ">\n");
  if (!piece.velocities.empty()) text += array("Float32", "velocity", 3) + array("Float32", "speed", 1);
  if (!piece.radii.empty()) text += array("Float32", "radius", 1);
  for (const particle_field& field : piece.fields) text += array("Float32", field.name, 1);
  text += array("UInt32", "id", 1) + "</PPointData>\n<PPoints>\n" + array("Float32", "Points", 3) + "</PPoints>\n";
  for (const std::string& name : pieces) text += "<Piece Source=\"" + name + "\"/>\n";
  write_text_file(file, message(text, "</", kind, ">\n</VTKFile>\n"));
}

/// Writes the data set. The head declares the arrays in the order of the payload.
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
  /// One vertex cell per point, or one cell with all points.
  [[nodiscard]] std::size_t cells() const { return grid_ ? count_ : count_ > 0 ? 1 : 0; }

  void write_head() {
    out_.xml("<", kind(), ">\n", field_data(frame_));
    out_.xml("<Piece NumberOfPoints=\"", count_, "\" ");
    if (grid_) {
      out_.xml("NumberOfCells=\"", cells(), "\">\n");
    } else {
      out_.xml("NumberOfVerts=\"", cells(), "\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n");
    }
    out_.xml("<PointData", active(frame_), ">\n");
    declare_fields();
    out_.xml("</PointData>\n<Points>\n");
    out_.declare("Float32", "Points", 3, count_, sizeof(float));
    out_.xml("</Points>\n", grid_ ? "<Cells>\n" : "<Verts>\n");
    out_.declare("Int64", "connectivity", 1, count_, sizeof(std::int64_t));
    out_.declare("Int64", "offsets", 1, cells(), sizeof(std::int64_t));
    if (grid_) out_.declare("UInt8", "types", 1, cells(), 1);
    out_.xml(grid_ ? "</Cells>\n" : "</Verts>\n", "</Piece>\n");
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
    out_.append<std::uint32_t, 1>(
        count_, [&](std::size_t i) { return std::array{static_cast<std::uint32_t>(frame_.first_id + i)}; });
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

void write_pvtp(const std::filesystem::path& file, const particle_frame& piece, std::span<const std::string> pieces) {
  write_parallel(file, piece, pieces, "PPolyData");
}

void write_pvtu(const std::filesystem::path& file, const particle_frame& piece, std::span<const std::string> pieces) {
  write_parallel(file, piece, pieces, "PUnstructuredGrid");
}

void write_pvd(const std::filesystem::path& file, std::span<const pvd_entry> entries) {
  std::string text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n";
  for (const pvd_entry& entry : entries) {
    text += message("<DataSet timestep=\"", full_number_text(entry.time), "\" file=\"", entry.file, "\"/>\n");
  }
  write_text_file(file, text + "</Collection>\n</VTKFile>\n");
}

}  // namespace quadrat::io
