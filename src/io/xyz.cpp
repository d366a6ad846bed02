// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/xyz.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "io/text.hpp"
#include "io/xyz_comment.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

class xyz_parser {
 public:
  xyz_parser(std::string_view text, xyz_frame& frame, const xyz_columns& wanted = {})
      : lines_(text), frame_(frame), wanted_(wanted) {}

  void read_first() {
    if (!lines_.next()) throw io_error(frame_.file + ": the file is empty");
    const auto count = number_from<std::uint64_t>(trimmed(lines_.line()));
    if (!count) fail("the first line must be the number of atoms, but is " + shown(lines_.line()));
    read_frame(*count);
  }

  /// Reads the next frame; false at the end.
  [[nodiscard]] bool read_next() {
    const auto count = next_count();
    if (!count) return false;
    xyz_frame next;
    next.file = frame_.file;
    next.frames = frame_.frames + 1;
    frame_ = std::move(next);
    layout_ = {};
    read_frame(*count);
    return true;
  }

  /// Reads what follows a frame: blank lines, and further frames, which are only counted.
  void count_frames() {
    while (const auto count = next_count()) {
      if (!lines_.next()) fail("the file ends before the comment line");
      for (std::uint64_t i = 0; i < *count; ++i) next_atom(i, *count);
      ++frame_.frames;
    }
  }

