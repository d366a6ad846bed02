// SPDX-License-Identifier: BSD-3-Clause
//
// VTK XML PolyData with raw appended data: after the underscore each array stands as its length in bytes (u64), then
// its values. Format: "VTK File Formats", https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html
#include "quadrat/io/vtk.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string_view>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"

namespace quadrat::io {
namespace {

/// The XML head with one DataArray after the other, and the payload that follows it, in the same order.
class vtp_writer {
 public:
  explicit vtp_writer(const std::filesystem::path& file) : file_(file) {
    head_.precision(std::numeric_limits<double>::max_digits10);
    head_ << "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\""
          << (std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian")
          << "\" header_type=\"UInt64\">\n<PolyData>\n";
  }

  void declare(std::string_view type, std::string_view name, int components, std::size_t rows, std::size_t size) {
    head_ << "<DataArray type=\"" << type << "\" Name=\"" << name << "\" NumberOfComponents=\"" << components
          << "\" format=\"appended\" offset=\"" << offset_ << "\"/>\n";
    offset_ += sizeof(std::uint64_t) + rows * static_cast<std::size_t>(components) * size;
  }
  std::ostringstream& xml() { return head_; }

  void begin_payload() {
    head_ << "</PolyData>\n<AppendedData encoding=\"raw\">\n_";
    file_.write(head_.str());
  }

  /// Appends `rows` rows; `row_of(i)` gives each as an array of N values.
  template <typename V, std::size_t N, typename RowOf>
  void append(std::size_t rows, RowOf&& row_of) {
    append_values<std::uint64_t, 1>(1, [&](std::size_t) { return std::array{std::uint64_t{rows * N * sizeof(V)}}; });
    append_values<V, N>(rows, row_of);
  }

  void commit() {
    file_.write("\n</AppendedData>\n</VTKFile>\n");
    file_.commit();
  }

 private:
  template <typename V, std::size_t N, typename RowOf>
  void append_values(std::size_t rows, RowOf&& row_of) {
    constexpr std::size_t block = 8192;
    std::vector<std::array<V, N>> values;
    for (std::size_t first = 0; first < rows; first += block) {
      values.clear();
      for (std::size_t i = first; i < std::min(rows, first + block); ++i) values.push_back(row_of(i));
      file_.write(std::as_bytes(std::span(values)));
    }
  }

  atomic_file file_;
  std::size_t offset_ = 0;
  std::ostringstream head_;
};

template <typename T>
std::array<float, 3> as_floats(const vec<T, 3>& v) {
  return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}

/// `declare_arrays` declares the point arrays but the id; `active` names those that a viewer shows first.
template <typename DeclareArrays>
void write_head(vtp_writer& out, std::size_t count, double time, const std::string& active,
                DeclareArrays&& declare_arrays) {
  out.xml() << "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">"
            << time << "</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"" << count << "\" NumberOfVerts=\""
            << (count > 0 ? 1 : 0) << "\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n"
            << "<PointData " << active << ">\n";
  declare_arrays();
  out.declare("UInt32", "id", 1, count, sizeof(std::uint32_t));
  out.xml() << "</PointData>\n<Points>\n";
  out.declare("Float32", "Points", 3, count, sizeof(float));
  out.xml() << "</Points>\n<Verts>\n";
  out.declare("Int64", "connectivity", 1, count, sizeof(std::int64_t));
  out.declare("Int64", "offsets", 1, count > 0 ? 1 : 0, sizeof(std::int64_t));
  out.xml() << "</Verts>\n</Piece>\n";
}

/// What stands after the point arrays.
template <typename T>
void append_points(vtp_writer& out, const points_view<T, 3>& positions) {
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
  vtp_writer out(file);
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
  vtp_writer out(file);
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
  std::ostringstream out;
  out.precision(std::numeric_limits<double>::max_digits10);
  out << "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n";
  for (const pvd_entry& entry : entries) {
    out << "<DataSet timestep=\"" << entry.time << "\" file=\"" << entry.file << "\"/>\n";
  }
  out << "</Collection>\n</VTKFile>\n";
  write_text_file(file, out.str());
}

}  // namespace quadrat::io
