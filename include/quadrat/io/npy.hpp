// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "quadrat/io/atomic_file.hpp"

/// NumPy's format for one array: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
namespace quadrat::io {

/// The type of the elements of an array.
enum class npy_type {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  complex64,
  complex128
};

/// NumPy's name of the type, such as "float32".
[[nodiscard]] std::string_view name_of(npy_type type);
/// Bytes of an element.
[[nodiscard]] std::size_t size_of(npy_type type);

template <typename T>
inline constexpr npy_type npy_type_of = [] {
  if constexpr (std::is_same_v<T, bool>) return npy_type::boolean;
  if constexpr (std::is_same_v<T, std::int8_t>) return npy_type::int8;
  if constexpr (std::is_same_v<T, std::int16_t>) return npy_type::int16;
  if constexpr (std::is_same_v<T, std::int32_t>) return npy_type::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return npy_type::int64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return npy_type::uint8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return npy_type::uint16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return npy_type::uint32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return npy_type::uint64;
  if constexpr (std::is_same_v<T, float>) return npy_type::float32;
  if constexpr (std::is_same_v<T, double>) return npy_type::float64;
  if constexpr (std::is_same_v<T, std::complex<float>>) return npy_type::complex64;
  if constexpr (std::is_same_v<T, std::complex<double>>) return npy_type::complex128;
}();

/// An array of any rank in C order (the last index fastest) and in the byte order of this machine, whatever the file
/// has.
struct npy_array {
  std::string file;  ///< for messages
  npy_type type = npy_type::float64;
  std::vector<std::size_t> shape;  ///< empty: a single element
  std::vector<std::byte> bytes;

  /// Number of elements.
  [[nodiscard]] std::size_t size() const { return bytes.size() / size_of(type); }
  /// The shape as Python writes it: "(5, 3)".
  [[nodiscard]] std::string shape_text() const;
  /// The elements. Throws io_error when they have another type.
  template <typename T>
  [[nodiscard]] std::span<const T> as() const {
    require_type(npy_type_of<T>);
    return {reinterpret_cast<const T*>(bytes.data()), size()};
  }

 private:
  void require_type(npy_type wanted) const;
};

/// The indices of an element of a C-ordered array, as NumPy writes them: "[1, 0, 17]".
[[nodiscard]] std::string index_text(std::size_t element, const std::vector<std::size_t>& shape);

/// Reads an array of plain numbers, in format version 1 to 3, either byte order, C or Fortran order. Throws io_error
/// that names the file and what is wrong with it.
[[nodiscard]] npy_array read_npy(const std::filesystem::path& file);
/// The same for bytes in memory; `file` is their name in messages.
[[nodiscard]] npy_array parse_npy(std::string_view contents, const std::string& file);

/// An .npy file whose element type is given as header text: shared by the writers below.
class npy_file {
 public:
  npy_file(const std::filesystem::path& file, std::string_view descr, std::size_t element_bytes,
           const std::vector<std::size_t>& shape);
  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  atomic_file file_;
  std::size_t bytes_left_;
};

/// Writes an array piece by piece; the file appears when it is complete. Throws io_error.
class npy_writer {
 public:
  npy_writer(const std::filesystem::path& file, npy_type type, const std::vector<std::size_t>& shape);

  /// The next elements, in C order.
  template <typename T>
  void write(std::span<const T> elements) {
    write_bytes(npy_type_of<T>, std::as_bytes(elements));
  }
  /// Makes the file visible. Throws argument_error unless exactly the elements of the shape have been written.
  void commit() { file_.commit(); }

 private:
  void write_bytes(npy_type type, std::span<const std::byte> bytes);

  npy_file file_;
  npy_type type_;
};

/// A field of a record: a vector of `extent` numbers; with extent 0, one number.
struct npy_field {
  std::string_view name;
  npy_type type = npy_type::float64;
  std::size_t extent = 0;
};

/// Writes a table of records (NumPy: a structured array of one dimension) piece by piece; the file appears when it is
/// complete. Throws io_error.
class npy_record_writer {
 public:
  npy_record_writer(const std::filesystem::path& file, std::span<const npy_field> fields, std::size_t records);

  /// The next records, fields packed without gaps.
  void write(std::span<const std::byte> records) { file_.write(records); }
  /// Makes the file visible. Throws argument_error unless exactly that many records have been written.
  void commit() { file_.commit(); }

 private:
  npy_file file_;
};

/// Writes an array of that shape; the file appears complete or not at all. Throws argument_error when the elements do
/// not fill the shape, and io_error.
template <typename T>
void write_npy(const std::filesystem::path& file, std::span<const T> elements, const std::vector<std::size_t>& shape) {
  npy_writer out(file, npy_type_of<T>, shape);
  out.write(elements);
  out.commit();
}

}  // namespace quadrat::io
