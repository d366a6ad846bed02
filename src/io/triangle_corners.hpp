// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/text.hpp"
#include "quadrat/contacts/triangles.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/triangle_mesh.hpp"

/// What the readers of triangle meshes share.
namespace quadrat::io {

inline constexpr std::size_t most_triangles = std::size_t{1} << 30;  // corners have 32 bits

inline constexpr std::string_view unsound_triangle =
    " has no area, or a corner that is not finite or beyond 1e75; a triangle needs three corners that are not on one "
    "line";

/// The corners of triangles as they are read.
class triangle_corners {
 public:
  explicit triangle_corners(const std::string& file) : file_(file) {}

  /// `where`: the place in the file, for messages.
  template <typename Where>
  void add(const vec<double, 3>& a, const vec<double, 3>& b, const vec<double, 3>& c, const Where& where) {
    if (!triangle_is_sound(a, b, c)) fail(where, message("the triangle", unsound_triangle));
    if (corners_.size() / 3 == most_triangles)
      fail(where, message("there are more than ", most_triangles, " triangles"));
    corners_.insert(corners_.end(), {a, b, c});
  }
  template <typename Where>
  [[noreturn]] void fail(const Where& where, const std::string& what) const {
    throw io_error(message(file_, ":", where, ": ", what));
  }
  [[nodiscard]] triangle_mesh mesh() const {
    if (corners_.empty()) throw io_error(message(file_, ": there are no triangles"));
    return make_triangle_mesh(corners_);
  }

 private:
  const std::string& file_;
  std::vector<vec<double, 3>> corners_;
};

/// Takes the first word off a text; empty at the end.
inline std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\v\f"));
  text.remove_prefix(word.size());
  return word;
}

/// Three coordinates off the beginning of the line; fails with its number.
inline vec<double, 3> take_place(std::string_view& rest, const triangle_corners& corners, std::size_t line) {
  vec<double, 3> result;
  for (int axis = 0; axis < 3; ++axis) {
    const std::string_view word = take_word(rest);
    const auto value = number_from<double>(word);
    if (!value || !(std::fabs(*value) <= largest_length<double>)) {
      corners.fail(line, message(word.empty() ? std::string("the line ends") : shown(word),
                                 " where a coordinate is expected; a vertex has three numbers of magnitude up to ",
                                 largest_length<double>));
    }
    result[axis] = *value;
  }
  return result;
}

}  // namespace quadrat::io
