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

/// Tables as text (RFC 4180): a line with the column names, then one line per row, with fields separated by commas.
namespace quadrat::io {

/// The columns to read, by name. Columns may be missing. Other columns are ignored.
struct csv_columns {
  std::vector<std::string_view> numbers;   ///< numbers in every row
  std::vector<std::string_view> optional;  ///< numbers; empty fields become NaN
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
  /// The numbers of a column that was requested. Throws io_error that lists the columns if it is missing.
  [[nodiscard]] const std::vector<double>& column(std::string_view name) const;
  /// The words of a column that was requested as text. Throws io_error that lists the columns if it is missing.
  [[nodiscard]] const std::vector<std::string>& text(std::string_view name) const;

 private:
  [[nodiscard]] std::size_t index_of(std::string_view name) const;
};

/// Reads a table. Blank lines and lines that begin with '#' are skipped. Lines may end in "\r\n". White space around
/// fields is ignored. Any field may be in double quotes: it may then contain commas and line ends, and each quote in it
/// is doubled. If the header has no comma, it is split at semicolons, tabs or spaces. If the first line holds numbers,
/// the comment before it is the header, as numpy.savetxt writes it. Throws io_error that names file, line and column
/// ("FILE:LINE:").
[[nodiscard]] csv_table read_csv(const std::filesystem::path& file, const csv_columns& columns);
/// The same for a text in memory; `file` is its name for messages.
[[nodiscard]] csv_table parse_csv(std::string_view text, const std::string& file, const csv_columns& columns);

/// Writes a table row by row. The file appears when it is complete. Floating-point numbers are written as the shortest
/// text that reads back as the same value.
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
  /// Throws argument_error when the number of fields differs from the number of names, and io_error.
  void end_row();
  void commit();

 private:
  atomic_file file_;
  std::size_t fields_;
  std::size_t in_row_ = 0;
  std::string line_;
};

}  // namespace quadrat::io
