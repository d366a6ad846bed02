// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace quadrat::io {

/// An 8-bit sRGB picture: `rgb[3 * (y * width + x) + channel]`, rows from the top. The file stores each text as a
/// keyword (1 to 79 ASCII characters, such as "Title") and its value in UTF-8.
struct image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> rgb;
  std::vector<std::pair<std::string, std::string>> text{};
};

/// Writes a PNG. Throws argument_error when the pixels do not match the size, and io_error; the file appears complete
/// or not at all.
void write_png(const std::filesystem::path& file, const image& picture);

}  // namespace quadrat::io
