// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/characters.hpp"

#include <algorithm>
#include <cstddef>

#include "quadrat/core/error.hpp"
#include "quadrat/io/scene.hpp"

namespace quadrat::io {

namespace {

/// The position after the string that begins at `begin`. An unclosed string ends with its line or the text.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  const bool multiline = text.substr(begin, 3) == std::string(3, quote);
  const std::string_view closing = text.substr(begin, multiline ? 3 : 1);
  std::size_t at = begin + closing.size();
  while (at < text.size()) {
    if (text.substr(at, closing.size()) == closing) {
      at += closing.size();
      // Up to two quotes may precede the three that close a multiline string.
      while (multiline && at < text.size() && text[at] == quote) ++at;
      return at;
    }
    if (text[at] == '\n' && !multiline) return at;
    at += quote == '"' && text[at] == '\\' ? 2 : 1;
  }
  return text.size();
}

}  // namespace

void require_ascii_outside_strings(std::string_view text, const std::string& name) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  std::size_t at = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_string(text, at);
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (static_cast<unsigned char>(c) < 0x80) {
      ++at;
    } else {
      const std::string_view before = text.substr(0, at);
      const auto line = 1 + std::count(before.begin(), before.end(), '\n');
      const std::string_view on_line = before.substr(before.rfind('\n') + 1);
      const auto column = 1 + std::ranges::count_if(on_line, [](char b) { return (b & 0xc0) != 0x80; });
      throw scene_error(
          message(name, ":", line, ":", column, ": a character beyond ASCII is possible in strings and comments only"));
    }
  }
}

}  // namespace quadrat::io
