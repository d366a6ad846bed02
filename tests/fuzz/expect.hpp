// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace quadrat::test {

/// Ends the process unless the condition holds.
inline void expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz: not so: %s\n", what);
  std::abort();
}

/// For any bytes of a file, `read()` gives a valid result, or throws an Error that begins with the file's name.
template <typename Error, typename Read>
void expect_sound_or_refused(std::string_view file, Read&& read) {
  try {
    read();
  } catch (const Error& problem) {
    const std::string_view text = problem.what();
    expect(text.starts_with(file) && text.size() > file.size() && text[file.size()] == ':', "the error names the file");
  }
}

}  // namespace quadrat::test
