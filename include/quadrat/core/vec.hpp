// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>

#include "quadrat/core/macros.hpp"

namespace quadrat {

/// A small vector of D components, in the order x, y, z: `vec<float, 3> a{1, 2, 3}`, or `vec a{1.0f, 2.0f, 3.0f}`.
template <typename T, int D>
struct vec {
  T component[static_cast<std::size_t>(D)];

  QUADRAT_HD constexpr T& operator[](int axis) { return component[axis]; }
  QUADRAT_HD constexpr const T& operator[](int axis) const { return component[axis]; }

  [[nodiscard]] QUADRAT_HD static constexpr vec filled(T value) {
    vec result{};
    for (int axis = 0; axis < D; ++axis) result[axis] = value;
    return result;
  }

  friend QUADRAT_HD constexpr vec operator+(vec a, const vec& b) {
    for (int axis = 0; axis < D; ++axis) a[axis] += b[axis];
    return a;
  }
  friend QUADRAT_HD constexpr vec operator-(vec a, const vec& b) {
    for (int axis = 0; axis < D; ++axis) a[axis] -= b[axis];
    return a;
  }
  friend QUADRAT_HD constexpr vec operator*(vec a, T scale) {
    for (int axis = 0; axis < D; ++axis) a[axis] *= scale;
    return a;
  }
  friend QUADRAT_HD constexpr vec operator*(T scale, const vec& a) { return a * scale; }
  /// Divides each component, which rounds once; multiplying by the inverse would round twice.
  friend QUADRAT_HD constexpr vec operator/(vec a, T divisor) {
    for (int axis = 0; axis < D; ++axis) a[axis] /= divisor;
    return a;
  }
  friend QUADRAT_HD constexpr vec operator+(const vec& a) { return a; }
  friend QUADRAT_HD constexpr vec operator-(vec a) {
    for (int axis = 0; axis < D; ++axis) a[axis] = -a[axis];
    return a;
  }
  QUADRAT_HD constexpr vec& operator+=(const vec& b) { return *this = *this + b; }
  QUADRAT_HD constexpr vec& operator-=(const vec& b) { return *this = *this - b; }
  QUADRAT_HD constexpr vec& operator*=(T scale) { return *this = *this * scale; }
  QUADRAT_HD constexpr vec& operator/=(T divisor) { return *this = *this / divisor; }

  friend QUADRAT_HD constexpr bool operator==(const vec& a, const vec& b) {
    for (int axis = 0; axis < D; ++axis) {
      if (!(a[axis] == b[axis])) return false;
    }
    return true;
  }
};

template <typename T, typename... More>
  requires(std::is_same_v<T, More> && ...)
vec(T, More...) -> vec<T, 1 + static_cast<int>(sizeof...(More))>;

/// Sum of the products of components, taken in the order x, y, z: every method uses this one expression.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD constexpr T dot(const vec<T, D>& a, const vec<T, D>& b) {
  T sum = a[0] * b[0];
  for (int axis = 1; axis < D; ++axis) sum += a[axis] * b[axis];
  return sum;
}

template <typename T, int D>
[[nodiscard]] QUADRAT_HD constexpr T squared_norm(const vec<T, D>& a) {
  return dot(a, a);
}

/// The length, computed from its square: infinite or 0 if the square overflows or underflows.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD T norm(const vec<T, D>& a) {
  return std::sqrt(squared_norm(a));
}

template <typename T>
[[nodiscard]] QUADRAT_HD constexpr vec<T, 3> cross(const vec<T, 3>& a, const vec<T, 3>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// A vector from per-axis values: `make_vec<float, 3>([](int axis) { return ...; })`.
QUADRAT_CALLS_ANY
template <typename T, int D, typename F>
[[nodiscard]] QUADRAT_HD constexpr vec<T, D> make_vec(F&& value_of_axis) {
  vec<T, D> result{};
  for (int axis = 0; axis < D; ++axis) result[axis] = value_of_axis(axis);
  return result;
}

template <typename U, typename T, int D>
[[nodiscard]] QUADRAT_HD constexpr vec<U, D> cast(const vec<T, D>& a) {
  vec<U, D> result{};
  for (int axis = 0; axis < D; ++axis) result[axis] = static_cast<U>(a[axis]);
  return result;
}

}  // namespace quadrat
