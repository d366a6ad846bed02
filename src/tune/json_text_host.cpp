// SPDX-License-Identifier: BSD-3-Clause
#include "tune/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/number_text.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

std::string json_number(double value) { return std::isfinite(value) ? number_text(value) : "null"; }

namespace {

/// The beginning of the unread text, as one printable line.
[[nodiscard]] std::string before(std::string_view rest) {
  if (rest.empty()) return "the end";
  std::string shown(rest.substr(0, 20));
  for (char& c : shown) {
    if (c < 0x20 || c > 0x7e) c = ' ';
  }
  return '"' + shown + '"';
}

}  // namespace

void json_reader::skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

bool json_reader::take(char wanted) {
  skip_space();
  if (rest_.empty() || rest_.front() != wanted) return false;
  rest_.remove_prefix(1);
  return true;
}

void json_reader::expect(char wanted) {
  if (take(wanted)) return;
  throw data_error(message("'", std::string(1, wanted), "' was expected before ", before(rest_)));
}

std::string json_reader::string() {
  expect('"');
  std::string result;
  while (!rest_.empty() && rest_.front() != '"') {
    if (rest_.front() == '\\') rest_.remove_prefix(1);
    if (rest_.empty()) break;
    result += rest_.front();
    rest_.remove_prefix(1);
  }
  expect('"');
  return result;
}

double json_reader::number() {
  skip_space();
  double value = std::numeric_limits<double>::quiet_NaN();
  const auto [end, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (status != std::errc() || !std::isfinite(value)) {
    throw data_error(message("a finite number was expected before ", before(rest_)));
  }
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

void json_reader::end() {
  skip_space();
  if (!rest_.empty()) throw data_error(message("nothing was expected before ", before(rest_)));
}

}  // namespace quadrat::detail
