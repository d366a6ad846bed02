// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

namespace quadrat::test {

/// What `action` throws, which must be an Error.
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

}  // namespace quadrat::test
