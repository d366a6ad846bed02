// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/csv.hpp"

#include <algorithm>
#include <limits>

#include "io/csv_records.hpp"
#include "io/text.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class csv_parser {
 public:
  csv_parser(std::string_view text, const csv_columns& columns, csv_table& table)
      : records_(text), columns_(columns), table_(table) {}

  void parse() {
    const bool any = records_.next();
    const csv_records first = records_;
    if (!any || !take_names(records_, ',')) read_other_names(first, any);
    table_.columns.resize(table_.names.size());
    table_.words.resize(table_.names.size());
    if (row_at_hand_) read_row();
    while (records_.next()) read_row();
  }

 private:
  enum class column_kind { left_out, number, optional_number, word };

  [[noreturn]] void fail(const std::string& what) const {
    throw io_error(message(table_.file, ":", records_.line(), ": ", what));
  }
  bool next_field() {
    return records_.next_field([this](const char* what) { fail(what); });
  }

  [[nodiscard]] column_kind kind_of(std::string_view name) const {
    if (contains(columns_.numbers, name)) return column_kind::number;
    if (contains(columns_.optional, name)) return column_kind::optional_number;
    return contains(columns_.text, name) ? column_kind::word : column_kind::left_out;
  }

  /// Takes the names of the record as the header. Returns whether it names a column to read.
  bool take_names(csv_records& records, char separator) {
    table_.names.clear();
    kinds_.clear();
    records.choose_separator(separator);
    bool any = false;
    while (records.next_field([this](const char* what) { fail(what); })) {
      const std::string name(records.field());
      const column_kind kind = kind_of(name);
      any = any || kind != column_kind::left_out;
      if (kind != column_kind::left_out && table_.has(name)) fail(message("two columns are named \"", name, "\""));
      table_.names.push_back(name);
      kinds_.push_back(kind);
    }
    return any;
  }

  /// Called if the first record names no column to read. Either its names are separated by spaces, or it is a row of
  /// numbers with the names in the comment before it, as numpy.savetxt writes them.
  void read_other_names(const csv_records& first, bool any) {
    records_ = first;
    if (any && take_names(records_, ' ')) return;
    const auto is_number = [](const std::string& name) { return number_from<double>(name).has_value(); };
    const auto number = std::ranges::find_if(table_.names, is_number);
    const std::string found = any && number != table_.names.end() ? *number : "";
    csv_records comment(first.comment());
    if ((!any || !found.empty()) && comment.next() && take_names(comment, ' ')) {
      records_ = first;
      records_.choose_separator(' ');
      row_at_hand_ = any;
      return;
    }
    if (!any) throw io_error(table_.file + ": there is no line with the names of the columns");
    if (!found.empty()) {
      fail(message("the first line must name the columns (x,y,z for example), but has the number ", found));
    }
    records_ = first;
    take_names(records_, ',');
  }

  double number(std::string_view field, std::size_t k) const {
    if (field.empty() && kinds_[k] == column_kind::optional_number) return std::numeric_limits<double>::quiet_NaN();
    const auto value = number_from<double>(field);
    if (!value) {
      fail(message("column ", k + 1, " (", table_.names[k], ") is ",
                   field.empty() ? "empty" : shown(field) + ", which is not a representable number"));
    }
    return *value;
  }

  void read_row() {
    const std::size_t expected = table_.names.size();
    std::size_t count = 0;
    for (; next_field(); ++count) {
      if (count >= expected || kinds_[count] == column_kind::left_out) continue;
      if (kinds_[count] == column_kind::word) {
        table_.words[count].emplace_back(records_.field());
      } else {
        table_.columns[count].push_back(number(trimmed(records_.field()), count));
      }
    }
    if (count != expected) {
      fail(message("there ", count == 1 ? "is " : "are ", count, count == 1 ? " field" : " fields", " for ", expected,
                   expected == 1 ? " column" : " columns"));
    }
    table_.lines.push_back(records_.line());
    ++table_.rows;
  }

  csv_records records_;
  const csv_columns& columns_;
  csv_table& table_;
  std::vector<column_kind> kinds_;
  bool row_at_hand_ = false;  ///< the first record is a row of numbers, not the header
};

}  // namespace

bool csv_table::has(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }

std::size_t csv_table::index_of(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    std::string known;
    for (const std::string& one : names) known += (known.empty() ? "" : ", ") + shown(one);
    throw io_error(message(file, ": there is no column \"", name, "\"; there are ", known));
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
