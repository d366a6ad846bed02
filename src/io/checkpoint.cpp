// SPDX-License-Identifier: BSD-3-Clause
//
// The file, all numbers little endian:
//   char[8] magic "QUADRATC"      u32 version             u32 byte order mark 0x01020304
//   u64 bytes of the whole file   u64 step                u64 particles
//   u32 bytes of a real number    u32 number of arrays    u64 hash of the parameters
//   u64 length of the parameters  char[] parameters
//   per array: u32 length of name, char[] name, u32 element type, u64 components, u64 bytes, data
//   u32 CRC-32 of everything before it
#include "quadrat/io/checkpoint.hpp"

#include <zlib.h>

#include <array>
#include <bit>
#include <charconv>

#include "io/text.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"

namespace quadrat::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the checkpoint format is little endian");

constexpr std::array<char, 8> checkpoint_magic = {'Q', 'U', 'A', 'D', 'R', 'A', 'T', 'C'};
constexpr std::uint32_t format_version = 1;
constexpr std::uint32_t byte_order_mark = 0x01020304;

struct file_header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint64_t total_bytes;
  std::uint64_t step;
  std::uint64_t particles;
  std::uint32_t precision_bytes;
  std::uint32_t array_count;
  std::uint64_t parameters_hash;
  std::uint64_t parameters_length;
};
static_assert(sizeof(file_header) == 64 && std::is_trivially_copyable_v<file_header>);

using checksum = std::uint32_t;

/// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

std::string hexadecimal(checksum value) {
  char digits[2 * sizeof value];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, 16).ptr};
}

