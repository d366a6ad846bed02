// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What to say of a word that is none of those that are valid: everything that takes names uses these.
namespace quadrat::detail {

/// The number of letters to insert, remove, replace or swap with their neighbor to make `a` into `b`
/// (optimal string alignment; letters count alike in upper and lower case, '-' and '_' as well).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that is nearest to `word`, or an empty view when none is near enough to have been meant.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

/// All names, nearest first; equally near ones in their order.
[[nodiscard]] std::vector<std::string_view> nearest_first(std::string_view word,
                                                          std::span<const std::string_view> names);

/// What to say after an unknown word: "did you mean \"radius\"?", or all that is valid when nothing is near.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> names);

/// "valid are "a", "b""
[[nodiscard]] std::string valid_names(std::span<const std::string_view> names);

/// "a, b"
[[nodiscard]] std::string joined(std::span<const std::string_view> names);

}  // namespace quadrat::detail
