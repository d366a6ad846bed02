// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

}  // namespace

}  // namespace quadrat::detail
