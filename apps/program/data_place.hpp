// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "quadrat/core/error.hpp"

namespace quadrat::program {

/// Calls f(). Where that throws data_error about one of the elements of a file, what is thrown says where that is:
/// "points.csv:17: point 15 at ...". `lines`: of each element; empty where the file has none.
template <typename F>
auto naming_places(const std::string& file, const std::vector<std::size_t>& lines, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const data_error& problem) {
    const auto index = problem.index();
    if (!index) throw;
    const std::string line = *index < lines.size() ? message(":", lines[*index]) : std::string();
    throw data_error(message(file, line, ": ", problem.what()), *index);
  }
}

}  // namespace quadrat::program
