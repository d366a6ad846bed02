// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <vector>

namespace quadrat::test {

/// The message of the Error that `action` must throw.
template <typename Error, typename Action>
[[nodiscard]] std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& problem) {
    return problem.what();
  } catch (const std::exception& problem) {
    return std::string("another error: ") + problem.what();
  }
  return "no error";
}

/// Expects all these words in a text; `where` identifies the call.
inline void expect_words(const std::string& text, const std::vector<std::string>& words,
                         const std::string& where = {}) {
  for (const std::string& word : words) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text << " " << where;
  }
}

}  // namespace quadrat::test
