// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quadrat::io {

/// A value of the comment line of an extended .xyz file.
struct xyz_value {
  std::string text;                   ///< as it stands there; of a string in quotes, what the quotes hold
  std::vector<std::string> elements;  ///< of an array, row by row; of a string, its words between white space
  std::size_t rows = 0;               ///< of an array of two dimensions; else 0
};

/// What the comment line of an extended .xyz file says, by the grammar of https://github.com/libAtoms/extxyz: pairs key
/// = value, where blanks around "=" mean nothing. Keys are bare or in quotes. Values are bare, in quotes with escapes,
/// or arrays in brackets (of one or two dimensions) or braces. Also read: single quotes, blanks between the elements of
/// brackets, commas between those of braces and quotes, and keys alone, which are skipped.
struct xyz_info {
  std::vector<std::pair<std::string, xyz_value>> pairs;
  std::string problem;  ///< what is not understood; empty: nothing
};
[[nodiscard]] xyz_info parse_xyz_comment(std::string_view line);

/// Whether the line gives a key with a meaning of its own (Properties, Lattice, pbc), so that it is not just any text.
[[nodiscard]] bool has_xyz_keys(std::string_view line);

/// Whether the texts are equal but for the case of letters.
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b);

/// What stands between the characters `between`.
[[nodiscard]] inline std::vector<std::string_view> words_of(std::string_view text, std::string_view between) {
  std::vector<std::string_view> result;
  for (std::size_t at = 0; (at = text.find_first_not_of(between, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    result.push_back(text.substr(at, end - at));
    at = end;
  }
  return result;
}

}  // namespace quadrat::io
