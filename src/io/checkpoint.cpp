// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/checkpoint.hpp"

#include "io/checkpoint_format.hpp"
#include "io/checkpoint_hdf5.hpp"
#include "io/text.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"

namespace quadrat::io {
namespace {

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

/// The header, and the checksum of all that comes before it.
file_header verified_header(const std::string& file, std::span<const std::byte> bytes) {
  const file_header header = checked_header(file, bytes, bytes.size());
  const auto body = bytes.first(bytes.size() - sizeof(checksum));
  checksum stored = 0;
  std::memcpy(&stored, bytes.data() + body.size(), sizeof stored);
  check_sum(file, add_to(0, body), stored);
  return header;
}

}  // namespace

file_header checked_header(const std::string& file, std::span<const std::byte> begin, std::uint64_t bytes) {
  const auto reject = [&](const auto&... parts) { throw io_error(message(file, ": ", parts...)); };
  file_header header;
  if (bytes < sizeof header + sizeof(checksum)) {
    reject("truncated: ", bytes, " bytes, but a checkpoint has at least ", sizeof header + sizeof(checksum));
  }
  std::memcpy(&header, begin.data(), sizeof header);
  if (header.magic != checkpoint_magic) reject("not a Quadrat checkpoint (it does not begin with \"QUADRATC\")");
  if (header.byte_order != byte_order_mark) reject("written on a machine of another byte order, or damaged");
  if (header.version != format_version && header.version != hdf5_version) {
    reject("checkpoint format version ", header.version, ", but this program reads versions ", format_version, " and ",
           hdf5_version);
  }
  if (bytes != header.total_bytes) {
    reject(bytes < header.total_bytes ? "truncated: " : "damaged: ", bytes, " bytes, but ", header.total_bytes,
           " were written");
  }
  return header;
}

void check_sum(const std::string& file, checksum found, checksum stored) {
  if (stored == found) return;
  throw io_error(
      message(file, ": damaged: its checksum is ", hexadecimal(found), ", but ", hexadecimal(stored), " was written"));
}

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
  out.number(header_of(state, state.arrays.size(), file_bytes(state)));
  out.text(state.parameters);
  for (const checkpoint_array& array : state.arrays) {
    out.text(array_head(array, array.bytes.size()));
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
  if (header.version == hdf5_version) {
    for (array_place& one : arrays_in_hdf5(file, bytes)) {
      const auto data = reader(file, bytes.subspan(one.offset)).bytes(one.bytes);
      one.array.bytes.assign(data.begin(), data.end());
      state.arrays.push_back(std::move(one.array));
    }
    return state;
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
