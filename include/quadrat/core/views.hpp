// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat {

/// A view of the caller's points: no copy, no ownership. Component `axis` of point i is `component[axis][i * stride]`,
/// which covers N x D arrays with any stride (packed triples, float4 records, rows of a larger table) and separate
/// arrays per component (stride 1). Strides count elements of T, not bytes. The memory belongs to the device of the
/// context that the view is used with.
template <typename T, int D>
struct points_view {
  using value_type = T;
  static constexpr int dimension = D;

  const T* component[static_cast<std::size_t>(D)];
  std::size_t stride;
  std::size_t count;

  [[nodiscard]] QUADRAT_HD std::size_t size() const { return count; }

  [[nodiscard]] QUADRAT_HD vec<T, D> operator[](std::size_t i) const {
    vec<T, D> point{};
    for (int axis = 0; axis < D; ++axis) point[axis] = component[axis][i * stride];
    return point;
  }
};

/// View of an N x D array whose rows are `stride` elements apart (stride >= D; D means packed).
template <int D, typename T>
[[nodiscard]] points_view<T, D> strided_points(const T* first, std::size_t count, std::size_t stride = D) {
  points_view<T, D> view{};
  for (int axis = 0; axis < D; ++axis) view.component[axis] = first + axis;
  view.stride = stride;
  view.count = count;
  return view;
}

/// View of one array per component, each of `count` elements.
template <typename T, std::size_t D>
[[nodiscard]] points_view<T, static_cast<int>(D)> component_points(const std::array<const T*, D>& components,
                                                                   std::size_t count) {
  points_view<T, static_cast<int>(D)> view{};
  for (std::size_t axis = 0; axis < D; ++axis) view.component[axis] = components[axis];
  view.stride = 1;
  view.count = count;
  return view;
}

/// View of packed vectors.
template <typename T, int D>
[[nodiscard]] points_view<T, D> points_of(const vec<T, D>* first, std::size_t count) {
  return strided_points<D>(first == nullptr ? static_cast<const T*>(nullptr) : first->component, count, D);
}

/// The same for all vectors of a container (`data()` and `size()`): std::vector, std::span, quadrat::array.
template <typename Container>
  requires requires(const Container& points) { points_of(points.data(), points.size()); }
[[nodiscard]] auto points_of(const Container& points) {
  return points_of(points.data(), points.size());
}

/// The view would outlive a temporary container.
template <typename Container>
  requires(!std::ranges::enable_borrowed_range<Container>)
void points_of(const Container&& points) = delete;

}  // namespace quadrat
