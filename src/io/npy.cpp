// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "io/npy_header.hpp"
#include "io/text.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

struct type_entry {
  std::string_view name;
  std::string_view code;  ///< kind and bytes of an element
  std::size_t bytes;
  std::size_t parts;  ///< numbers per element
};

constexpr std::array<type_entry, 13> types{{{"bool", "b1", 1, 1},
                                            {"int8", "i1", 1, 1},
                                            {"int16", "i2", 2, 1},
                                            {"int32", "i4", 4, 1},
                                            {"int64", "i8", 8, 1},
                                            {"uint8", "u1", 1, 1},
                                            {"uint16", "u2", 2, 1},
                                            {"uint32", "u4", 4, 1},
                                            {"uint64", "u8", 8, 1},
                                            {"float32", "f4", 4, 1},
                                            {"float64", "f8", 8, 1},
                                            {"complex64", "c8", 8, 2},
                                            {"complex128", "c16", 16, 2}}};

const type_entry& entry_of(npy_type type) { return types[static_cast<std::size_t>(type)]; }

constexpr char native_order = std::endian::native == std::endian::little ? '<' : '>';
constexpr std::string_view npy_magic("\x93NUMPY", 6);

/// Bytes of an array of that shape and element size; nothing if they do not fit in 64 bits.
std::optional<std::size_t> bytes_of(const std::vector<std::size_t>& shape, std::size_t element) {
  std::size_t bytes = element;
  if (std::find(shape.begin(), shape.end(), std::size_t{0}) != shape.end()) return 0;
  for (const std::size_t extent : shape) {
    if (bytes > std::numeric_limits<std::size_t>::max() / 2 / extent) return std::nullopt;
    bytes *= extent;
  }
  return bytes;
}

npy_type type_of(std::string_view descr, const std::string& file) {
  for (std::size_t k = 0; k < types.size(); ++k) {
    if (descr.substr(1) == types[k].code) return static_cast<npy_type>(k);
  }
  throw io_error(
      message(file, ": the array's type is ", shown(descr),
              "; bool, int8 to int64, uint8 to uint64, float32, float64, complex64 and complex128 are read"));
}

void swap_bytes(std::vector<std::byte>& bytes, std::size_t number) {
  for (std::size_t first = 0; first < bytes.size(); first += number) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(first),
                 bytes.begin() + static_cast<std::ptrdiff_t>(first + number));
  }
}

/// Reorders from first index fastest to last index fastest.
std::vector<std::byte> in_c_order(const std::vector<std::byte>& bytes, const std::vector<std::size_t>& shape,
                                  std::size_t element) {
  std::vector<std::byte> result(bytes.size());
  std::vector<std::size_t> index(shape.size(), 0), stride(shape.size(), element);
  for (std::size_t k = 1; k < shape.size(); ++k) stride[k] = stride[k - 1] * shape[k - 1];
  std::size_t from = 0;
  for (std::size_t to = 0; to < bytes.size(); to += element) {
    std::memcpy(result.data() + to, bytes.data() + from, element);
    for (std::size_t k = shape.size(); k-- > 0;) {
      from += stride[k];
      if (++index[k] < shape[k]) break;
      from -= index[k] * stride[k];
      index[k] = 0;
    }
  }
  return result;
}

std::string text_of(const std::vector<std::size_t>& shape) {
  std::string text = "(";
  for (std::size_t k = 0; k < shape.size(); ++k) text += message(k == 0 ? "" : ", ", shape[k]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// The type as the header gives it, in quotes.
std::string descr_of(npy_type type) {
  const type_entry& entry = entry_of(type);
  return message("'", entry.bytes == 1 ? '|' : native_order, entry.code, "'");
}

std::string descr_of(std::span<const npy_field> fields) {
  std::string text = "[";
  for (const npy_field& field : fields) {
    const std::string extent = field.extent > 0 ? message(", ", text_of({field.extent})) : "";
    text += message(text.size() > 1 ? ", " : "", "('", field.name, "', ", descr_of(field.type), extent, ")");
  }
  return text + "]";
}

std::size_t bytes_of(std::span<const npy_field> fields) {
  std::size_t bytes = 0;
  for (const npy_field& field : fields) bytes += size_of(field.type) * std::max<std::size_t>(field.extent, 1);
  return bytes;
}

/// The text of the header. Leaves the data in `rest`.
std::string_view header_text(std::string_view& rest, const std::string& file) {
  if (rest.empty()) throw io_error(file + ": the file is empty");
  if (rest.starts_with("PK")) {
    throw io_error(file + ": this is a .npz archive, or another zip file; numpy.save writes an array as .npy");
  }
  if (!rest.starts_with(npy_magic)) {
    throw io_error(message(file, ": this is not an .npy file (it begins with ", shown(rest.substr(0, 6)), ")"));
  }
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(rest[at])); };
  if (rest.size() < 12) throw io_error(file + ": the file is cut short in its header");
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) {
    throw io_error(message(file, ": .npy format version ", version, " is not known; 1 to 3 can be read"));
  }
  std::size_t length = byte(8) + (byte(9) << 8);
  if (version > 1) length += (byte(10) << 16) + (byte(11) << 24);
  const std::size_t begin = version > 1 ? 12 : 10;
  if (length > rest.size() - begin) throw io_error(file + ": the file is cut short in its header");
  const std::string_view text = rest.substr(begin, length);
  rest.remove_prefix(begin + length);
  return text;
}

}  // namespace

