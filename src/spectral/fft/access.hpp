// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "spectral/fft/numbers.hpp"

// Included once by the source of each instruction set, like the header above.

namespace quadrat::detail {

namespace {

/// Reading lines into vectors, and writing them.
template <typename T, typename Set>
struct fft_line_access {
  using numbers = fft_numbers<T, Set>;
  using vector = typename numbers::vector;
  static constexpr int lanes = numbers::lanes;
  using anywhere = typename cpu_vector<T, lanes>::anywhere;

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define QUADRAT_FFT_SHUFFLES 1
#endif
#endif

  /// Adjacent complex numbers.
  QUADRAT_FFT_INLINE static numbers load(const T* from) {
    numbers result;
#if defined(QUADRAT_FFT_SHUFFLES)
    const vector a = *reinterpret_cast<const anywhere*>(from);
    const vector b = *reinterpret_cast<const anywhere*>(from + lanes);
    if constexpr (lanes == 2) {
      result.re = __builtin_shufflevector(a, b, 0, 2);
      result.im = __builtin_shufflevector(a, b, 1, 3);
    } else if constexpr (lanes == 4) {
      result.re = __builtin_shufflevector(a, b, 0, 2, 4, 6);
      result.im = __builtin_shufflevector(a, b, 1, 3, 5, 7);
    } else if constexpr (lanes == 8) {
      result.re = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
      result.im = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
    } else {
      result.re = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
      result.im = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    }
#else
    for (int l = 0; l < lanes; ++l) result.re[l] = from[2 * l], result.im[l] = from[2 * l + 1];
#endif
    return result;
  }

  /// a, b = x[0], y[0], x[1], y[1], ...
  QUADRAT_FFT_INLINE static void interleave(vector x, vector y, vector& a, vector& b) {
#if defined(QUADRAT_FFT_SHUFFLES)
    if constexpr (lanes == 2) {
      a = __builtin_shufflevector(x, y, 0, 2);
      b = __builtin_shufflevector(x, y, 1, 3);
    } else if constexpr (lanes == 4) {
      a = __builtin_shufflevector(x, y, 0, 4, 1, 5);
      b = __builtin_shufflevector(x, y, 2, 6, 3, 7);
    } else if constexpr (lanes == 8) {
      a = __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
      b = __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
    } else {
      a = __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      b = __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
#else
    for (int l = 0; l < lanes; ++l) (l < lanes / 2 ? a : b)[2 * l % lanes] = x[l];
    for (int l = 0; l < lanes; ++l) (l < lanes / 2 ? a : b)[2 * l % lanes + 1] = y[l];
#endif
  }

  QUADRAT_FFT_INLINE static void store(T* to, numbers x) {
    vector a, b;
    interleave(x.re, x.im, a, b);
    *reinterpret_cast<anywhere*>(to) = a;
    *reinterpret_cast<anywhere*>(to + lanes) = b;
  }

  /// Multiplies the numbers from `first` on.
  QUADRAT_FFT_INLINE static void turn(const fft_lines<T>& work, int first, int count, numbers* data) {
    const std::size_t points = work.turns->points;
    std::size_t m = work.column * static_cast<std::size_t>(first) % points;
    for (int j = first; j < first + count; ++j) {
      T root[2];
      work.turns->root(m, root);
      m += work.column;
      if (m >= points) m -= points;
      const T* own = work.turns->lanes.data() + std::ptrdiff_t{2} * lanes * j;
      const vector re = *reinterpret_cast<const anywhere*>(own), im = *reinterpret_cast<const anywhere*>(own + lanes);
      numbers& x = data[j - first];
      x = numbers::multiply(numbers::multiply(x, numbers::fill(root[0]), numbers::fill(root[1])), re, im);
    }
  }
};

/// Numbers of lines that are not adjacent: reads square blocks of as many lines as lanes, and as many words.
template <typename T, typename Set>
struct fft_squares {
  using access = fft_line_access<T, Set>;
  using numbers = fft_numbers<T, Set>;
  using vector = typename numbers::vector;
  static constexpr int lanes = numbers::lanes;
  static constexpr int columns = lanes / 2;  ///< complex numbers of a line
  using anywhere = typename cpu_vector<T, lanes>::anywhere;

