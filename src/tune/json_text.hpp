// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace quadrat::detail {

/// Text as a JSON string, with its quotes.
[[nodiscard]] std::string json_string(std::string_view text);
/// A number; null if it is not finite.
[[nodiscard]] std::string json_number(double value);

/// Reads JSON objects of strings, numbers and such objects: the format of a profile. Saves the library a dependency on
/// a JSON library. Throws data_error.
class json_reader {
 public:
  explicit json_reader(std::string_view text) : rest_(text) {}

  /// Calls f(key) for every member of an object; f must read its value.
  template <typename F>
  void object(F&& f) {
    expect('{');
    if (take('}')) return;
    do {
      const std::string key = string();
      expect(':');
      f(key);
    } while (take(','));
    expect('}');
  }
  [[nodiscard]] std::string string();
  [[nodiscard]] double number();
  /// Throws if anything but white space follows.
  void end();

 private:
  void expect(char wanted);
  [[nodiscard]] bool take(char wanted);
  void skip_space();

  std::string_view rest_;
};

}  // namespace quadrat::detail
