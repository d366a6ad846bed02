// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/method_list.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// Letters to insert, remove or replace to make `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

void throw_unknown_method(std::string_view kind, std::string_view name, std::span<const std::string_view> valid) {
  std::vector<std::string_view> names(valid.begin(), valid.end());
  std::ranges::stable_sort(names, {}, [&](std::string_view known) { return edit_distance(name, known); });
  std::string list;
  for (const std::string_view known : names) list += (list.empty() ? "" : ", ") + std::string(known);
  throw argument_error(message("unknown ", kind, " \"", name, "\"; valid, nearest first: ", list));
}

}  // namespace quadrat::detail
