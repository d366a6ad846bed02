// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include "quadrat/core/macros.hpp"

namespace quadrat {

namespace detail {
/// Throws argument_error that gives the unknown name, what it should name, and the valid names, nearest first.
[[noreturn]] void throw_unknown_method(std::string_view kind, std::string_view name,
                                       std::span<const std::string_view> valid);
}  // namespace detail

/// The methods of a module, in the order in which they are shown. A method is an empty type with
/// `static constexpr std::string_view name` and `summary` (one line), and whatever its module requires.
template <typename... Methods>
struct method_list {
  static constexpr std::size_t size = sizeof...(Methods);
  static constexpr std::array<std::string_view, size> names{Methods::name...};
  static constexpr std::array<std::string_view, size> summaries{Methods::summary...};

  [[nodiscard]] static constexpr bool contains(std::string_view name) { return ((Methods::name == name) || ...); }

  /// The index of a method in the list; `size` if it is not there.
  template <typename Method>
  static constexpr std::size_t index_of = [] {
    constexpr std::array<bool, size> same{std::is_same_v<Methods, Method>...};
    std::size_t index = 0;
    while (index < size && !same[index]) ++index;
    return index;
  }();

  /// Calls f(Method{}) for each, in order.
  template <typename F>
  static constexpr void for_each(F&& f) {
    (f(Methods{}), ...);
  }

  /// Calls f(Method{}) for the method of that name. `kind` says in messages what is named ("cell list"). Throws
  /// argument_error for an unknown name, with the valid ones.
  template <typename F>
  static void with(std::string_view kind, std::string_view name, F&& f) {
    if (!((Methods::name == name ? (static_cast<void>(f(Methods{})), true) : false) || ...)) {
      detail::throw_unknown_method(kind, name, names);
    }
  }
};

}  // namespace quadrat
