// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

/// Fourier transforms of lines of a mesh on CPUs: the interface of the vectorized loops, which are compiled once for
/// each instruction set. Sizes are products of 2, 3 and 5. Sums have no factor: a transform and its inverse multiply by
/// n.
namespace quadrat::detail {

/// The indices of an axis of n modes that may be nonzero, or are wanted: [0, low) and [n - high, n).
struct mode_band {
  int low = 0;
  int high = 0;

  [[nodiscard]] int count() const { return low + high; }
};

/// The least product of 2, 3 and 5 that is `least` or more; even, if `even`.
[[nodiscard]] int good_fft_size(double least, bool even);

/// One size: its factors, and the roots of unity of each pass.
template <typename T>
struct fft_size {
  explicit fft_size(int points);

  int points;
  std::vector<int> radices;  ///< their product is `points`
  std::vector<T> roots;      ///< pass after pass: [m][radix - 1] complex numbers, m the product of the radices to come
};

/// Twiddle factors between the two steps of a line that is transformed as a matrix: element k of column c is multiplied
/// by exp(-2 pi i c k / points).
template <typename T>
struct fft_turns {
  fft_turns(int points, int rows, int lanes);
  /// exp(-2 pi i m / points), from two tables; m is below `points`.
  void root(std::size_t m, T* number) const {
    const T* a = coarse.data() + 2 * (m >> shift);
    const T* b = fine.data() + 2 * (m & ((std::size_t{1} << shift) - 1));
    number[0] = a[0] * b[0] - a[1] * b[1];
    number[1] = a[0] * b[1] + a[1] * b[0];
  }

  std::size_t points;
  int shift = 0;
  std::vector<T> coarse, fine;
  std::vector<T> lanes;  ///< for each k the factors of the columns 0, 1, ...: all real parts, all imaginary parts
};

/// At most one line per lane of a vector. Numbers are complex, as pairs; steps are counted in complex numbers (of real
/// lines: in real numbers).
template <typename T>
struct fft_lines {
  const fft_size<T>* size;
  const T* from;
  std::size_t from_step, from_apart;  ///< from one number of a line to the next, and from one line to the next
  mode_band in;                       ///< the numbers that are read; all others count as 0
  T* to;
  std::size_t to_step, to_apart;
  mode_band out;  ///< the numbers that are written
  int lines;
  T sign;                               ///< of the exponent, -1 or 1
  T* scratch;                           ///< fft_scratch(size, lanes) numbers, aligned to 64 bytes
  const fft_turns<T>* turns = nullptr;  ///< if there are any, multiplied to the results
  std::size_t column = 0;               ///< column of the first line in `turns`
};

[[nodiscard]] constexpr std::size_t fft_scratch(int points, int lanes) {
  return 4 * static_cast<std::size_t>(points) * static_cast<std::size_t>(lanes);
}

template <typename T>
struct fft_functions {
  int lanes;  ///< of a vector
  void (*transform)(const fft_lines<T>& work);
  /// Real lines, at most twice as many as lanes, `from_step` 1: writes the modes [0, out.low), sign -1. Lines beyond
  /// the number of lanes share lanes with the first lines, and rounding errors mix within a lane.
  void (*from_real)(const fft_lines<T>& work);
  /// Transforms the modes [0, in.low) to real lines, `to_step` 1, sign 1: the other modes are their complex conjugates.
  void (*to_real)(const fft_lines<T>& work);
};

/// The functions of each instruction set; nullptr if this CPU does not have it. Plain C++ always exists.
[[nodiscard]] const fft_functions<float>* avx512_fft_functions(float);
[[nodiscard]] const fft_functions<double>* avx512_fft_functions(double);
[[nodiscard]] const fft_functions<float>* avx2_fft_functions(float);
[[nodiscard]] const fft_functions<double>* avx2_fft_functions(double);
[[nodiscard]] const fft_functions<float>* plain_fft_functions(float);
[[nodiscard]] const fft_functions<double>* plain_fft_functions(double);

/// The widest ones that this CPU supports.
template <typename T>
[[nodiscard]] const fft_functions<T>& best_fft_functions() {
  if (const auto* functions = avx512_fft_functions(T{})) return *functions;
  if (const auto* functions = avx2_fft_functions(T{})) return *functions;
  return *plain_fft_functions(T{});
}

}  // namespace quadrat::detail
