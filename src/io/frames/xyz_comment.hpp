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
  std::string text;                   ///< the value as written; for a quoted string, its contents
  std::vector<std::string> elements;  ///< of an array, row by row; of a string, its words
  std::size_t rows = 0;               ///< of a two-dimensional array; else 0
};

/// The comment line of an extended .xyz file, in the grammar of https://github.com/libAtoms/extxyz: pairs key = value;
/// blanks around "=" are ignored. Keys are bare or in quotes. Values are bare, in quotes with escapes, or arrays in
/// brackets (of one or two dimensions) or braces. Also accepted: single quotes, blanks between elements in brackets,
/// commas between those in braces and quotes, and keys without a value, which are skipped.
struct xyz_info {
  std::vector<std::pair<std::string, xyz_value>> pairs;
  std::string problem;  ///< what could not be parsed; empty: nothing
};
[[nodiscard]] xyz_info parse_xyz_comment(std::string_view line);

/// Whether the line has one of the keys Properties, Lattice and pbc, so that it is not just any text.
[[nodiscard]] bool has_xyz_keys(std::string_view line);

/// Whether the texts are equal, ignoring case.
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b);

/// The words of a text; `between`: the characters that separate them.
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
