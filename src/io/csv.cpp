// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/csv.hpp"

#include <algorithm>
#include <limits>

#include "quadrat/core/error.hpp"
#include "suggestion.hpp"
#include "text.hpp"

namespace quadrat::io {
namespace {

/// Calls f(field, its number from 0) for each field of a line, without the white space around it.
template <typename F>
std::size_t for_each_field(std::string_view line, F&& f) {
  std::size_t count = 0;
  for (;;) {
    const std::size_t comma = line.find(',');
    f(trimmed(line.substr(0, comma)), count++);
    if (comma == std::string_view::npos) return count;
    line.remove_prefix(comma + 1);
  }
}

std::string_view without_quotes(std::string_view name) {
  if (name.size() >= 2 && name.front() == '"' && name.back() == '"') return name.substr(1, name.size() - 2);
  return name;
}

/// Goes to the next line that says something.
bool next_line(line_reader& lines) {
  while (lines.next()) {
    const std::string_view line = trimmed(lines.line());
    if (!line.empty() && line.front() != '#') return true;
  }
  return false;
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class csv_parser {
 public:
  csv_parser(std::string_view text, const csv_columns& columns, csv_table& table)
      : lines_(text), columns_(columns), table_(table) {}

  void parse() {
    if (!next_line(lines_)) throw io_error(table_.file + ": there is no line with the names of the columns");
    read_names();
    table_.columns.resize(table_.names.size());
    table_.words.resize(table_.names.size());
    while (next_line(lines_)) read_row();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw io_error(message(table_.file, ":", lines_.number(), ": ", what));
  }

  void read_names() {
    for_each_field(lines_.line(), [&](std::string_view field, std::size_t k) {
      const std::string name(without_quotes(field));
      if (name.empty()) fail(message("column ", k + 1, " has no name"));
      if (number_from<double>(name)) {
        fail(message("the first line must name the columns (x,y,z for example), but has the number ", name));
      }
      if (table_.has(name)) fail(message("two columns are named \"", name, "\""));
      table_.names.push_back(name);
      text_.push_back(contains(columns_.text, name));
      optional_.push_back(contains(columns_.optional, name));
    });
  }

  double number(std::string_view field, std::size_t k) const {
    if (field.empty() && optional_[k]) return std::numeric_limits<double>::quiet_NaN();
    const auto value = number_from<double>(field);
    if (!value) {
      fail(message("column ", k + 1, " (", table_.names[k], ") is ",
                   field.empty() ? "empty" : shown(field) + ", which is no number that can be held"));
    }
    return *value;
  }

  void read_row() {
    const std::size_t expected = table_.names.size();
    const std::size_t count = for_each_field(lines_.line(), [&](std::string_view field, std::size_t k) {
      if (k >= expected) return;
      if (text_[k]) {
        table_.words[k].emplace_back(without_quotes(field));
      } else {
        table_.columns[k].push_back(number(field, k));
      }
    });
    if (count != expected) {
      fail(message("there ", count == 1 ? "is " : "are ", count, count == 1 ? " field" : " fields", " for ", expected,
                   expected == 1 ? " column" : " columns"));
    }
    table_.lines.push_back(lines_.number());
    ++table_.rows;
  }

  line_reader lines_;
  const csv_columns& columns_;
  csv_table& table_;
  std::vector<bool> text_, optional_;  // by column
};

}  // namespace

bool csv_table::has(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }

std::size_t csv_table::index_of(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    throw io_error(message(file, ": there is no column \"", name, "\"; ", valid_names(known)));
  }
  return static_cast<std::size_t>(found - names.begin());
}

const std::vector<double>& csv_table::column(std::string_view name) const { return columns[index_of(name)]; }
const std::vector<std::string>& csv_table::text(std::string_view name) const { return words[index_of(name)]; }

csv_table parse_csv(std::string_view text, const std::string& file, const csv_columns& columns) {
  csv_table table;
  table.file = file;
  csv_parser(text, columns, table).parse();
  return table;
}

csv_table read_csv(const std::filesystem::path& file, const csv_columns& columns) {
  return parse_csv(read_whole_file(file), file.string(), columns);
}

csv_writer::csv_writer(const std::filesystem::path& file, std::span<const std::string_view> names)
    : file_(file), fields_(names.size()) {
  for (const std::string_view name : names) line_ += message(line_.empty() ? "" : ",", name);
  in_row_ = fields_;
  end_row();
}

void csv_writer::end_row() {
  require(in_row_ == fields_, "a row has ", in_row_, " fields for ", fields_, " columns");
  line_ += '\n';
  file_.write(line_);
  line_.clear();
  in_row_ = 0;
}

void csv_writer::commit() {
  require(in_row_ == 0, "the last row has not been ended");
  file_.commit();
}

}  // namespace quadrat::io
