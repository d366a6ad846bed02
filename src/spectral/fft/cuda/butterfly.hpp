// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/macros.hpp"

/// Fourier transforms of a few complex numbers in registers, with the sign -1.
namespace quadrat::detail {

template <int Radix>
struct fft_radix {
  static constexpr int value = Radix;
};

template <typename T>
struct alignas(2 * sizeof(T)) fft_number {
  T re, im;

  [[nodiscard]] QUADRAT_HD fft_number operator+(const fft_number& b) const { return {re + b.re, im + b.im}; }
  [[nodiscard]] QUADRAT_HD fft_number operator-(const fft_number& b) const { return {re - b.re, im - b.im}; }
  [[nodiscard]] QUADRAT_HD fft_number operator*(const fft_number& b) const {
    return {re * b.re - im * b.im, re * b.im + im * b.re};
  }
  /// Times -i.
  [[nodiscard]] QUADRAT_HD fft_number turned() const { return {im, -re}; }
};

/// cos(2 pi m / n) by its series, for constants. Angles are first reduced to an eighth of the circle.
[[nodiscard]] QUADRAT_HD constexpr double fft_cosine(int m, int n);
[[nodiscard]] QUADRAT_HD constexpr double fft_sine(int m, int n);

namespace fft_series {

inline constexpr double circle = 6.283185307179586476925286766559;

[[nodiscard]] QUADRAT_HD constexpr double cosine(double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 12; ++k) sum += term *= -x * x / ((2 * k - 1) * (2 * k));
  return sum;
}
[[nodiscard]] QUADRAT_HD constexpr double sine(double x) {
  double term = x, sum = x;
  for (int k = 1; k < 12; ++k) sum += term *= -x * x / ((2 * k) * (2 * k + 1));
  return sum;
}

}  // namespace fft_series

QUADRAT_HD constexpr double fft_cosine(int m, int n) {
  m = 2 * (m % n) > n ? n - m % n : m % n;              // to half of the circle
  if (4 * m > n) return -fft_cosine(n - 2 * m, 2 * n);  // cos(x) = -cos(pi - x)
  if (8 * m > n) return fft_series::sine(fft_series::circle * (n - 4 * m) / (4.0 * n));
  return fft_series::cosine(fft_series::circle * m / n);
}
QUADRAT_HD constexpr double fft_sine(int m, int n) { return fft_cosine(4 * m + 3 * n, 4 * n); }

/// The transform of x[0], x[Step], ..., Radix numbers, in place.
template <int Radix, std::ptrdiff_t Step = 1, typename T>
QUADRAT_HD inline void small_transform(fft_number<T>* x);

template <std::ptrdiff_t Step, typename T>
QUADRAT_HD inline void small_transform_3(fft_number<T>* x) {
  constexpr T half_root = static_cast<T>(fft_sine(1, 3));
  const auto sum = x[Step] + x[2 * Step];
  const auto difference = (x[Step] - x[2 * Step]).turned();
  const fft_number<T> middle{x[0].re - T(0.5) * sum.re, x[0].im - T(0.5) * sum.im};
  const fft_number<T> side{half_root * difference.re, half_root * difference.im};
  x[0] = x[0] + sum;
  x[Step] = middle + side;
  x[2 * Step] = middle - side;
}

template <std::ptrdiff_t Step, typename T>
QUADRAT_HD inline void small_transform_4(fft_number<T>* x) {
  const auto a = x[0] + x[2 * Step], b = x[0] - x[2 * Step];
  const auto c = x[Step] + x[3 * Step], d = (x[Step] - x[3 * Step]).turned();
  x[0] = a + c;
  x[Step] = b + d;
  x[2 * Step] = a - c;
  x[3 * Step] = b - d;
}

template <std::ptrdiff_t Step, typename T>
QUADRAT_HD inline void small_transform_5(fft_number<T>* x) {
  constexpr T c1 = static_cast<T>(fft_cosine(1, 5)), c2 = static_cast<T>(fft_cosine(2, 5));
  constexpr T s1 = static_cast<T>(fft_sine(1, 5)), s2 = static_cast<T>(fft_sine(2, 5));
  const auto a = x[Step] + x[4 * Step], b = (x[Step] - x[4 * Step]).turned();
  const auto c = x[2 * Step] + x[3 * Step], d = (x[2 * Step] - x[3 * Step]).turned();
  const fft_number<T> middle_1{x[0].re + c1 * a.re + c2 * c.re, x[0].im + c1 * a.im + c2 * c.im};
  const fft_number<T> middle_2{x[0].re + c2 * a.re + c1 * c.re, x[0].im + c2 * a.im + c1 * c.im};
  const fft_number<T> side_1{s1 * b.re + s2 * d.re, s1 * b.im + s2 * d.im};
  const fft_number<T> side_2{s2 * b.re - s1 * d.re, s2 * b.im - s1 * d.im};
  x[0] = x[0] + a + c;
  x[Step] = middle_1 + side_1;
  x[4 * Step] = middle_1 - side_1;
  x[2 * Step] = middle_2 + side_2;
  x[3 * Step] = middle_2 - side_2;
}

