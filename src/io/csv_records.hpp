// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace quadrat::io {

/// The fields of a table as text, one record after the other, without their quotes (RFC 4180). A record is a line, or
/// several lines where line ends are in quotes. Lines end in "\n", "\r\n" or "\r".
class csv_records {
 public:
  explicit csv_records(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // a byte order mark
  }

  /// Goes to the next record, skipping blank lines and comments. False at the end.
  bool next() {
    ended_ = true;
    while (!rest_.empty()) {
      line_ = next_line_;
      std::size_t first = 0;
      while (first < rest_.size() && is_blank(rest_[first])) ++first;
      ended_ = first == rest_.size() || is_line_end(rest_[first]) || rest_[first] == '#';
      if (!ended_) return true;
      if (first < rest_.size() && rest_[first] == '#') {
        comment_ = rest_.substr(first + 1);
        comment_ = comment_.substr(0, comment_.find_first_of("\r\n"));
      }
      skip_line();
    }
    return false;
  }

  /// Uses a semicolon or a tab as the separator if the current record contains one of them but no comma;
  /// `otherwise` if it contains none of the three.
  void choose_separator(char otherwise = ',') {
    separator_ = otherwise;
    for (const char candidate : {',', ';', '\t'}) {
      bool in_quotes = false;
      for (const char c : rest_) {
        if (c == '"') in_quotes = !in_quotes;
        if (in_quotes) continue;
        if (c == candidate) return void(separator_ = candidate);
        if (is_line_end(c)) break;
      }
    }
  }

  /// The last comment line before the current record, after its '#'.
  [[nodiscard]] std::string_view comment() const { return comment_; }

  /// Goes to the next field of the record; false at its end. Calls fail(text) for a misplaced quote.
  template <typename Fail>
  bool next_field(const Fail& fail) {
    if (ended_) return false;
    skip_blanks();
    field_ = !rest_.empty() && rest_.front() == '"' ? quoted(fail) : plain();
    if (separator_ == ' ') skip_spaces();
    ended_ = rest_.empty() || (separator_ == ' ' ? is_line_end(rest_.front()) : rest_.front() != separator_);
    if (ended_) {
      skip_line();
    } else if (separator_ != ' ') {
      rest_.remove_prefix(1);
    }
    return true;
  }

  /// Without white space on either side, unless quoted. Valid until the next field.
  [[nodiscard]] std::string_view field() const { return field_; }
  /// The line in which the record begins, from 1.
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }
  [[nodiscard]] bool is_blank(char c) const {
    return c != separator_ && (c == ' ' || c == '\t' || c == '\v' || c == '\f');
  }
  [[nodiscard]] bool at_end_of_field() const {
    return rest_.empty() || rest_.front() == separator_ || is_line_end(rest_.front());
  }

  /// As a separator, any number of spaces counts as one.
  void skip_spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || is_blank(rest_.front()))) rest_.remove_prefix(1);
  }

  void skip_blanks() {
    if (separator_ == ' ') return skip_spaces();
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }

  void skip_line() {
    while (!rest_.empty() && !is_line_end(rest_.front())) rest_.remove_prefix(1);
    if (!rest_.empty()) rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : 1);
    ++next_line_;
  }

  std::string_view plain() {
    std::string_view text = rest_;
    while (!at_end_of_field()) rest_.remove_prefix(1);
    text.remove_suffix(rest_.size());
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
  }

  template <typename Fail>
  std::string_view quoted(const Fail& fail) {
    unquoted_.clear();
    for (;;) {
      const std::size_t end = rest_.find('"', 1);
      if (end == std::string_view::npos) fail("a quote has no end");
      const std::string_view part = rest_.substr(1, end - 1);
      unquoted_ += part;
      for (const char c : part) next_line_ += c == '\n' ? 1 : 0;
      rest_.remove_prefix(end + 1);
      if (rest_.empty() || rest_.front() != '"') break;
      unquoted_ += '"';  // a doubled quote is one
    }
    if (separator_ != ' ') skip_blanks();
    if (!at_end_of_field()) fail("a field goes on after its quotes; inside of quotes, a quote is written as two");
    return unquoted_;
  }

  std::string_view rest_, field_, comment_;
  std::string unquoted_;
  std::size_t line_ = 0, next_line_ = 1;
  char separator_ = ',';
  bool ended_ = true;  ///< whether the current record has ended
};

}  // namespace quadrat::io
