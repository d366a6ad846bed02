// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/number_text.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"

namespace quadrat::io {

[[nodiscard]] constexpr std::string_view byte_order_name() {
  return std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian";
}

/// VTK XML with raw appended data: the head lists the DataArrays, and the payload follows in the same order. After the
/// underscore each array is written as its length in bytes (u64), then its values. Format: "VTK File Formats",
/// https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html
class vtk_writer {
 public:
  /// `kind` of data set: PolyData, ImageData.
  vtk_writer(const std::filesystem::path& file, std::string_view kind) : file_(file), kind_(kind) {
    xml("<?xml version=\"1.0\"?>\n<VTKFile type=\"", kind, "\" version=\"1.0\" byte_order=\"", byte_order_name(),
        "\" header_type=\"UInt64\">\n");
  }

  /// `attributes`: further attributes of the array, with a space before each.
  void declare(std::string_view type, std::string_view name, int components, std::size_t rows, std::size_t size,
               std::string_view attributes = "") {
    xml("<DataArray type=\"", type, "\" Name=\"", name, "\" NumberOfComponents=\"", components,
        "\" format=\"appended\" offset=\"", offset_, "\"", attributes, "/>\n");
    offset_ += sizeof(std::uint64_t) + rows * static_cast<std::size_t>(components) * size;
  }
  /// Appends to the head; numbers keep all their digits. The caller opens the element of the data set, and
  /// `begin_payload` closes it.
  template <typename... Parts>
  void xml(const Parts&... parts) {
    (add(parts), ...);
  }

  void begin_payload() {
    xml("</", kind_, ">\n<AppendedData encoding=\"raw\">\n_");
    file_.write(head_);
  }

  /// Appends `rows` rows; `row_of(i)` gives each as an array of N values.
  template <typename V, std::size_t N, typename RowOf>
  void append(std::size_t rows, RowOf&& row_of) {
    begin_array(rows * N * sizeof(V));
    constexpr std::size_t block = 8192;
    std::vector<std::array<V, N>> values;
    for (std::size_t first = 0; first < rows; first += block) {
      values.clear();
      for (std::size_t i = first; i < std::min(rows, first + block); ++i) values.push_back(row_of(i));
      append_bytes(std::as_bytes(std::span(values)));
    }
  }

  /// Begins an array that is written piece by piece.
  void begin_array(std::size_t bytes) {
    const std::uint64_t length = bytes;
    append_bytes(std::as_bytes(std::span(&length, 1)));
  }
  void append_bytes(std::span<const std::byte> bytes) { file_.write(bytes); }

  void commit() {
    file_.write("\n</AppendedData>\n</VTKFile>\n");
    file_.commit();
  }

 private:
  template <typename Part>
  void add(const Part& part) {
    if constexpr (std::is_floating_point_v<Part>) {
      head_ += full_number_text(part);
    } else {
      head_ += message(part);
    }
  }

  atomic_file file_;
  std::string kind_;
  std::size_t offset_ = 0;
  std::string head_;
};

}  // namespace quadrat::io
