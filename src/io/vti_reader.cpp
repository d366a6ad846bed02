// SPDX-License-Identifier: BSD-3-Clause
//
// Reads meshes that vti.cpp has written. Other variants of the format are refused with a message.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/text.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/vtk.hpp"

namespace quadrat::io {
namespace {

constexpr std::string_view payload_mark = "<AppendedData encoding=\"raw\">\n_";

class vti_reader {
 public:
  vti_reader(std::string_view text, const std::string& file) : name_(file) {
    const std::size_t mark = text.find(payload_mark);
    if (mark == std::string_view::npos) fail("there is no raw AppendedData");
    head_ = text.substr(0, mark);
    payload_ = text.substr(mark + payload_mark.size());
  }

  vti_mesh read() {
    const std::string_view file = element("<VTKFile ", head_);
    constexpr bool little = std::endian::native == std::endian::little;
    if (attribute(file, "type") != "ImageData") fail("the file holds no ImageData");
    if (attribute(file, "byte_order") != (little ? "LittleEndian" : "BigEndian"))
      fail("the bytes are in another order");
    if (attribute(file, "header_type") != "UInt64") fail("the lengths of arrays are not UInt64");
    if (file.find(" compressor=") != std::string_view::npos) fail("the arrays are compressed");
    read_grid();
    for (std::size_t at = head_.find("<DataArray "); at != std::string_view::npos;) {
      read_array(element("<DataArray ", head_.substr(at)));
      at = head_.find("<DataArray ", at + 1);
    }
    if (mesh_.names.empty()) fail("the mesh has no arrays");
    return std::move(mesh_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw io_error(message(name_, ": ", what, "; meshes are read as quadrat spread writes them"));
  }

  [[nodiscard]] std::string_view element(std::string_view begin, std::string_view text) const {
    const std::size_t at = text.find(begin);
    if (at == std::string_view::npos) fail(message("there is no ", begin, "...>"));
    return text.substr(at, text.find('>', at) - at);
  }

  [[nodiscard]] std::string_view attribute(std::string_view tag, std::string_view name) const {
    const std::string begin = message(" ", name, "=\"");
    const std::size_t at = tag.find(begin);
    const std::size_t end = at == std::string_view::npos ? at : tag.find('"', at + begin.size());
    if (end == std::string_view::npos) fail(message("the attribute ", name, " is missing"));
    return tag.substr(at + begin.size(), end - at - begin.size());
  }

  /// The N numbers of an attribute.
  template <typename T, std::size_t N>
  [[nodiscard]] std::array<T, N> numbers(std::string_view tag, std::string_view name) const {
    std::array<T, N> result{};
    std::string_view rest = attribute(tag, name);
    for (T& number : result) {
      rest = trimmed(rest);
      const std::size_t end = std::min(rest.find(' '), rest.size());
      const auto value = number_from<T>(rest.substr(0, end));
      if (!value) fail(message(name, " is ", shown(attribute(tag, name)), ", not ", N, " numbers"));
      number = *value;
      rest.remove_prefix(end);
    }
    if (!trimmed(rest).empty()) fail(message(name, " has more than ", N, " numbers"));
    return result;
  }

  void read_grid() {
    const std::string_view image = element("<ImageData ", head_);
    const auto extent = numbers<int, 6>(image, "WholeExtent");
    const auto origin = numbers<double, 3>(image, "Origin");
    const auto spacing = numbers<double, 3>(image, "Spacing");
    double size = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      const int last = extent[2 * a + 1];
      if (extent[2 * a] != 0 || last < 0 || last == std::numeric_limits<int>::max() || !std::isfinite(origin[a]) ||
          !(spacing[a] > 0 && std::isfinite(spacing[a]))) {
        fail("WholeExtent, Origin and Spacing are not those of a mesh");
      }
      mesh_.grid.extent[axis] = static_cast<std::size_t>(last) + 1;
      mesh_.grid.origin[axis] = origin[a];
      mesh_.grid.spacing[axis] = spacing[a];
      size *= static_cast<double>(mesh_.grid.extent[axis]);
    }
    if (size > static_cast<double>(payload_.size())) fail("the file is too short for its mesh");
  }

  void read_array(std::string_view tag) {
    const std::string_view type = attribute(tag, "type");
    const bool single = type == "Float32";
    if (!single && type != "Float64") fail(message("an array is of type ", shown(type), ", not Float32 or Float64"));
    if (attribute(tag, "format") != "appended") fail("an array is not appended");
    const auto parts = numbers<int, 1>(tag, "NumberOfComponents")[0];
    if (parts != 1 && parts != 2) fail(message("an array has ", parts, " components, not 1 or 2"));
    const bool first = mesh_.names.empty();
    if (!first && (single != mesh_.single || (parts == 2) != mesh_.complex)) fail("the arrays are of different types");
    mesh_.single = single;
    mesh_.complex = parts == 2;
    mesh_.names.emplace_back(attribute(tag, "Name"));
    const std::size_t size = (single ? 4u : 8u) * static_cast<std::size_t>(parts);
    turn(bytes_at(numbers<std::uint64_t, 1>(tag, "offset")[0], size), size);
  }

  /// The array at that offset of the payload. A mesh point takes `size` bytes.
  [[nodiscard]] std::string_view bytes_at(std::uint64_t offset, std::size_t size) const {
    const auto& extent = mesh_.grid.extent;
    const std::size_t expected = extent[0] * extent[1] * extent[2] * size;
    std::uint64_t length = 0;
    if (offset > payload_.size() || payload_.size() - offset < sizeof length) fail("the file ends before its arrays");
    std::memcpy(&length, payload_.data() + offset, sizeof length);
    if (length != expected) fail(message("an array has ", length, " bytes, where the mesh has ", expected));
    if (payload_.size() - offset - sizeof length < length) fail("the file ends within an array");
    return payload_.substr(offset + sizeof length, expected);
  }

  /// Reorders a mesh from x fastest to z fastest.
  void turn(std::string_view from, std::size_t size) {
    const std::size_t nx = mesh_.grid.extent[0], ny = mesh_.grid.extent[1], nz = mesh_.grid.extent[2];
    const std::size_t begin = mesh_.bytes.size();
    if (begin + from.size() > payload_.size()) fail("the arrays overlap");
    mesh_.bytes.resize(begin + from.size());
    std::byte* to = mesh_.bytes.data() + begin;
    for (std::size_t x = 0; x < nx; ++x) {
      for (std::size_t y = 0; y < ny; ++y) {
        for (std::size_t z = 0; z < nz; ++z, to += size) {
          std::memcpy(to, from.data() + ((z * ny + y) * nx + x) * size, size);
        }
      }
    }
  }

  const std::string& name_;
  std::string_view head_, payload_;
  vti_mesh mesh_;
};

}  // namespace

vti_mesh parse_vti(std::string_view text, const std::string& file) { return vti_reader(text, file).read(); }

vti_mesh read_vti(const std::filesystem::path& file) { return parse_vti(read_whole_file(file), file.string()); }

}  // namespace quadrat::io
