// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quadrat::io {

/// The key=value pairs of the comment line of an extended .xyz file, keys in lower case. Values may be in quotes or
/// brackets of any kind. Words without a value are skipped. `fail(text)` is called for an unclosed bracket.
template <typename Fail>
[[nodiscard]] std::map<std::string, std::string> parse_xyz_comment(std::string_view line, Fail&& fail) {
  constexpr std::string_view blank = " \t,";
  constexpr std::string_view opening = "\"'[{(", closing = "\"']})";
  std::map<std::string, std::string> result;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(blank, at)) != std::string_view::npos) {
    const std::size_t end = line.find_first_of("= \t", at);
    std::string key(line.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos || line[end] != '=') {
      at = end == std::string_view::npos ? line.size() : end;
      continue;
    }
    std::size_t first = end + 1, last = std::string_view::npos;
    const std::size_t bracket = first < line.size() ? opening.find(line[first]) : std::string_view::npos;
    if (bracket != std::string_view::npos) {
      // Brackets may be nested ("[[1, 0, 0], ...]"); the value ends with the closing bracket that is not followed by
      // another.
      last = line.find(closing[bracket], ++first);
      while (bracket > 1 && last != std::string_view::npos) {
        const std::size_t next = line.find_first_not_of(" \t", last + 1);
        const bool inner = next != std::string_view::npos && (line[next] == ',' || line[next] == closing[bracket]);
        if (!inner) break;
        last = line.find(closing[bracket], next);
      }
      if (last == std::string_view::npos) fail("the value of " + key + " has no end");
      at = last + 1;
    } else {
      last = line.find_first_of(" \t", first);
      at = last == std::string_view::npos ? line.size() : last;
    }
    for (char& c : key) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    result[key] = std::string(line.substr(first, last == std::string_view::npos ? last : last - first));
  }
  return result;
}

/// The words of a value, between white space, commas and brackets.
[[nodiscard]] inline std::vector<std::string_view> words_of(std::string_view text,
                                                            std::string_view between = " \t,[]{}()") {
  std::vector<std::string_view> result;
  for (std::size_t at = 0; (at = text.find_first_not_of(between, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    result.push_back(text.substr(at, end - at));
    at = end;
  }
  return result;
}

}  // namespace quadrat::io
