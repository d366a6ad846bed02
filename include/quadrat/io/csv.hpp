// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/io/atomic_file.hpp"

/// Tables as text (RFC 4180): a line with the names of the columns, then a line a row, fields between commas.
namespace quadrat::io {

/// The columns to read, by name. A table need not have them, and may have others, which can hold anything.
struct csv_columns {
  std::vector<std::string_view> numbers;   ///< numbers in every row
  std::vector<std::string_view> optional;  ///< numbers; fields may be empty: NaN
  std::vector<std::string_view> text;      ///< words
};

/// Columns by name.
struct csv_table {
  std::string file;                             ///< for messages
  std::vector<std::string> names;               ///< of all columns
  std::vector<std::vector<double>> columns;     ///< by name: the numbers of all rows; empty for other columns
  std::vector<std::vector<std::string>> words;  ///< by name: the words of all rows; empty for other columns
  std::vector<std::size_t> lines;               ///< by row: its line in the file, from 1
  std::size_t rows = 0;

  [[nodiscard]] bool has(std::string_view name) const;
  /// The numbers of the column of that name, which was asked for. Throws io_error that says which there are.
  [[nodiscard]] const std::vector<double>& column(std::string_view name) const;
  /// The words of a column that was asked for as text. Throws io_error that says which there are.
  [[nodiscard]] const std::vector<std::string>& text(std::string_view name) const;

 private:
  [[nodiscard]] std::size_t index_of(std::string_view name) const;
};

/// Reads a table. Blank lines, and lines that begin with '#', are left out; lines may end in "\r\n"; white space
/// around fields does not count. Any field may stand in double quotes: it may then hold commas and ends of lines, and a
/// quote as two. Where the names stand without a comma, but with semicolons, tabs or spaces between them, so do the
/// fields. Where the first line is one of numbers, the comment before it has the names, as numpy.savetxt writes them.
/// Throws io_error that names file, line and column ("FILE:LINE:").
[[nodiscard]] csv_table read_csv(const std::filesystem::path& file, const csv_columns& columns);
/// The same for a text in memory; `file` is its name for messages.
[[nodiscard]] csv_table parse_csv(std::string_view text, const std::string& file, const csv_columns& columns);

/// Writes a table row by row; the file appears when it is whole. Floating-point numbers are the shortest text that
/// gives them back.
class csv_writer {
 public:
  /// Throws io_error.
  csv_writer(const std::filesystem::path& file, std::span<const std::string_view> names);

  template <typename Number>
  void add(Number value) {
    char text[32];
    if (in_row_++ > 0) line_ += ',';
    line_.append(text, std::to_chars(text, text + sizeof text, value).ptr);
  }
  /// Throws argument_error when the row has not as many fields as there are names, and io_error.
  void end_row();
  void commit();

 private:
  atomic_file file_;
  std::size_t fields_;
  std::size_t in_row_ = 0;
  std::string line_;
};

}  // namespace quadrat::io