  QUADRAT_FFT_INLINE static void transpose(vector* rows) {
    QUADRAT_FFT_UNROLL
    for (int step = 1; step < lanes; step *= 2) {
      vector next[lanes];
      QUADRAT_FFT_UNROLL_LANES
      for (int i = 0; i < columns; ++i) access::interleave(rows[i], rows[i + columns], next[2 * i], next[2 * i + 1]);
      QUADRAT_FFT_UNROLL_LANES
      for (int i = 0; i < lanes; ++i) rows[i] = next[i];
    }
  }

  /// Numbers `first` to first + count - 1 of the lines; imaginary parts times -sign, so that sums with the sign 1
  /// become conjugates of those with the sign -1.
  QUADRAT_FFT_INLINE static void read(const fft_lines<T>& work, int first, int count, numbers* to) {
    const T* const from = work.from + 2 * static_cast<std::size_t>(first) * work.from_step;
    if (work.from_apart == 1 && work.lines == lanes) {
      for (int c = 0; c < count; ++c) {
        numbers x = access::load(from + 2 * static_cast<std::size_t>(c) * work.from_step);
        x.im *= -work.sign;
        to[c] = x;
      }
    } else if (work.from_step == 1 && work.lines == lanes && count == columns) {
      vector rows[lanes];
      QUADRAT_FFT_UNROLL_LANES
      for (int l = 0; l < lanes; ++l) {
        rows[l] = *reinterpret_cast<const anywhere*>(from + 2 * static_cast<std::size_t>(l) * work.from_apart);
      }
      transpose(rows);
      QUADRAT_FFT_UNROLL_LANES
      for (int c = 0; c < columns; ++c) to[c] = {rows[2 * c], rows[2 * c + 1] * -work.sign};
    } else {
      for (int c = 0; c < count; ++c) {
        T* const words = reinterpret_cast<T*>(to + c);
        for (int l = 0; l < lanes; ++l) words[l] = words[lanes + l] = T(0);
        for (int l = 0; l < work.lines; ++l) {
          const T* number =
              from + 2 * (static_cast<std::size_t>(l) * work.from_apart + static_cast<std::size_t>(c) * work.from_step);
          words[l] = number[0];
          words[lanes + l] = -work.sign * number[1];
        }
      }
    }
  }

  /// The reverse: number first + c from from[c].
  QUADRAT_FFT_INLINE static void write(const fft_lines<T>& work, int first, int count, numbers* from) {
    if (work.turns != nullptr) access::turn(work, first, count, from);
    T* const to = work.to + 2 * static_cast<std::size_t>(first) * work.to_step;
    for (int c = 0; c < count; ++c) from[c].im *= -work.sign;
    if (work.to_apart == 1 && work.lines == lanes) {
      for (int c = 0; c < count; ++c) access::store(to + 2 * static_cast<std::size_t>(c) * work.to_step, from[c]);
    } else if (work.to_step == 1 && work.lines == lanes && count == columns) {
      vector rows[lanes];
      QUADRAT_FFT_UNROLL_LANES
      for (int c = 0; c < columns; ++c) rows[2 * c] = from[c].re, rows[2 * c + 1] = from[c].im;
      transpose(rows);
      QUADRAT_FFT_UNROLL_LANES
      for (int l = 0; l < lanes; ++l) {
        *reinterpret_cast<anywhere*>(to + 2 * static_cast<std::size_t>(l) * work.to_apart) = rows[l];
      }
    } else {
      for (int c = 0; c < count; ++c) {
        const T* const words = reinterpret_cast<const T*>(from + c);
        for (int l = 0; l < work.lines; ++l) {
          T* number =
              to + 2 * (static_cast<std::size_t>(l) * work.to_apart + static_cast<std::size_t>(c) * work.to_step);
          number[0] = words[l];
          number[1] = words[lanes + l];
        }
      }
    }
  }
};

}  // namespace

}  // namespace quadrat::detail
