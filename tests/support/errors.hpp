// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include "quadrat/core/error.hpp"

namespace quadrat::test {

/// Expects that an error whose message names an element of the data has its index.
inline void expect_index_of_named(const data_error& problem) {
  const std::string text = problem.what();
  if (text.find("earlier build") != std::string::npos) return;
  for (const std::string what :
       {"point ", "query ", "body ", "particle ", "agent ", "grain ", "sphere ", "ion ", "row "}) {
    const std::size_t at = text.find(what);
    if (at == std::string::npos || std::isdigit(static_cast<unsigned char>(text[at + what.size()])) == 0) continue;
    EXPECT_EQ(problem.index(), std::stoull(text.substr(at + what.size()))) << text;
    return;
  }
}

/// The message of the Error that `action` must throw.
template <typename Error, typename Action>
[[nodiscard]] std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& problem) {
    if constexpr (std::is_same_v<Error, data_error>) expect_index_of_named(problem);
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
