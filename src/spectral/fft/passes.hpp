// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "parallel/cpu_vector.hpp"
#include "spectral/fft/lines.hpp"

// Included once by the source of each instruction set, which defines by QUADRAT_FFT_TARGET how functions are compiled.
// Everything is in an anonymous namespace, so that the linker cannot merge versions.

#if !defined(QUADRAT_FFT_TARGET)
#define QUADRAT_FFT_TARGET
#define QUADRAT_FFT_INLINE inline
#else
#define QUADRAT_FFT_INLINE inline __attribute__((always_inline)) QUADRAT_FFT_TARGET
#endif

/// Goes before loops over arrays that must stay in registers.
#if defined(__clang__)
#define QUADRAT_FFT_UNROLL _Pragma("unroll")
#define QUADRAT_FFT_UNROLL_LANES _Pragma("unroll")
#else
#define QUADRAT_FFT_UNROLL _Pragma("GCC unroll 8")
#define QUADRAT_FFT_UNROLL_LANES _Pragma("GCC unroll 16")
#endif

namespace quadrat::detail {

namespace {

/// Complex numbers, one for each lane. `Set` has `bytes`, the size of a register, and fused(a, b, c) = a b + c.
template <typename T, typename Set>
struct fft_numbers {
  static constexpr int lanes = Set::bytes / static_cast<int>(sizeof(T));
  using vector = typename cpu_vector<T, lanes>::type;

  vector re, im;

  QUADRAT_FFT_INLINE static vector fill(T x) { return vector{} + x; }
  QUADRAT_FFT_INLINE static fft_numbers add(fft_numbers a, fft_numbers b) { return {a.re + b.re, a.im + b.im}; }
  QUADRAT_FFT_INLINE static fft_numbers subtract(fft_numbers a, fft_numbers b) { return {a.re - b.re, a.im - b.im}; }
  QUADRAT_FFT_INLINE static fft_numbers multiply(fft_numbers a, vector re, vector im) {
    return {Set::fused(a.re, re, -(a.im * im)), Set::fused(a.re, im, a.im * re)};
  }
  /// a + factor b
  QUADRAT_FFT_INLINE static fft_numbers plus(fft_numbers a, T factor, fft_numbers b) {
    return {Set::fused(b.re, fill(factor), a.re), Set::fused(b.im, fill(factor), a.im)};
  }
  /// -i factor a
  QUADRAT_FFT_INLINE static fft_numbers turn(T factor, fft_numbers a) { return {a.im * factor, a.re * -factor}; }
};

/// Passes of Stockham's algorithm (Van Loan 1992, section 1.7), which needs no reordering.
template <typename Numbers, typename T>
struct fft_passes {
  /// Sums over the first `Radix` numbers with the exponent -2 pi i j r / Radix, in place.
  template <int Radix>
  QUADRAT_FFT_INLINE static void sums(Numbers* a) {
    if constexpr (Radix == 2) {
      const Numbers first = a[0];
      a[0] = Numbers::add(first, a[1]);
      a[1] = Numbers::subtract(first, a[1]);
    } else if constexpr (Radix == 3) {
      const Numbers both = Numbers::add(a[1], a[2]);
      const Numbers turned = Numbers::turn(T(0.866025403784438646763723170752936183L), Numbers::subtract(a[1], a[2]));
      const Numbers middle = Numbers::plus(a[0], T(-0.5), both);
      a[0] = Numbers::add(a[0], both);
      a[1] = Numbers::add(middle, turned);
      a[2] = Numbers::subtract(middle, turned);
    } else if constexpr (Radix == 4) {
      const Numbers even = Numbers::add(a[0], a[2]), even_difference = Numbers::subtract(a[0], a[2]);
      const Numbers odd = Numbers::add(a[1], a[3]);
      const Numbers turned = Numbers::turn(T(1), Numbers::subtract(a[1], a[3]));
      a[0] = Numbers::add(even, odd);
      a[1] = Numbers::add(even_difference, turned);
      a[2] = Numbers::subtract(even, odd);
      a[3] = Numbers::subtract(even_difference, turned);
    } else {
      sums_of_five(a);
    }
  }

