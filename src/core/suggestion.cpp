// SPDX-License-Identifier: BSD-3-Clause
#include "core/suggestion.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {
namespace {

char folded(char c) { return c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool same(char a, char b) { return folded(a) == folded(b); }

/// The edit distance, but 1 if the word is a prefix of the name: "linked" is nearer to "linked_loose" than to "fixed".
std::size_t distance_to_name(std::string_view word, std::string_view name) {
  const bool begins =
      word.size() >= 3 && word.size() < name.size() && std::equal(word.begin(), word.end(), name.begin(), same);
  return begins ? 1 : edit_distance(word, name);
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of distances between prefixes: row i belongs to the first i letters of a.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 2) + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = distance_to_name(word, name);
    if (distance < best_distance && distance < name.size()) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::vector<std::string_view> nearest_first(std::string_view word, std::span<const std::string_view> names) {
  std::vector<std::string_view> result(names.begin(), names.end());
  std::ranges::stable_sort(result, {}, [&](std::string_view name) { return distance_to_name(word, name); });
  return result;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view best = nearest(word, names);
  return best.empty() ? valid_names(names) : message("did you mean \"", best, "\"?");
}

std::string valid_names(std::span<const std::string_view> names) {
  std::string text = "valid are ";
  for (std::size_t i = 0; i < names.size(); ++i) text += message(i == 0 ? "\"" : ", \"", names[i], "\"");
  return text;
}

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += message(text.empty() ? "" : ", ", name);
  return text;
}

}  // namespace quadrat::detail
