// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace quadrat::io {

/// All bytes of a file. Throws io_error.
[[nodiscard]] std::string read_whole_file(const std::filesystem::path& file);

/// Without white space on either side.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// The text as a number (a leading plus sign is allowed); nothing if it is not a number or T cannot hold it.
template <typename T>
[[nodiscard]] std::optional<T> number_from(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, value);
  if (rest != end) return std::nullopt;
  // Underflow gives 0, as everywhere else.
  if constexpr (std::is_floating_point_v<T>) {
    const bool tiny = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
    if (problem == std::errc::result_out_of_range && tiny) return T(0);
  }
  if (problem != std::errc()) return std::nullopt;
  return value;
}

/// The beginning of a text, quoted for messages, with '?' for unprintable characters.
[[nodiscard]] std::string shown(std::string_view text);

/// Reads the lines of a text one by one, without their ends ("\n" or "\r\n").
class line_reader {
 public:
  explicit line_reader(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // a byte order mark
  }

  /// Goes to the next line; false at the end.
  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    ++number_;
    return true;
  }
  [[nodiscard]] std::string_view line() const { return line_; }
  /// Number of the line, from 1.
  [[nodiscard]] std::size_t number() const { return number_; }
  /// Bytes not yet read.
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_, line_;
  std::size_t number_ = 0;
};

}  // namespace quadrat::io
