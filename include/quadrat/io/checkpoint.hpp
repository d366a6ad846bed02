// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "quadrat/core/error.hpp"

namespace quadrat::io {

/// What an array of a checkpoint holds. The numbers are part of the file format.
enum class element_type : std::uint32_t { float32 = 1, float64 = 2, uint32 = 3, uint64 = 4, uint8 = 5 };

template <typename T>
inline constexpr element_type element_type_of = [] {
  if constexpr (std::is_same_v<T, float>) return element_type::float32;
  if constexpr (std::is_same_v<T, double>) return element_type::float64;
  if constexpr (std::is_same_v<T, std::uint32_t>) return element_type::uint32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return element_type::uint64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return element_type::uint8;
}();

/// Bytes of one element.
[[nodiscard]] std::size_t size_of(element_type type);

/// A named array of rows x components elements.
struct checkpoint_array {
  std::string name;
  element_type type = element_type::uint8;
  std::uint64_t components = 1;
  std::vector<std::byte> bytes;
};

/// A state from which a run can continue: its parameters (as text) and everything that changes with time.
struct checkpoint {
  std::uint64_t step = 0;
  std::uint64_t particles = 0;
  std::uint32_t precision_bytes = 4;  ///< sizeof of the simulation's floating-point type
  std::string parameters;             ///< `key = value` lines of the scene
  std::vector<checkpoint_array> arrays;

  /// Adds an array of trivially copyable elements, `components` per row.
  template <typename T>
  void add(const std::string& name, std::span<const T> values, std::uint64_t components = 1) {
    const auto bytes = std::as_bytes(values);
    arrays.push_back({name, element_type_of<T>, components, {bytes.begin(), bytes.end()}});
  }

  /// A copy of the array of that name. Throws io_error when there is none, or it holds another type.
  template <typename T>
  [[nodiscard]] std::vector<T> get(std::string_view name) const {
    const checkpoint_array& array = find(name, element_type_of<T>);
    std::vector<T> values(array.bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
    return values;
  }

  [[nodiscard]] bool has(std::string_view name) const;

 private:
  [[nodiscard]] const checkpoint_array& find(std::string_view name, element_type type) const;
};

/// Writes the checkpoint, atomically replacing an older one (see atomic_file). Throws io_error; the older one is then
/// left intact.
void write_checkpoint(const std::filesystem::path& file, const checkpoint& state);

/// Reads and verifies a checkpoint: length, magic, byte order, version, checksum. Throws io_error that names the file,
/// what was found and what was expected.
[[nodiscard]] checkpoint read_checkpoint(const std::filesystem::path& file);
/// The same for bytes in memory; `file` is their name in messages.
[[nodiscard]] checkpoint parse_checkpoint(std::string_view contents, const std::string& file);

}  // namespace quadrat::io
