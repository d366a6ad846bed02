// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "quadrat/io/npy.hpp"

namespace quadrat::program {

/// Keys of an .npy file, with at least 32 bits each.
struct key_array {
  std::string file;
  io::npy_type stored = io::npy_type::int64;  ///< in the file
  std::variant<std::vector<std::int32_t>, std::vector<std::uint32_t>, std::vector<std::int64_t>,
               std::vector<std::uint64_t>>
      keys;

  [[nodiscard]] std::size_t size() const;
};

/// Rows of numbers on the host.
struct value_array {
  std::string file;
  io::npy_type stored = io::npy_type::float64;  ///< in the file
  std::variant<std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<float>, std::vector<double>> numbers;
  std::size_t components = 1;
  bool columns = false;  ///< two axes: (n, components)

  /// The type of the numbers in memory.
  [[nodiscard]] io::npy_type type() const;
};

/// Reads keys of shape (n,), of any integer type. `name`: of keys, in messages. Throws argument_error for other files
/// than .npy, io_error that names the file and what is wrong with it.
[[nodiscard]] key_array read_keys(const std::filesystem::path& file, const std::string& name = "keys");

/// The number of keys: `asked`, or the largest key + 1. Throws data_error that names the first key out of range.
[[nodiscard]] std::uint64_t number_of_keys(const key_array& keys, std::optional<std::uint64_t> asked);

/// The precision of the computation: that of the file; that of the file, but double for integers; float; double.
enum class value_precision { as_stored, floating, single, twice };

/// Reads values of shape (rows,) or (rows, 1 to 8): int32, int64, float32 or float64. Smaller integers become int64.
/// Throws as read_keys, and data_error for a number that float cannot hold.
[[nodiscard]] value_array read_values(const std::filesystem::path& file, std::size_t rows, value_precision precision);

/// Writes rows of results to an .npy file. Throws io_error.
void write_results(const std::filesystem::path& file, const value_array& results);

}  // namespace quadrat::program
