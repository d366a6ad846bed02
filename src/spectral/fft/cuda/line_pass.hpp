// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "spectral/fft/cuda/butterfly.hpp"

/// Fourier transforms of lines of a mesh along one axis, in the shared memory of blocks: only some numbers of each line
/// are read (the others count as zero), and only some modes written, each times a factor. A block takes several lines,
/// with one butterfly per thread at a time.
namespace quadrat::detail {

/// Division by a number below 2^12, of numbers below 2^20.
struct line_divisor {
  std::uint32_t divisor = 1, reciprocal = 0;

  line_divisor() = default;
  explicit line_divisor(int number)
      : divisor(static_cast<std::uint32_t>(number)),
        reciprocal(number == 1 ? 0 : static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + divisor - 1) / divisor)) {}
  [[nodiscard]] QUADRAT_HD int quotient(int number) const {
    const auto x = static_cast<std::uint64_t>(static_cast<std::uint32_t>(number));
    return divisor == 1 ? number : static_cast<int>((x * reciprocal) >> 32);
  }
};

/// Which indices exist, and where they are stored: [0, low) from `low_at` on, [begin, ...) at the index plus `high_at`.
struct line_map {
  int low, begin;
  int low_at, high_at;

  /// All of n, or the first n.
  [[nodiscard]] static line_map first(int n, int size) { return {n, size, 0, 0}; }
  [[nodiscard]] QUADRAT_HD bool has(int i) const { return i < low || i >= begin; }
  [[nodiscard]] QUADRAT_HD std::size_t at(int i) const {
    return static_cast<std::size_t>(i < low ? i + low_at : i + high_at);
  }
};

/// How a line of `size` numbers is transformed: pass after pass in place, each number then being where its index has
/// the digits of a mode in reverse; and what the passes look up.
struct line_digits {
  static constexpr int most_passes = 4;

  int size;
  int passes;
  int radix[most_passes];
  line_divisor butterflies[most_passes], step[most_passes];  ///< of each pass: size / radix; and part / radix
  int pitch;                    ///< places from one of the first pass's parts to the next; odd, to avoid bank conflicts
  const std::uint16_t* places;  ///< of the last pass's butterflies, by their first mode

  [[nodiscard]] QUADRAT_HD int places_of_line() const { return radix[0] * pitch; }
};

/// One end of a pass, in complex numbers: where numbers are, and what they are multiplied by.
template <typename T>
struct line_end {
  fft_number<T>* numbers;
  const fft_number<T>* factors;  ///< by index; null: none. Conjugated where the sign is -1
  line_map index, line, group;
  std::size_t index_step, line_step, group_step;
};

template <typename T>
struct line_pass {
  line_digits digits;
  const fft_number<T>* roots;  ///< exp(-2 pi i k / size)
  line_end<T> from, to;
  bool conjugate;  ///< the sign is 1 instead of -1
  int lines;       ///< of a group
  int groups;
  int shift;  ///< a block takes 2^shift lines

  [[nodiscard]] QUADRAT_HD int together() const { return 1 << shift; }
  [[nodiscard]] int blocks_of_group() const { return (lines + together() - 1) >> shift; }
  [[nodiscard]] std::size_t memory() const { return static_cast<std::size_t>(digits.places_of_line()) << shift; }
};

/// The lines that a block works on, of a group.
template <typename T>
struct line_block {
  const line_pass<T>& pass;
  fft_number<T>* memory;
  int group, first;

  [[nodiscard]] QUADRAT_HD bool has(int line) const { return first + line < pass.lines; }

