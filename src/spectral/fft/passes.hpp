// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "spectral/fft/access.hpp"

// Included once by the source of each instruction set, like the header above.

namespace quadrat::detail {

namespace {

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

  /// Numbers outside the band are zero.
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

  /// The reverse, with the sign 1: computed as the conjugate of the transform, with the sign -1, of the conjugates.
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
