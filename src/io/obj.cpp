// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/triangle_corners.hpp"

namespace quadrat::io {
namespace {

constexpr std::array<std::string_view, 14> skipped{"vn", "vt", "g",      "o",      "s",     "usemtl",   "mtllib",
                                                   "p",  "l",  "usemap", "maplib", "bevel", "c_interp", "d_interp"};

class obj_parser {
 public:
  obj_parser(std::string_view text, const std::string& file) : lines_(text), corners_(file) {}

  triangle_mesh read() {
    while (next_statement()) {
      std::string_view rest = statement_;
      const std::string_view word = take_word(rest);
      if (word == "v") {
        vertices_.push_back(take_place(rest, corners_, line_));  // a weight or a color may follow
      } else if (word == "f") {
        read_face(rest);
      } else if (!word.empty() && std::find(skipped.begin(), skipped.end(), word) == skipped.end()) {
        corners_.fail(line_,
                      message("the statement ", shown(word),
                              " is not supported; v and f are used, normals, textures, groups, materials, points "
                              "and lines are skipped"));
      }
    }
    return corners_.mesh();
  }

 private:
  /// The next line without its comment, with those that a backslash at its end joins to it.
  bool next_statement() {
    statement_.clear();
    for (bool more = true; more;) {
      if (!lines_.next()) return !statement_.empty();
      if (statement_.empty()) line_ = lines_.number();
      std::string_view part = trimmed(lines_.line().substr(0, lines_.line().find('#')));
      more = part.ends_with('\\');
      if (more) part.remove_suffix(1);
      statement_.append(part).append(" ");
    }
    return true;
  }

  /// The vertex that a corner `v`, `v/vt`, `v//vn` or `v/vt/vn` names.
  [[nodiscard]] const vec<double, 3>& corner(std::string_view word) const {
    const auto index = number_from<std::int64_t>(word.substr(0, word.find('/')));
    const auto count = static_cast<std::int64_t>(vertices_.size());
    if (!index || *index == 0 || *index > count || *index < -count) {
      corners_.fail(line_, message("the face names the vertex ", shown(word), "; there are ", count,
                                   " vertices before it, numbered from 1, or from -1 backwards"));
    }
    return vertices_[static_cast<std::size_t>(*index > 0 ? *index - 1 : count + *index)];
  }

  void read_face(std::string_view rest) {
    face_.clear();
    for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) face_.push_back(corner(word));
    if (face_.size() < 3) {
      corners_.fail(line_, message("the face has ", face_.size(), " corners; a face needs at least 3"));
    }
    if (face_.size() > 3) require_convex();
    for (std::size_t k = 2; k < face_.size(); ++k) corners_.add(face_[0], face_[k - 1], face_[k], line_);
  }

  /// A polygon is convex if it turns to the same side at each corner, and goes around once: then no triangle at its
  /// first corner is turned over, either.
  void require_convex() const {
    const std::size_t n = face_.size();
    vec<double, 3> normal{};
    for (std::size_t k = 2; k < n; ++k) normal += cross(face_[k - 1] - face_[0], face_[k] - face_[0]);
    const auto turns_over = [&](const vec<double, 3>& a, const vec<double, 3>& b, const vec<double, 3>& c) {
      // Corners on one line may turn to either side by rounding.
      const double turn = dot(cross(b - a, c - b), normal), size = std::sqrt(squared_norm(normal));
      return !(turn >= -1e-6 * size * std::sqrt(squared_norm(b - a) * squared_norm(c - b)));
    };
    for (std::size_t k = 0; k < n; ++k) {
      const bool fan = k >= 2 && turns_over(face_[0], face_[k - 1], face_[k]);
      if (fan || turns_over(face_[k], face_[(k + 1) % n], face_[(k + 2) % n])) {
        corners_.fail(line_, message("the face with ", n, " corners is not convex; cut it into triangles"));
      }
    }
  }

  line_reader lines_;
  triangle_corners corners_;
  std::size_t line_ = 0;
  std::string statement_;
  std::vector<vec<double, 3>> vertices_, face_;
};

}  // namespace

triangle_mesh parse_obj(std::string_view text, const std::string& file) { return obj_parser(text, file).read(); }

}  // namespace quadrat::io
