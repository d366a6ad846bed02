// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "quadrat/core/macros.hpp"

namespace quadrat {

/// The most components that values of keyed reductions can have.
inline constexpr int most_value_components = 8;

/// A view of values with 1 to 8 components: no copy, no ownership. Component c of row i is `component[c][i * stride]`,
/// which covers packed rows, rows of a larger table, and separate arrays (stride 1). Strides count elements of T. The
/// memory must belong to the device of the context that uses the view.
template <typename T>
struct component_values {
  T* component[most_value_components];
  int components;
  std::size_t stride;
  std::size_t count;  ///< rows

  /// Mutable values convert to read-only ones.
  template <typename U>
    requires(!std::is_const_v<T> && std::is_same_v<U, const T>)
  operator component_values<U>() const {
    component_values<U> view{{}, components, stride, count};
    for (int c = 0; c < most_value_components; ++c) view.component[c] = component[c];
    return view;
  }
};

/// View of a count x components array whose rows are `stride` elements apart (stride >= components).
template <typename T>
[[nodiscard]] component_values<T> strided_values(T* first, std::size_t count, int components, std::size_t stride) {
  component_values<T> view{{}, components, stride, count};
  for (int c = 0; c < components && c < most_value_components; ++c) view.component[c] = first + c;
  return view;
}

/// View of packed rows.
template <typename T>
[[nodiscard]] component_values<T> packed_values(T* first, std::size_t count, int components = 1) {
  return strided_values(first, count, components, static_cast<std::size_t>(components));
}

/// View of one array per component, each of `count` elements.
template <typename T, std::size_t C>
[[nodiscard]] component_values<T> separate_values(const std::array<T*, C>& arrays, std::size_t count) {
  static_assert(C >= 1 && C <= static_cast<std::size_t>(most_value_components), "values have 1 to 8 components");
  component_values<T> view{{}, static_cast<int>(C), 1, count};
  for (std::size_t c = 0; c < C; ++c) view.component[c] = arrays[c];
  return view;
}

}  // namespace quadrat