 private:
  void read_frame(std::uint64_t count) {
    // An atom's line has at least six characters.
    if (count > 0 && lines_.left() / 6 < count - 1) {
      fail(message("the file is too short for ", count, " atoms; it is cut, or the number is wrong"));
    }
    if (!lines_.next()) fail("the file ends before the comment line");
    frame_.comment_line = lines_.number();
    read_comment();
    if (wanted_.charges && !layout_.charge) {
      fail("there are no charges; Properties must have charge:R:1, charges:R:1 or initial_charges:R:1");
    }
    frame_.positions.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      next_atom(i, count);
      read_atom();
    }
  }

  void next_atom(std::uint64_t i, std::uint64_t count) {
    if (!lines_.next()) fail(message("the file ends after ", i, " of ", count, " atoms"));
  }

  /// The number of atoms of a further frame, if there is one.
  [[nodiscard]] std::optional<std::uint64_t> next_count() {
    while (lines_.next()) {
      if (trimmed(lines_.line()).empty()) continue;
      const auto count = number_from<std::uint64_t>(trimmed(lines_.line()));
      if (count) return *count;
      fail(message(shown(lines_.line()), " follows frame ", frame_.frames,
                   "; expected the end, or the number of atoms of another frame"));
    }
    return std::nullopt;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw io_error(message(frame_.file, ":", lines_.number(), ": ", what));
  }

  void read_comment() {
    const auto info = parse_xyz_comment(lines_.line(), [&](const std::string& what) { fail(what); });
    if (const auto found = info.find("lattice"); found != info.end()) {
      const std::vector<double> numbers = numbers_of("Lattice", found->second, 9);
      frame_.lattice.emplace();
      for (int k = 0; k < 9; ++k) (*frame_.lattice)[k / 3][k % 3] = numbers[static_cast<std::size_t>(k)];
      frame_.periodic = {true, true, true};
    }
    if (const auto found = info.find("origin"); found != info.end()) {
      const std::vector<double> numbers = numbers_of("Origin", found->second, 3);
      frame_.origin = {numbers[0], numbers[1], numbers[2]};
    }
    if (const auto found = info.find("pbc"); found != info.end()) read_periodic(found->second);
    if (const auto found = info.find("properties"); found != info.end()) read_properties(found->second);
  }

  std::vector<double> numbers_of(const char* key, const std::string& text, std::size_t count) const {
    std::vector<double> result;
    for (const std::string_view word : words_of(text)) {
      const auto number = number_from<double>(word);
      if (!number) fail(message(key, " has ", shown(word), " where a number should be"));
      result.push_back(*number);
    }
    if (result.size() != count) fail(message(key, " has ", result.size(), " numbers; expected ", count));
    return result;
  }

  void read_periodic(const std::string& text) {
    const auto words = words_of(text);
    if (words.size() != 3) fail(message("pbc is ", shown(text), "; expected three of T and F"));
    for (int axis = 0; axis < 3; ++axis) {
      const std::string_view word = words[static_cast<std::size_t>(axis)];
      const bool yes = word == "T" || word == "True" || word == "true" || word == "1";
      const bool no = word == "F" || word == "False" || word == "false" || word == "0";
      if (!yes && !no) fail(message("pbc is ", shown(text), "; expected three of T and F"));
      frame_.periodic[axis] = yes;
    }
  }

  /// name:kind:columns triples, such as "species:S:1:pos:R:3".
  void read_properties(const std::string& text) {
    const auto words = words_of(text, ":");
    bool found = false;
    layout_ = {0, {}, {}, 0, true};
    std::size_t rank = charge_names.size();
    for (std::size_t k = 0; k + 2 < words.size(); k += 3) {
      const auto count = number_from<std::uint32_t>(words[k + 2]);
      if (!count || *count == 0) fail("Properties has " + shown(words[k + 2]) + " where a number of columns should be");
      const bool numbers = words[k + 1] == "R" || words[k + 1] == "I";
      if (words[k] == "pos") {
        if (*count != 3 || !numbers) fail("Properties must give pos as pos:R:3, but has " + shown(text));
        layout_.position = layout_.columns;
        found = true;
      }
      if (words[k] == "species" && *count == 1) layout_.species = layout_.columns;
      const auto name = static_cast<std::size_t>(std::ranges::find(charge_names, words[k]) - charge_names.begin());
      if (wanted_.charges && name < rank) {
        if (*count != 1 || !numbers) {
          fail(message("Properties must give ", words[k], " as ", words[k], ":R:1, but has ", shown(text)));
        }
        layout_.charge = layout_.columns;
        rank = name;
      }
      layout_.columns += *count;
    }
    if (words.size() % 3 != 0 || !found)
      fail("Properties must be triples with pos:R:3 among them, but is " + shown(text));
  }

  [[nodiscard]] double number_in(const std::vector<std::string_view>& words, std::size_t column,
                                 std::string_view name) const {
    const auto value = number_from<double>(words[column]);
    if (value) return *value;
    fail(message("column ", column + 1, " (", name, ") is ", shown(words[column]),
                 ", which is not a representable number"));
  }

  void read_atom() {
    const auto words = words_of(lines_.line(), " \t");
    if (layout_.exact ? words.size() != layout_.columns : words.size() < layout_.columns) {
      fail(message("the line of an atom has ", words.size(), " columns; expected ", layout_.exact ? "" : "at least ",
                   layout_.columns, layout_.exact ? " (Properties)" : " (a name, x, y and z)"));
    }
    vec<double, 3> position{};
    for (int axis = 0; axis < 3; ++axis) {
      const auto k = static_cast<std::size_t>(axis);
      position[axis] = number_in(words, layout_.position + k, std::string_view("xyz").substr(k, 1));
    }
    frame_.positions.push_back(position);
    if (wanted_.species && layout_.species) frame_.species.emplace_back(words[*layout_.species]);
    if (!wanted_.charges) return;
    const double charge = number_in(words, *layout_.charge, "charge");
    if (!std::isfinite(charge)) {
      fail(message("column ", *layout_.charge + 1, " (charge) is ", shown(words[*layout_.charge]),
                   "; charges must be finite"));
    }
    frame_.charges.push_back(charge);
  }

  /// Names of the column of charges; an earlier one is preferred.
  static constexpr std::array<std::string_view, 3> charge_names{"charge", "charges", "initial_charges"};

  /// Where the columns of an atom's line are; that of a frame without Properties.
  struct column_layout {
    std::size_t position = 1;  ///< the first of three
    std::optional<std::size_t> species = 0;
    std::optional<std::size_t> charge{};
    std::size_t columns = 4;
    bool exact = false;  ///< no further columns may follow
  };

  line_reader lines_;
  xyz_frame& frame_;
  xyz_columns wanted_;
  column_layout layout_;
};

}  // namespace

xyz_frame read_xyz(const std::filesystem::path& file) { return parse_xyz(read_whole_file(file), file.string()); }

xyz_frame parse_xyz(std::string_view text, const std::string& file) {
  xyz_frame frame;
  frame.file = file;
  xyz_parser parser(text, frame);
  parser.read_first();
  parser.count_frames();
  return frame;
}

void for_each_xyz_frame(const std::filesystem::path& file, const xyz_columns& columns,
                        const std::function<void(const xyz_frame&)>& f) {
  parse_xyz_frames(read_whole_file(file), file.string(), columns, f);
}

void parse_xyz_frames(std::string_view text, const std::string& file, const xyz_columns& columns,
                      const std::function<void(const xyz_frame&)>& f) {
  xyz_frame frame;
  frame.file = file;
  xyz_parser parser(text, frame, columns);
  parser.read_first();
  f(frame);
  while (parser.read_next()) f(frame);
}

}  // namespace quadrat::io