  QUADRAT_FFT_INLINE static void sums_of_five(Numbers* a) {
    constexpr T cosine[2] = {T(0.309016994374947424102293417182819059L), T(-0.809016994374947424102293417182819059L)};
    constexpr T sine[2] = {T(0.951056516295153572116439333379382143L), T(0.587785252292473129168705954639072769L)};
    const Numbers outer = Numbers::add(a[1], a[4]), inner = Numbers::add(a[2], a[3]);
    const Numbers outer_difference = Numbers::subtract(a[1], a[4]), inner_difference = Numbers::subtract(a[2], a[3]);
    const Numbers one = Numbers::plus(Numbers::plus(a[0], cosine[0], outer), cosine[1], inner);
    const Numbers two = Numbers::plus(Numbers::plus(a[0], cosine[1], outer), cosine[0], inner);
    const Numbers zero{};
    const Numbers turned_one =
        Numbers::turn(T(1), Numbers::plus(Numbers::plus(zero, sine[0], outer_difference), sine[1], inner_difference));
    const Numbers turned_two =
        Numbers::turn(T(1), Numbers::plus(Numbers::plus(zero, sine[1], outer_difference), -sine[0], inner_difference));
    a[0] = Numbers::add(a[0], Numbers::add(outer, inner));
    a[1] = Numbers::add(one, turned_one);
    a[2] = Numbers::add(two, turned_two);
    a[3] = Numbers::subtract(two, turned_two);
    a[4] = Numbers::subtract(one, turned_one);
  }

  /// One pass: `stride` interleaved sequences, each of Radix * m numbers.
  template <int Radix>
  QUADRAT_FFT_INLINE static void pass(const Numbers* from, Numbers* to, int m, int stride, const T* roots) {
    const std::ptrdiff_t step = stride, apart = step * m;
    sequences<Radix, false>(from, to, step, apart, roots);
    for (int q = 1; q < m; ++q) {
      sequences<Radix, true>(from + step * q, to + step * Radix * q, step, apart, roots + 2 * (Radix - 1) * q);
    }
  }

  template <int Radix, bool Turned>
  QUADRAT_FFT_INLINE static void sequences(const Numbers* from, Numbers* to, std::ptrdiff_t step, std::ptrdiff_t apart,
                                           const T* roots) {
    typename Numbers::vector re[Radix], im[Radix];
    QUADRAT_FFT_UNROLL
    for (int r = 1; r < Radix; ++r) re[r] = Numbers::fill(roots[2 * r - 2]), im[r] = Numbers::fill(roots[2 * r - 1]);
    for (std::ptrdiff_t k = 0; k < step; ++k) {
      Numbers a[Radix];
      QUADRAT_FFT_UNROLL
      for (int j = 0; j < Radix; ++j) a[j] = from[apart * j + k];
      sums<Radix>(a);
      to[k] = a[0];
      QUADRAT_FFT_UNROLL
      for (int r = 1; r < Radix; ++r) to[step * r + k] = Turned ? Numbers::multiply(a[r], re[r], im[r]) : a[r];
    }
  }

  /// Transforms the numbers in `data`, with room for as many in `other`; returns where the result is. Sign -1.
  QUADRAT_FFT_TARGET __attribute__((noinline)) static Numbers* run(const fft_size<T>& size, Numbers* data,
                                                                   Numbers* other) {
    int rest = size.points, stride = 1;
    const T* roots = size.roots.data();
    const int passes = static_cast<int>(size.radices.size());
    for (int p = 0; p < passes; ++p) {
      const int radix = size.radices[static_cast<std::size_t>(p)];
      rest /= radix;
      if (radix == 4) {
        pass<4>(data, other, rest, stride, roots);
      } else if (radix == 2) {
        pass<2>(data, other, rest, stride, roots);
      } else if (radix == 3) {
        pass<3>(data, other, rest, stride, roots);
      } else {
        pass<5>(data, other, rest, stride, roots);
      }
      roots += 2 * static_cast<std::ptrdiff_t>(rest) * (radix - 1);
      stride *= radix;
      Numbers* const result = other;
      other = data;
      data = result;
    }
    return data;
  }
};

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

  /// Of the numbers from `first` on.
  QUADRAT_FFT_INLINE static void turn(const fft_lines<T>& work, int first, int count, numbers* data) {
    for (int j = first; j < first + count; ++j) {
      T root[2];
      work.turns->root(work.column * static_cast<std::size_t>(j), root);
      const T* own = work.turns->lanes.data() + std::ptrdiff_t{2} * lanes * j;
      const vector re = *reinterpret_cast<const anywhere*>(own), im = *reinterpret_cast<const anywhere*>(own + lanes);
      numbers& x = data[j - first];
      x = numbers::multiply(numbers::multiply(x, numbers::fill(root[0]), numbers::fill(root[1])), re, im);
    }
  }
};

/// Numbers of lines that are not adjacent: squares of as many lines as there are lanes, and as many words.
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

template <typename T, typename Set>
struct fft_lanes {
  using access = fft_line_access<T, Set>;
  using numbers = typename access::numbers;
  using passes = fft_passes<numbers, T>;
  static constexpr int lanes = access::lanes;

  QUADRAT_FFT_INLINE static void clear(numbers* data, int first, int last) {
    for (int j = first; j < last; ++j) data[j] = numbers{};
  }

  using squares = fft_squares<T, Set>;

