// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "io/triangle_corners.hpp"

namespace quadrat::io {
namespace {

// A binary file: 80 bytes of any text, the number of triangles, and 50 bytes for each: the normal, three corners, and
// 16 bits of attributes. Numbers are little-endian, coordinates float.
constexpr std::size_t head_bytes = 84, triangle_bytes = 50, normal_bytes = 12;

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t k = 0; k < 4; ++k)
    word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + k])) << 8 * k;
  return word;
}

/// What the length of a binary file should be.
std::uint64_t binary_bytes(std::string_view bytes) {
  return head_bytes + std::uint64_t{triangle_bytes} * word_at(bytes, head_bytes - 4);
}

triangle_mesh parse_binary(std::string_view bytes, const std::string& file) {
  triangle_corners corners(file);
  const std::uint32_t count = word_at(bytes, head_bytes - 4);
  for (std::uint32_t t = 0; t < count; ++t) {
    const std::size_t begin = head_bytes + std::size_t{t} * triangle_bytes + normal_bytes;
    const auto corner = [&](std::size_t k) {
      return make_vec<double, 3>([&](int axis) {
        return double{std::bit_cast<float>(word_at(bytes, begin + 12 * k + 4 * static_cast<std::size_t>(axis)))};
      });
    };
    corners.add(corner(0), corner(1), corner(2), message("triangle ", std::uint64_t{t} + 1));
  }
  return corners.mesh();
}

bool same_word(std::string_view word, std::string_view lower) {
  return std::equal(word.begin(), word.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); });
}

class ascii_stl {
 public:
  ascii_stl(std::string_view text, const std::string& file) : lines_(text), corners_(file) {}

  triangle_mesh read() {
    while (next_line()) read_solid();
    return corners_.mesh();
  }

 private:
  /// Goes to the next line that is not blank; false at the end.
  bool next_line() {
    while (lines_.next()) {
      rest_ = trimmed(lines_.line());
      if (!rest_.empty()) return true;
    }
    return false;
  }
  void next_line_of(std::string_view what) {
    if (!next_line()) corners_.fail(lines_.number(), message("the file ends inside a ", what));
  }
  /// Takes these words off the line.
  void take(std::initializer_list<std::string_view> words, std::string_view expected) {
    for (const std::string_view word : words) {
      const std::string_view line = trimmed(lines_.line());
      if (!same_word(take_word(rest_), word))
        corners_.fail(lines_.number(), message(shown(line), " where \"", expected, "\" is expected"));
    }
  }
  void end_of_line() {
    if (!trimmed(rest_).empty())
      corners_.fail(lines_.number(), message(shown(trimmed(rest_)), " after the end of a statement"));
  }

  /// A line `solid`, triangles, and a line `endsolid`; names may follow both.
  void read_solid() {
    take({"solid"}, "solid");
    for (;;) {
      next_line_of("solid");
      std::string_view ahead = rest_;
      if (same_word(take_word(ahead), "endsolid")) return;
      read_triangle();
    }
  }

  void read_triangle() {
    const std::size_t line = lines_.number();
    take({"facet", "normal"}, "facet normal x y z\" or \"endsolid");
    next_line_of("facet");
    take({"outer", "loop"}, "outer loop");
    end_of_line();
    vec<double, 3> corner[3];
    for (auto& p : corner) {
      next_line_of("facet");
      take({"vertex"}, "vertex x y z");
      p = take_place(rest_, corners_, lines_.number());
      end_of_line();
    }
    for (const std::string_view word : {"endloop", "endfacet"}) {
      next_line_of("facet");
      take({word}, word);
      end_of_line();
    }
    corners_.add(corner[0], corner[1], corner[2], line);
  }

  line_reader lines_;
  std::string_view rest_;
  triangle_corners corners_;
};

}  // namespace

triangle_mesh parse_stl(std::string_view bytes, const std::string& file) {
  const bool has_head = bytes.size() >= head_bytes;
  if (has_head && bytes.size() == binary_bytes(bytes)) return parse_binary(bytes, file);
  // Binary files may begin with "solid", too, but have zeros among their bytes.
  const bool text = bytes.find('\0') == std::string_view::npos;
  std::string_view begin = trimmed(bytes.substr(0, head_bytes));
  if (text && same_word(take_word(begin).substr(0, 5), "solid")) return ascii_stl(bytes, file).read();
  if (!has_head) {
    throw io_error(message(file, ": the file holds ", bytes.size(),
                           " bytes; an STL file begins with \"solid\", or with ", head_bytes,
                           " bytes that say how many triangles follow"));
  }
  throw io_error(message(file, ": the file holds ", bytes.size(), " bytes, but says that ",
                         word_at(bytes, head_bytes - 4), " triangles follow, which a binary STL file needs ",
                         binary_bytes(bytes), " bytes for; an ASCII file begins with \"solid\""));
}

}  // namespace quadrat::io