  /// Of place p of a line. Strided lines lie number by number, so that neighboring threads, which have neighboring
  /// lines, use different banks; others line by line.
  template <bool Strided>
  [[nodiscard]] QUADRAT_HD fft_number<T>* at(int line, int place) const {
    if constexpr (Strided) return memory + ((place << pass.shift) + line);
    return memory + (line * pass.digits.places_of_line() + place);
  }
  [[nodiscard]] QUADRAT_HD fft_number<T>* line_of(const line_end<T>& end, int line) const {
    return end.numbers + end.group.at(group) * end.group_step + end.line.at(first + line) * end.line_step;
  }
  [[nodiscard]] QUADRAT_HD fft_number<T> read(const fft_number<T>* line, int index) const {
    if (!pass.from.index.has(index)) return {};
    fft_number<T> x = line[pass.from.index.at(index) * pass.from.index_step];
    if (pass.conjugate) x.im = -x.im;
    if (pass.from.factors == nullptr) return x;
    const fft_number<T> factor = pass.from.factors[index];
    return x * fft_number<T>{factor.re, -factor.im};
  }
  QUADRAT_HD void write(fft_number<T>* line, int mode, fft_number<T> x) const {
    if (!pass.to.index.has(mode)) return;
    if (pass.to.factors != nullptr) {
      const fft_number<T> factor = pass.to.factors[mode];
      x = x * fft_number<T>{factor.re, -factor.im};
    }
    if (pass.conjugate) x.im = -x.im;
    line[pass.to.index.at(mode) * pass.to.index_step] = x;
  }
};

/// One pass, by thread `thread` of `threads`: all of them must have done the one before.
template <bool Strided, int Radix, typename T>
QUADRAT_HD inline void run_line_pass(const line_block<T>& block, int number, int thread, int threads) {
  const line_pass<T>& all = block.pass;
  const line_digits& digits = all.digits;
  const int butterflies = static_cast<int>(digits.butterflies[number].divisor);
  const int step = static_cast<int>(digits.step[number].divisor);
  const int root_step = butterflies / step;
  const bool first = number == 0, last = number + 1 == digits.passes;
  const int inner = number < 2 ? 1 : digits.radix[1];
  for (int i = thread; i < butterflies << all.shift; i += threads) {
    const int along = Strided ? i >> all.shift : digits.butterflies[number].quotient(i);
    const int line = Strided ? i - (along << all.shift) : along;
    const int butterfly = Strided ? along : i - line * butterflies;
    if (!block.has(line)) continue;
    const int p = digits.step[number].quotient(butterfly), q = butterfly - p * step;
    fft_number<T> x[Radix];
    if (first) {
      const fft_number<T>* const from = block.line_of(all.from, line);
      QUADRAT_UNROLL
      for (int r = 0; r < Radix; ++r) x[r] = block.read(from, q + r * step);
    } else {
      const int place = last ? digits.places[butterfly] : p / inner * digits.pitch + p % inner * (step * Radix) + q;
      QUADRAT_UNROLL
      for (int r = 0; r < Radix; ++r) x[r] = *block.template at<Strided>(line, place + r * step);
    }
    small_transform<Radix>(x);
    if (last) {
      fft_number<T>* const to = block.line_of(all.to, line);
      QUADRAT_UNROLL
      for (int r = 0; r < Radix; ++r) block.write(to, butterfly + r * butterflies, x[r]);
      continue;
    }
    const int place = first ? q : p / inner * digits.pitch + p % inner * (step * Radix) + q;
    const int apart = first ? digits.pitch : step;
    QUADRAT_UNROLL
    for (int r = 0; r < Radix; ++r) {
      *block.template at<Strided>(line, place + r * apart) = r == 0 ? x[r] : x[r] * all.roots[q * r * root_step];
    }
  }
}

/// The same for the pass's radix.
template <bool Strided, typename T>
QUADRAT_HD inline void run_line_pass(const line_block<T>& block, int number, int thread, int threads) {
  switch (block.pass.digits.radix[number]) {
    case 2:
      return run_line_pass<Strided, 2>(block, number, thread, threads);
    case 3:
      return run_line_pass<Strided, 3>(block, number, thread, threads);
    case 4:
      return run_line_pass<Strided, 4>(block, number, thread, threads);
    case 5:
      return run_line_pass<Strided, 5>(block, number, thread, threads);
    case 6:
      return run_line_pass<Strided, 6>(block, number, thread, threads);
    case 8:
      return run_line_pass<Strided, 8>(block, number, thread, threads);
    case 9:
      return run_line_pass<Strided, 9>(block, number, thread, threads);
    case 10:
      return run_line_pass<Strided, 10>(block, number, thread, threads);
    default:
      return run_line_pass<Strided, 16>(block, number, thread, threads);
  }
}

}  // namespace quadrat::detail