  /// What is outside the band is zero.
  QUADRAT_FFT_INLINE static void read_banded(const fft_lines<T>& work, int first, int count, numbers* to) {
    const int high = work.size->points - work.in.high, last = first + count;
    if (last <= work.in.low || first >= high) return squares::read(work, first, count, to);
    for (int c = 0; c < count; ++c) {
      if (first + c < work.in.low || first + c >= high) {
        squares::read(work, first + c, 1, to + c);
      } else {
        to[c] = numbers{};
      }
    }
  }

  QUADRAT_FFT_INLINE static void write_banded(const fft_lines<T>& work, int first, int count, numbers* from) {
    const int high = work.size->points - work.out.high, last = first + count;
    if (last <= work.out.low || first >= high) return squares::write(work, first, count, from);
    for (int c = 0; c < count; ++c) {
      if (first + c < work.out.low || first + c >= high) squares::write(work, first + c, 1, from + c);
    }
  }

  QUADRAT_FFT_TARGET static void transform(const fft_lines<T>& work) {
    const int n = work.size->points;
    numbers* const data = reinterpret_cast<numbers*>(work.scratch);
    for (int j = 0; j < n; j += squares::columns) read_banded(work, j, std::min(n - j, squares::columns), data + j);
    numbers* const result = passes::run(*work.size, data, data + n);
    for (int j = 0; j < n; j += squares::columns) write_banded(work, j, std::min(n - j, squares::columns), result + j);
  }

  /// Two real lines are the real and the imaginary parts of a complex one; the parts of its transform that are even and
  /// odd under conjugation are their transforms.
  QUADRAT_FFT_TARGET static void from_real(const fft_lines<T>& work) {
    const int n = work.size->points;
    numbers* const data = reinterpret_cast<numbers*>(work.scratch);
    T* const words = work.scratch;
    if (work.lines < 2 * lanes) clear(data, 0, n);
    for (int l = 0; l < work.lines; ++l) {
      const T* from = work.from + static_cast<std::size_t>(l) * work.from_apart;
      for (int j = 0; j < n; ++j) words[2 * lanes * j + l] = from[j];
    }
    numbers* const result = passes::run(*work.size, data, data + n);
    const T* const sums = reinterpret_cast<const T*>(result);
    for (int l = 0; l < work.lines; ++l) {
      const bool second = l >= lanes;
      const T* const own = sums + l % lanes;
      T* const to = work.to + 2 * static_cast<std::size_t>(l) * work.to_apart;
      for (int k = 0; k < work.out.low; ++k) {
        const T* a = own + 2 * lanes * k;
        const T* b = own + 2 * lanes * (k == 0 ? 0 : n - k);
        T* number = to + 2 * static_cast<std::size_t>(k) * work.to_step;
        number[0] = T(0.5) * (second ? a[lanes] + b[lanes] : a[0] + b[0]);
        number[1] = T(0.5) * (second ? b[0] - a[0] : a[lanes] - b[lanes]);
      }
    }
  }

  /// The reverse. With the sign 1 computed as the conjugate of that with the sign -1 of the conjugates.
  QUADRAT_FFT_TARGET static void to_real(const fft_lines<T>& work) {
    const int n = work.size->points;
    numbers* const data = reinterpret_cast<numbers*>(work.scratch);
    T* const words = work.scratch;
    clear(data, 0, n);
    for (int l = 0; l < work.lines; ++l) {
      const bool second = l >= lanes;
      T* const own = words + l % lanes;
      const T* const from = work.from + 2 * static_cast<std::size_t>(l) * work.from_apart;
      for (int k = 0; k < work.in.low; ++k) {
        const T re = from[2 * static_cast<std::size_t>(k) * work.from_step];
        const bool real = k == 0 || 2 * k == n;
        const T im = real ? T(0) : from[2 * static_cast<std::size_t>(k) * work.from_step + 1];
        // The conjugate of A + i B for k, and of conj A + i conj B for n - k.
        T* const a = own + 2 * lanes * k;
        T* const b = own + 2 * lanes * (n - k);
        a[0] += second ? -im : re;
        a[lanes] -= second ? re : im;
        if (real) continue;
        b[0] += second ? im : re;
        b[lanes] -= second ? re : -im;
      }
    }
    const T* const sums = reinterpret_cast<const T*>(passes::run(*work.size, data, data + n));
    for (int l = 0; l < work.lines; ++l) {
      const T factor = l >= lanes ? T(-1) : T(1);
      T* const to = work.to + static_cast<std::size_t>(l) * work.to_apart;
      for (int j = 0; j < n; ++j) to[j] = factor * sums[2 * lanes * j + l];
    }
  }
};

template <typename T, typename Set>
[[nodiscard]] constexpr fft_functions<T> make_fft_functions() {
  using loops = fft_lanes<T, Set>;
  return {loops::lanes, loops::transform, loops::from_real, loops::to_real};
}

}  // namespace

}  // namespace quadrat::detail
