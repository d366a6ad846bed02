// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/xyz.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "io/frames/xyz_comment.hpp"
#include "io/text.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

/// Names of the column of charges; an earlier one is preferred.
constexpr std::array<std::string_view, 3> charge_names{"charge", "charges", "initial_charges"};

/// A number. The exponent may be written as in Fortran (1.5D+00).
std::optional<double> real_from(std::string_view text) {
  const auto value = number_from<double>(text);
  const std::size_t letter = value ? std::string_view::npos : text.find_first_of("dD");
  if (letter == std::string_view::npos) return value;
  std::string usual(text);
  usual[letter] = 'e';
  return number_from<double>(usual);
}

/// A logical value of the grammar.
std::optional<bool> logical_from(std::string_view text) {
  for (const std::string_view yes : {"T", "true", "True", "TRUE"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"F", "false", "False", "FALSE"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

/// A property of the atoms, and its first column.
struct xyz_property {
  std::string_view name;
  char kind = 'R';
  std::size_t first = 0, width = 1;
};

}  // namespace

class xyz_reader::parser {
 public:
  parser(std::string text, std::string file, const frame_columns& wanted)
      : text_(std::move(text)), lines_(text_), file_(std::move(file)), wanted_(wanted) {}

  [[nodiscard]] bool next(file_frame& frame) {
    const auto count = next_count();
    if (!count) return false;
    frame_ = {};
    frame_.file = file_;
    frame_.frames = ++frames_;
    read_frame(*count);
    frame = std::move(frame_);
    return true;
  }

  [[nodiscard]] std::size_t count_rest() {
    while (const auto count = next_count()) {
      if (!lines_.next()) fail("the file ends before the comment line");
      for (std::uint64_t i = 0; i < *count; ++i) next_atom(i, *count);
      ++frames_;
    }
    return frames_;
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
    choose_columns();
    frame_.positions.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      next_atom(i, count);
      read_atom();
    }
  }

  void next_atom(std::uint64_t i, std::uint64_t count) {
    if (!lines_.next()) fail(message("the file ends after ", i, " of ", count, " atoms"));
  }

  /// The number of atoms of the next frame, if there is one.
  [[nodiscard]] std::optional<std::uint64_t> next_count() {
    if (frames_ == 0) {
      if (!lines_.next()) throw io_error(file_ + ": the file is empty");
    } else {
      do {
        if (!lines_.next()) return std::nullopt;
      } while (trimmed(lines_.line()).empty());
    }
    const auto count = number_from<std::uint64_t>(trimmed(lines_.line()));
    if (count) return count;
    if (frames_ == 0) fail("the first line must be the number of atoms, but is " + shown(lines_.line()));
    fail(message(shown(lines_.line()), " follows frame ", frames_,
                 "; expected the end, or the number of atoms of another frame"));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw io_error(message(file_, ":", lines_.number(), ": ", what));
  }

  void read_comment() {
    properties_ = {{"species", 'S', 0, 1}, {"pos", 'R', 1, 3}};
    columns_ = 4;
    exact_ = false;
    const xyz_info comment = parse_xyz_comment(lines_.line());
    if (!comment.problem.empty()) {
      if (has_xyz_keys(lines_.line())) fail(comment.problem);
      return;
    }
    if (const xyz_value* const found = find(comment, "Lattice")) read_lattice(*found);
    if (const xyz_value* const found = find(comment, "Origin")) {
      const auto numbers = numbers_of("Origin", *found);
      if (numbers.size() != 3) fail(message("Origin has ", numbers.size(), " numbers; expected 3"));
      frame_.origin = {numbers[0], numbers[1], numbers[2]};
    }
    if (const xyz_value* const found = find(comment, "pbc")) read_periodic(*found);
    if (const xyz_value* const found = find(comment, "Time")) frame_.time = real_from(found->text);
    if (const xyz_value* const found = find(comment, "Properties")) read_properties(found->text);
  }

  /// The value of a key, ignoring case; null if there is none.
  [[nodiscard]] const xyz_value* find(const xyz_info& comment, std::string_view key) const {
    const xyz_value* found = nullptr;
    for (const auto& [name, value] : comment.pairs) {
      if (!same_letters(name, key)) continue;
      if (found != nullptr) fail(message("there are two values of ", key));
      found = &value;
    }
    return found;
  }

  void read_lattice(const xyz_value& value) {
    const std::vector<double> numbers = numbers_of("Lattice", value);
    const bool diagonal = numbers.size() == 3 && value.rows == 0;
    if (!diagonal && (numbers.size() != 9 || (value.rows != 0 && value.rows != 3))) {
      fail(message("Lattice has ", numbers.size(), " numbers; expected 9, or the 3 lengths of a cell along the axes"));
    }
    frame_.lattice.emplace();
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const int axis = static_cast<int>(k);
      (diagonal ? (*frame_.lattice)[axis][axis] : (*frame_.lattice)[axis / 3][axis % 3]) = numbers[k];
    }
    frame_.periodic = {true, true, true};
  }

  [[nodiscard]] std::vector<double> numbers_of(std::string_view key, const xyz_value& value) const {
    std::vector<double> result;
    for (const std::string& word : value.elements) {
      const auto number = real_from(word);
      if (!number) fail(message(key, " has ", shown(word), " where a number should be"));
      result.push_back(*number);
    }
    return result;
  }

  void read_periodic(const xyz_value& value) {
    const auto refuse = [&] { fail(message("pbc is ", shown(value.text), "; expected three of T and F")); };
    if (value.elements.size() != 3) refuse();
    for (int axis = 0; axis < 3; ++axis) {
      const std::string& word = value.elements[static_cast<std::size_t>(axis)];
      const auto yes = word == "1" || word == "0" ? std::optional(word == "1") : logical_from(word);
      if (!yes) refuse();
      frame_.periodic[axis] = *yes;
    }
  }

  /// Parses name:kind:columns triples, such as "species:S:1:pos:R:3". `text` is part of `names_`, which keeps it.
  void read_properties(const std::string& text) {
    names_ = text;
    const auto words = words_of(names_, ":");
    properties_.clear();
    columns_ = 0;
    exact_ = true;
    bool found = false;
    for (std::size_t k = 0; k + 2 < words.size(); k += 3) {
      const auto count = number_from<std::uint32_t>(words[k + 2]);
      if (!count || *count == 0) fail("Properties has " + shown(words[k + 2]) + " where a number of columns should be");
      if (words[k + 1].size() != 1 || std::string_view("SIRL").find(words[k + 1]) == std::string_view::npos) {
        fail("Properties has " + shown(words[k + 1]) + " where one of S, I, R and L should be");
      }
      const xyz_property one{words[k], words[k + 1].front(), columns_, *count};
      if (property(one.name) != nullptr) fail("Properties has " + shown(one.name) + " twice");
      found = found || one.name == "pos";
      if (one.name == "pos") require_numbers(one, 3);
      properties_.push_back(one);
      columns_ += *count;
    }
    if (words.size() % 3 != 0 || !found)
      fail("Properties must be triples with pos:R:3 among them, but is " + shown(text));
  }

  void require_numbers(const xyz_property& one, std::size_t width) const {
    if (one.width == width && (one.kind == 'R' || one.kind == 'I')) return;
    fail(message("Properties must give ", one.name, " as ", one.name, ":R:", width, ", but has ", shown(names_)));
  }

  [[nodiscard]] const xyz_property* property(std::string_view name) const {
    const auto found = std::ranges::find(properties_, name, &xyz_property::name);
    return found == properties_.end() ? nullptr : &*found;
  }

  /// Selects the properties to read from each atom.
  void choose_columns() {
    position_ = property("pos")->first;
    const xyz_property* const species = property("species");
    species_ = wanted_.species && species != nullptr && species->width == 1 ? species : nullptr;
    charge_ = nullptr;
    for (const std::string_view name : charge_names) {
      if (charge_ == nullptr && wanted_.charges) charge_ = property(name);
    }
    if (wanted_.charges && charge_ == nullptr) {
      fail("there are no charges; Properties must have charge:R:1, charges:R:1 or initial_charges:R:1");
    }
    if (charge_ != nullptr) require_numbers(*charge_, 1);
    if (!wanted_.fields) return;
    for (const xyz_property& one : properties_) {
      if (one.name != "pos") frame_.fields.push_back({std::string(one.name), one.kind, one.width});
    }
  }

  void read_atom() {
    const auto words = words_of(lines_.line(), " \t");
    if (exact_ ? words.size() != columns_ : words.size() < columns_) {
      fail(message("the line of an atom has ", words.size(), " columns; expected ", exact_ ? "" : "at least ", columns_,
                   exact_ ? " (Properties)" : " (a name, x, y and z)"));
    }
    vec<double, 3> position{};
    for (int axis = 0; axis < 3; ++axis) {
      const auto k = static_cast<std::size_t>(axis);
      position[axis] = number_in(words, position_ + k, std::string_view("xyz").substr(k, 1));
    }
    frame_.positions.push_back(position);
    if (species_ != nullptr) frame_.species.emplace_back(words[species_->first]);
    if (charge_ != nullptr) read_charge(words);
    if (wanted_.fields) read_fields(words);
  }

  [[nodiscard]] double number_in(const std::vector<std::string_view>& words, std::size_t column,
                                 std::string_view name) const {
    const auto value = real_from(words[column]);
    if (!value) refuse(words, column, name, "which is not a representable number");
    return *value;
  }

  [[noreturn]] void refuse(const std::vector<std::string_view>& words, std::size_t column, std::string_view name,
                           std::string_view why) const {
    fail(message("column ", column + 1, " (", name, ") is ", shown(words[column]), ", ", why));
  }

  void read_charge(const std::vector<std::string_view>& words) {
    const double charge = number_in(words, charge_->first, "charge");
    if (!std::isfinite(charge)) {
      fail(message("column ", charge_->first + 1, " (charge) is ", shown(words[charge_->first]),
                   "; charges must be finite"));
    }
    frame_.charges.push_back(charge);
  }

  void read_fields(const std::vector<std::string_view>& words) {
    std::size_t column = 0, k = 0;
    for (const xyz_property& one : properties_) {
      column = one.first;
      if (one.name == "pos") continue;
      frame_field& field = frame_.fields[k++];
      for (; column < one.first + one.width; ++column) {
        if (one.kind == 'R') {
          field.reals.push_back(number_in(words, column, one.name));
        } else if (one.kind == 'I') {
          const auto value = number_from<std::int64_t>(words[column]);
          if (!value) refuse(words, column, one.name, "which is not an integer of 64 bits");
          field.integers.push_back(*value);
        } else if (one.kind == 'L') {
          const auto value = logical_from(words[column]);
          if (!value) refuse(words, column, one.name, "which is not T or F");
          field.integers.push_back(*value ? 1 : 0);
        } else {
          field.words.emplace_back(words[column]);
        }
      }
    }
  }

  std::string text_;
  line_reader lines_;
  std::string file_;
  frame_columns wanted_;
  std::size_t frames_ = 0;
  file_frame frame_;
  // Properties of the frame. A frame without them has four columns; further ones are ignored.
  std::string names_;
  std::vector<xyz_property> properties_;
  std::size_t columns_ = 4;
  bool exact_ = false;
  std::size_t position_ = 1;
  const xyz_property *species_ = nullptr, *charge_ = nullptr;
};

xyz_reader::xyz_reader(std::string text, std::string file, const frame_columns& columns)
    : parser_(std::make_unique<parser>(std::move(text), std::move(file), columns)) {}
xyz_reader::~xyz_reader() = default;
bool xyz_reader::next(file_frame& frame) { return parser_->next(frame); }
std::size_t xyz_reader::count_rest() { return parser_->count_rest(); }

}  // namespace quadrat::io
