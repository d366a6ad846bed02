// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Messages about unknown words, for everything that takes names.
namespace quadrat::detail {

/// The number of letters to insert, remove, replace or swap with their neighbor that turns `a` into `b` (optimal string
/// alignment). Ignores case; '-' equals '_'.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name nearest to `word`; empty if none is near enough to be the likely intention.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

/// All names, nearest first; ties in their given order.
[[nodiscard]] std::vector<std::string_view> nearest_first(std::string_view word,
                                                          std::span<const std::string_view> names);

/// The hint after an unknown word: "did you mean \"radius\"?", or all valid names if none is near.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> names);

/// "valid are "a", "b""
[[nodiscard]] std::string valid_names(std::span<const std::string_view> names);

/// "a, b"
[[nodiscard]] std::string joined(std::span<const std::string_view> names);

}  // namespace quadrat::detail
