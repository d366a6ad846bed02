// SPDX-License-Identifier: BSD-3-Clause
#include "io/frames/xyz_comment.hpp"

#include <array>

#include "io/text.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

class comment_parser {
 public:
  explicit comment_parser(std::string_view line) : line_(line) {}

  xyz_info parse() {
    while (more() && read_pair()) {
    }
    return std::move(result_);
  }

 private:
  static constexpr std::string_view blank = " \t\r\n\v\f";
  /// A bare word holds these characters only behind a backslash.
  static constexpr std::string_view special = "=\",}{][\\";

  /// Goes to the next character that is not blank; false at the end.
  bool more() {
    at_ = std::min(line_.find_first_not_of(blank, at_), line_.size());
    return at_ < line_.size();
  }
  [[nodiscard]] char now() const { return at_ < line_.size() ? line_[at_] : '\0'; }
  [[nodiscard]] bool quoted() const { return now() == '"' || now() == '\''; }
  [[nodiscard]] std::string rest() const { return shown(line_.substr(at_)); }

  bool fail(std::string what) {
    result_.problem = std::move(what);
    return false;
  }

  bool read_pair() {
    std::string key;
    if (!read_string(key, "a key")) return false;
    const std::size_t behind = at_;
    if (!more() || now() != '=') {
      if (at_ == line_.size() || at_ > behind) return true;
      return fail("there is " + rest() + " behind " + shown(key) + ", where = or a blank should be");
    }
    ++at_;
    if (!more()) return fail(shown(key + " =") + " has no value");
    xyz_value value;
    if (!read_value(key, value)) return false;
    result_.pairs.emplace_back(std::move(key), std::move(value));
    return true;
  }

  bool read_value(const std::string& key, xyz_value& value) {
    const std::size_t first = at_;
    if (now() == '[' || now() == '{') {
      if (!read_array(key, value, now() == '[')) return false;
      value.text = line_.substr(first, at_ - first);
    } else {
      if (!read_string(value.text, "the value of " + key)) return false;
      for (const std::string_view word : words_of(value.text, " \t\r\n\v\f,")) value.elements.emplace_back(word);
    }
    if (at_ == line_.size() || blank.find(now()) != std::string_view::npos) return true;
    return fail("there is " + rest() + " behind the value of " + key + ", where a blank should be; strings with " +
                std::string(special) + " must be in quotes");
  }

  /// Reads an array, from its opening bracket on. With `may_nest` its rows may be arrays.
  bool read_array(const std::string& key, xyz_value& value, bool may_nest) {
    const char closing = line_[at_++] == '[' ? ']' : '}';
    for (bool first = true, comma = false; more(); first = false) {
      if (now() == closing) {
        if (first || comma) return fail("the value of " + key + " has nothing before " + rest());
        ++at_;
        return true;
      }
      if (!read_element(key, value, may_nest)) return false;
      comma = more() && now() == ',';
      if (comma) ++at_;
    }
    return fail("the value of " + key + " has no end");
  }

  bool read_element(const std::string& key, xyz_value& value, bool may_nest) {
    std::vector<std::string>& all = value.elements;
    if (may_nest && now() == '[') {
      const std::size_t before = all.size();
      if (!read_array(key, value, false)) return false;
      ++value.rows;
      if (all.size() == value.rows * (all.size() - before)) return true;
    } else {
      if (!read_string(all.emplace_back(), "an element of " + key)) return false;
      if (!may_nest || value.rows == 0) return true;
    }
    return fail("the rows of " + key + " differ in length");
  }

  bool read_string(std::string& text, const std::string& what) {
    if (quoted()) return read_quoted(text, what);
    for (; at_ < line_.size(); ++at_) {
      const bool escaped = now() == '\\' && at_ + 1 < line_.size();
      if (escaped) {
        ++at_;
      } else if (blank.find(now()) != std::string_view::npos || special.find(now()) != std::string_view::npos) {
        break;
      }
      text += now();
    }
    return !text.empty() || fail("there is " + rest() + " where " + what + " should be");
  }

  /// Reads from the opening quote on. A backslash makes the next character literal, except that \n is a new line.
  bool read_quoted(std::string& text, const std::string& what) {
    const char closing = line_[at_++];
    for (; at_ < line_.size(); ++at_) {
      if (now() == closing) {
        ++at_;
        return true;
      }
      const bool escaped = now() == '\\' && ++at_ < line_.size();
      text += escaped && now() == 'n' ? '\n' : now();
    }
    return fail(what + " has no end");
  }

  std::string_view line_;
  std::size_t at_ = 0;
  xyz_info result_;
};

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

xyz_info parse_xyz_comment(std::string_view line) { return comment_parser(line).parse(); }

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower_letter, lower_letter);
}

bool has_xyz_keys(std::string_view line) {
  constexpr std::array<std::string_view, 3> keys{"properties", "lattice", "pbc"};
  constexpr std::string_view between = " \t\r\n\v\f\"'";
  for (std::size_t equals = 0; (equals = line.find('=', equals)) != std::string_view::npos; ++equals) {
    const std::size_t end = line.substr(0, equals).find_last_not_of(between) + 1;
    const std::size_t first = line.substr(0, end).find_last_of(" \t\r\n\v\f\"'=") + 1;
    const auto is_key = [&](std::string_view key) { return same_letters(line.substr(first, end - first), key); };
    if (std::ranges::any_of(keys, is_key)) return true;
  }
  return false;
}

}  // namespace quadrat::io