/// Times the root of unity exp(-2 pi i M / N).
template <int M, int N, typename T>
[[nodiscard]] QUADRAT_HD inline fft_number<T> times_root(const fft_number<T>& x) {
  if constexpr (M % N == 0) {
    return x;
  } else if constexpr (4 * (M % N) == N) {
    return x.turned();
  } else {
    constexpr T re = static_cast<T>(fft_cosine(M, N)), im = static_cast<T>(-fft_sine(M, N));
    return x * fft_number<T>{re, im};
  }
}

template <int A, int B, std::ptrdiff_t Step, int J, typename T>
QUADRAT_HD inline void turn_parts(fft_number<T>* x) {
  if constexpr (J < A * B) {
    x[J * Step] = times_root<(J / B) * (J % B), A * B>(x[J * Step]);
    turn_parts<A, B, Step, J + 1>(x);
  }
}

/// x[k] times exp(-2 pi i k / N).
template <int N, int Count, int K, typename T>
QUADRAT_HD inline void turn_row(fft_number<T>* x) {
  if constexpr (K < Count) {
    x[K] = times_root<K, N>(x[K]);
    turn_row<N, Count, K + 1>(x);
  }
}

/// A B numbers: B transforms of A numbers, and A transforms of B.
template <int A, int B, std::ptrdiff_t Step, typename T>
QUADRAT_HD inline void small_product(fft_number<T>* x) {
  QUADRAT_UNROLL
  for (int b = 0; b < B; ++b) small_transform<A, B * Step>(x + b * Step);
  turn_parts<A, B, Step, 0>(x);
  QUADRAT_UNROLL
  for (int a = 0; a < A; ++a) small_transform<B, Step>(x + Step * B * a);
  // Mode a + A b is where number a B + b was.
  fft_number<T> mode[A * B];
  QUADRAT_UNROLL
  for (int j = 0; j < A * B; ++j) mode[j / B + A * (j % B)] = x[j * Step];
  QUADRAT_UNROLL
  for (int j = 0; j < A * B; ++j) x[j * Step] = mode[j];
}

template <int Radix, std::ptrdiff_t Step, typename T>
QUADRAT_HD inline void small_transform(fft_number<T>* x) {
  if constexpr (Radix == 1) {
    return;
  } else if constexpr (Radix == 2) {
    const auto a = x[0];
    x[0] = a + x[Step];
    x[Step] = a - x[Step];
  } else if constexpr (Radix == 3) {
    small_transform_3<Step>(x);
  } else if constexpr (Radix == 4) {
    small_transform_4<Step>(x);
  } else if constexpr (Radix == 5) {
    small_transform_5<Step>(x);
  } else if constexpr (Radix % 4 == 0) {
    small_product<4, Radix / 4, Step>(x);
  } else if constexpr (Radix % 2 == 0) {
    small_product<2, Radix / 2, Step>(x);
  } else {
    small_product<3, Radix / 3, Step>(x);
  }
}

/// The same if the second half of the numbers is zero; x needs no room for it.
template <int Radix, typename T>
QUADRAT_HD inline void transform_first_half(fft_number<T>* x) {
  constexpr int half = Radix / 2;
  fft_number<T> odd[half];
  QUADRAT_UNROLL
  for (int r = 0; r < half; ++r) odd[r] = x[r];
  turn_row<Radix, half, 1>(odd);
  small_transform<half>(x);
  small_transform<half>(odd);
  QUADRAT_UNROLL
  for (std::ptrdiff_t r = half - 1; r >= 0; --r) {
    x[2 * r] = x[r];
    x[2 * r + 1] = odd[r];
  }
}

/// Computes only the first half of the modes.
template <int Radix, typename T>
QUADRAT_HD inline void transform_to_first_half(fft_number<T>* x) {
  constexpr int half = Radix / 2;
  fft_number<T> even[half], odd[half];
  QUADRAT_UNROLL
  for (std::ptrdiff_t r = 0; r < half; ++r) even[r] = x[2 * r], odd[r] = x[2 * r + 1];
  small_transform<half>(even);
  small_transform<half>(odd);
  turn_row<Radix, half, 1>(odd);
  QUADRAT_UNROLL
  for (int r = 0; r < half; ++r) x[r] = even[r] + odd[r];
}

}  // namespace quadrat::detail