std::string_view name_of(npy_type type) { return entry_of(type).name; }
std::size_t size_of(npy_type type) { return entry_of(type).bytes; }

std::string npy_array::shape_text() const { return text_of(shape); }

std::string index_text(std::size_t element, const std::vector<std::size_t>& shape) {
  std::string text;
  for (std::size_t k = shape.size(); k-- > 0;) {
    text.insert(0, std::to_string(element % shape[k]) + (text.empty() ? "" : ", "));
    element /= shape[k];
  }
  return "[" + text + "]";
}

void npy_array::require_type(npy_type wanted) const {
  if (type == wanted) return;
  throw io_error(message(file, ": the array holds ", name_of(type), ", not ", name_of(wanted)));
}

npy_array read_npy(const std::filesystem::path& file) { return parse_npy(read_whole_file(file), file.string()); }

npy_array parse_npy(std::string_view contents, const std::string& file) {
  npy_array result;
  result.file = file;
  std::string_view rest = contents;
  const npy_header header = parse_npy_header(header_text(rest, result.file), result.file);
  result.type = type_of(header.descr, result.file);
  result.shape = header.shape;
  const type_entry& entry = entry_of(result.type);
  const auto bytes = bytes_of(header.shape, entry.bytes);
  if (!bytes || rest.size() != *bytes) {
    throw io_error(message(result.file, ": an array of shape ", result.shape_text(), " and type ", entry.name,
                           bytes ? message(" takes ", *bytes, " bytes") : " is too large", ", but the file has ",
                           rest.size(), bytes && rest.size() < *bytes ? " (it is cut short)" : ""));
  }
  result.bytes.resize(*bytes);
  if (*bytes > 0) std::memcpy(result.bytes.data(), rest.data(), *bytes);
  const char order = header.descr[0];
  if (order != '|' && order != '=' && order != native_order) swap_bytes(result.bytes, entry.bytes / entry.parts);
  if (header.fortran_order && result.shape.size() > 1) {
    result.bytes = in_c_order(result.bytes, result.shape, entry.bytes);
  }
  return result;
}

npy_file::npy_file(const std::filesystem::path& file, std::string_view descr, std::size_t element_bytes,
                   const std::vector<std::size_t>& shape)
    : file_(file) {
  const auto bytes = bytes_of(shape, element_bytes);
  require(bytes.has_value(), "an array of shape ", text_of(shape), " is too large");
  bytes_left_ = *bytes;
  std::string header = message("{'descr': ", descr, ", 'fortran_order': False, 'shape': ", text_of(shape), ", }");
  // Ten bytes precede the header, and the data begin at a multiple of 64.
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  require(header.size() < std::size_t{1} << 16, "the header takes ", header.size(),
          " bytes; version 1 has room for 65535");
  const char version_and_length[] = {1, 0, static_cast<char>(header.size() & 0xff),
                                     static_cast<char>(header.size() >> 8)};
  file_.write(npy_magic);
  file_.write(std::string_view(version_and_length, sizeof version_and_length));
  file_.write(header);
}

void npy_file::write(std::span<const std::byte> bytes) {
  require(bytes.size() <= bytes_left_, "the array has room for ", bytes_left_, " more bytes, but got ", bytes.size());
  file_.write(bytes);
  bytes_left_ -= bytes.size();
}

void npy_file::commit() {
  require(bytes_left_ == 0, "the array lacks ", bytes_left_, " bytes");
  file_.commit();
}

npy_writer::npy_writer(const std::filesystem::path& file, npy_type type, const std::vector<std::size_t>& shape)
    : file_(file, descr_of(type), size_of(type), shape), type_(type) {}

void npy_writer::write_bytes(npy_type type, std::span<const std::byte> bytes) {
  require(type == type_, "an array of ", name_of(type_), " got ", name_of(type));
  file_.write(bytes);
}

npy_record_writer::npy_record_writer(const std::filesystem::path& file, std::span<const npy_field> fields,
                                     std::size_t records)
    : file_(file, descr_of(fields), bytes_of(fields), {records}) {}

}  // namespace quadrat::io
