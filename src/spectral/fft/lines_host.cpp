// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// exp(-2 pi i m / n), accurate for any m: the angle is reduced to a quarter of the circle in whole numbers.
template <typename T>
void put_root(std::size_t m, std::size_t n, T* number) {
  m %= n;
  const std::size_t quarter = 4 * m / n;
  const long double angle =
      2 * std::numbers::pi_v<long double> * static_cast<long double>(4 * m - quarter * n) / (4.0L * n);
  const long double re = std::cos(angle), im = -std::sin(angle);
  const long double turned[4][2] = {{re, im}, {im, -re}, {-re, -im}, {-im, re}};
  number[0] = static_cast<T>(turned[quarter][0]);
  number[1] = static_cast<T>(turned[quarter][1]);
}

}  // namespace

int good_fft_size(double least, bool even) {
  const auto limit = static_cast<std::int64_t>(2 * least + 4);
  std::int64_t best = limit * 2;
  for (std::int64_t fives = even ? 2 : 1; fives < limit; fives *= 5) {
    for (std::int64_t threes = fives; threes < limit; threes *= 3) {
      std::int64_t size = threes;
      while (static_cast<double>(size) < least) size *= 2;
      best = std::min(best, size);
    }
  }
  return static_cast<int>(best);
}

template <typename T>
fft_size<T>::fft_size(int size) : points(size) {
  require(size >= 1, "a Fourier transform of ", size, " numbers was asked for");
  int rest = size;
  for (const int radix : {4, 2, 3, 5}) {
    for (; rest % radix == 0; rest /= radix) radices.push_back(radix);
  }
  require(rest == 1, "a Fourier transform of ", size, " numbers was asked for; products of 2, 3 and 5 are possible");
  int here = size;
  for (const int radix : radices) {
    const int m = here / radix;
    for (int q = 0; q < m; ++q) {
      for (int r = 1; r < radix; ++r) {
        T number[2];
        put_root(static_cast<std::size_t>(q) * static_cast<std::size_t>(r), static_cast<std::size_t>(here), number);
        roots.insert(roots.end(), number, number + 2);
      }
    }
    here = m;
  }
}

template <typename T>
fft_turns<T>::fft_turns(int size, int rows, int lane_count) : points(static_cast<std::size_t>(size)) {
  while ((std::size_t{1} << (2 * shift)) < points) ++shift;
  const std::size_t step = std::size_t{1} << shift;
  for (std::size_t m = 0; m < points + step; m += step) {
    coarse.resize(coarse.size() + 2);
    put_root(m, points, coarse.data() + coarse.size() - 2);
  }
  fine.resize(2 * step);
  for (std::size_t m = 0; m < step; ++m) put_root(m, points, fine.data() + 2 * m);
  const auto count = static_cast<std::size_t>(lane_count);
  lanes.resize(2 * count * static_cast<std::size_t>(rows));
  for (std::size_t k = 0; k < static_cast<std::size_t>(rows); ++k) {
    for (std::size_t l = 0; l < count; ++l) {
      T number[2];
      put_root(k * l, points, number);
      lanes[2 * count * k + l] = number[0];
      lanes[2 * count * k + count + l] = number[1];
    }
  }
}

template struct fft_size<float>;
template struct fft_size<double>;
template struct fft_turns<float>;
template struct fft_turns<double>;

}  // namespace quadrat::detail