checksum add_to(checksum sum, std::span<const std::byte> bytes) {
  // crc32_z takes a null pointer as a request for the initial value.
  if (bytes.empty()) return sum;
  return static_cast<checksum>(crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

class writer {
 public:
  explicit writer(const std::filesystem::path& file) : file_(file) {}

  void bytes(std::span<const std::byte> data) {
    sum_ = add_to(sum_, data);
    file_.write(data);
  }
  void text(std::string_view data) { bytes(std::as_bytes(std::span(data.data(), data.size()))); }
  template <typename T>
  void number(const T& value) {
    bytes(std::as_bytes(std::span(&value, 1)));
  }
  void finish() {
    const checksum sum = sum_;
    file_.write(std::as_bytes(std::span(&sum, 1)));
    file_.commit();
  }

 private:
  atomic_file file_;
  checksum sum_ = 0;
};

/// Takes numbers and texts from the front of the verified bytes.
class reader {
 public:
  reader(const std::string& file, std::span<const std::byte> rest) : file_(file), rest_(rest) {}

  std::span<const std::byte> bytes(std::uint64_t count) {
    if (count > rest_.size()) throw io_error(message(file_, ": the lengths inside the checkpoint do not add up"));
    const auto taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  std::string text(std::uint64_t count) {
    const auto taken = bytes(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, bytes(sizeof(T)).data(), sizeof(T));
    return value;
  }

 private:
  const std::string& file_;
  std::span<const std::byte> rest_;
};

std::uint64_t file_bytes(const checkpoint& state) {
  std::uint64_t total = sizeof(file_header) + state.parameters.size() + sizeof(checksum);
  for (const checkpoint_array& array : state.arrays) {
    total += 2 * sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t) + array.name.size() + array.bytes.size();
  }
  return total;
}

file_header verified_header(const std::string& file, std::span<const std::byte> bytes) {
  const auto reject = [&](const auto&... parts) { throw io_error(message(file, ": ", parts...)); };
  file_header header;
  if (bytes.size() < sizeof header + sizeof(checksum)) {
    reject("truncated: ", bytes.size(), " bytes, but a checkpoint has at least ", sizeof header + sizeof(checksum));
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != checkpoint_magic) reject("not a Quadrat checkpoint (it does not begin with \"QUADRATC\")");
  if (header.byte_order != byte_order_mark) reject("written on a machine of another byte order, or damaged");
  if (header.version != format_version) {
    reject("checkpoint format version ", header.version, ", but this program reads version ", format_version);
  }
  if (bytes.size() != header.total_bytes) {
    reject(bytes.size() < header.total_bytes ? "truncated: " : "damaged: ", bytes.size(), " bytes, but ",
           header.total_bytes, " were written");
  }
  const auto body = bytes.first(bytes.size() - sizeof(checksum));
  checksum stored = 0;
  std::memcpy(&stored, bytes.data() + body.size(), sizeof stored);
  const checksum found = add_to(0, body);
  if (stored != found) {
    reject("damaged: its checksum is ", hexadecimal(found), ", but ", hexadecimal(stored), " was written");
  }
  return header;
}

}  // namespace

std::size_t size_of(element_type type) {
  switch (type) {
    case element_type::float32:
    case element_type::uint32:
      return 4;
    case element_type::float64:
    case element_type::uint64:
      return 8;
    case element_type::uint8:
      return 1;
  }
  throw io_error(message("unknown element type ", static_cast<std::uint32_t>(type), " in a checkpoint"));
}

bool checkpoint::has(std::string_view name) const {
  for (const checkpoint_array& array : arrays) {
    if (array.name == name) return true;
  }
  return false;
}

const checkpoint_array& checkpoint::find(std::string_view name, element_type type) const {
  for (const checkpoint_array& array : arrays) {
    if (array.name != name) continue;
    if (array.type != type) throw io_error(message("the checkpoint holds \"", name, "\" in another number type"));
    return array;
  }
  throw io_error(message("the checkpoint holds no array \"", name, "\""));
}

void write_checkpoint(const std::filesystem::path& file, const checkpoint& state) {
  writer out(file);
  out.number(file_header{checkpoint_magic, format_version, byte_order_mark, file_bytes(state), state.step,
                         state.particles, state.precision_bytes, static_cast<std::uint32_t>(state.arrays.size()),
                         hash_of(state.parameters), state.parameters.size()});
  out.text(state.parameters);
  for (const checkpoint_array& array : state.arrays) {
    out.number(static_cast<std::uint32_t>(array.name.size()));
    out.text(array.name);
    out.number(array.type);
    out.number(array.components);
    out.number(static_cast<std::uint64_t>(array.bytes.size()));
    out.bytes(array.bytes);
  }
  out.finish();
}

checkpoint read_checkpoint(const std::filesystem::path& file) {
  return parse_checkpoint(read_whole_file(file), file.string());
}

checkpoint parse_checkpoint(std::string_view contents, const std::string& file) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(contents));
  const file_header header = verified_header(file, bytes);
  reader in(file, bytes.subspan(sizeof header));
  checkpoint state;
  state.step = header.step;
  state.particles = header.particles;
  state.precision_bytes = header.precision_bytes;
  state.parameters = in.text(header.parameters_length);
  if (hash_of(state.parameters) != header.parameters_hash) {
    throw io_error(message(file, ": the hash of its parameters does not match them"));
  }
  for (std::uint32_t i = 0; i < header.array_count; ++i) {
    checkpoint_array array;
    array.name = in.text(in.number<std::uint32_t>());
    array.type = in.number<element_type>();
    if (array.type < element_type::float32 || array.type > element_type::uint8) {
      throw io_error(message(file, ": array ", shown(array.name), " is of the unknown element type ",
                             static_cast<std::uint32_t>(array.type)));
    }
    array.components = in.number<std::uint64_t>();
    const auto data = in.bytes(in.number<std::uint64_t>());
    if (data.size() % size_of(array.type) != 0) throw io_error(message(file, ": array ", shown(array.name), " is cut"));
    array.bytes.assign(data.begin(), data.end());
    state.arrays.push_back(std::move(array));
  }
  return state;
}

}  // namespace quadrat::io
