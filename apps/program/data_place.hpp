// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "quadrat/core/error.hpp"

namespace quadrat::program {

/// Calls f(). If it throws data_error about an element of a file, rethrows it with the element's place in front:
/// "points.csv:17: point 15 at ...". `lines`: by element; empty if the file has no lines.
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
