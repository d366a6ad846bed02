// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "quadrat/core/error.hpp"
#include "quadrat/io/checkpoint.hpp"

/// The file of a checkpoint, all numbers little endian:
///   char[8] magic "QUADRATC"      u32 version             u32 byte order mark 0x01020304
///   u64 bytes of the whole file   u64 step                u64 particles
///   u32 bytes of a real number    u32 number of arrays    u64 hash of the parameters
///   u64 length of the parameters  char[] parameters
///   per array: u32 length of name, char[] name, u32 element type, u64 components, u64 bytes, data
///   u32 CRC-32 of everything before it
/// In version 2 an HDF5 file takes the place of the arrays. It begins at the next power of two from 512 on. HDF5 calls
/// what is before it a user block.
namespace quadrat::io {

static_assert(std::endian::native == std::endian::little, "the checkpoint format is little endian");

inline constexpr std::array<char, 8> checkpoint_magic = {'Q', 'U', 'A', 'D', 'R', 'A', 'T', 'C'};
inline constexpr std::uint32_t format_version = 1, hdf5_version = 2;
inline constexpr std::uint32_t byte_order_mark = 0x01020304;

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
[[nodiscard]] inline std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

[[nodiscard]] inline std::string hexadecimal(checksum value) {
  char digits[2 * sizeof value];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, 16).ptr};
}

[[nodiscard]] inline checksum add_to(checksum sum, std::span<const std::byte> bytes) {
  // crc32_z takes a null pointer as a request for the initial value.
  if (bytes.empty()) return sum;
  return static_cast<checksum>(crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

[[nodiscard]] inline file_header header_of(const checkpoint& state, std::size_t arrays, std::uint64_t total_bytes,
                                           std::uint32_t version = format_version) {
  return {checkpoint_magic,
          version,
          byte_order_mark,
          total_bytes,
          state.step,
          state.particles,
          state.precision_bytes,
          static_cast<std::uint32_t>(arrays),
          hash_of(state.parameters),
          state.parameters.size()};
}

/// Where the HDF5 file of version 2 begins.
[[nodiscard]] inline std::uint64_t hdf5_begin(std::uint64_t parameters_length) {
  return std::bit_ceil(std::max<std::uint64_t>(512, sizeof(file_header) + parameters_length));
}

/// The bytes before the data of an array, whose data take `bytes` bytes.
[[nodiscard]] inline std::string array_head(const checkpoint_array& array, std::uint64_t bytes) {
  std::string head;
  const auto add = [&](const auto& value) { head.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(static_cast<std::uint32_t>(array.name.size()));
  head += array.name;
  add(array.type);
  add(array.components);
  add(bytes);
  return head;
}

[[nodiscard]] inline std::uint64_t file_bytes(const checkpoint& state) {
  std::uint64_t total = sizeof(file_header) + state.parameters.size() + sizeof(checksum);
  for (const checkpoint_array& array : state.arrays) {
    total += array_head(array, 0).size() + array.bytes.size();
  }
  return total;
}

/// Checks the header in the first bytes of a file of that length. Throws io_error.
[[nodiscard]] file_header checked_header(const std::string& file, std::span<const std::byte> begin,
                                         std::uint64_t bytes);
/// Throws io_error when the checksum found is not the one stored.
void check_sum(const std::string& file, checksum found, checksum stored);

}  // namespace quadrat::io
