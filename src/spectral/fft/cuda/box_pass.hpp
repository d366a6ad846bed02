// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "spectral/fft/cuda/line_plan.hpp"

/// Fourier transforms of lines of a mesh along one axis, in the shared memory of blocks: only the first numbers of each
/// line are given (the others count as zero), and only its first modes are wanted, mostly less than half of both. Then
/// the first pass reads half of its numbers, and the last one computes half of its modes. A block takes several lines,
/// with one butterfly per thread at a time.
namespace quadrat::detail {

/// One end of a transform, in complex numbers: the place, count and factors of the numbers of a line.
template <typename T>
struct box_end {
  fft_number<T>* numbers;
  const fft_number<T>* factors;  ///< conjugated where the sign is -1
  int count;
  std::uint32_t step;  ///< from one number to the next
  std::size_t line_step, group_step;
};

template <typename T>
struct box_pass {
  line_digits digits;
  const fft_number<T>* roots;  ///< exp(-2 pi i k / size)
  box_end<T> from, to;
  T sign;
  int lines;  ///< of a group
  int groups;
  int shift;  ///< a block takes 2^shift lines

  [[nodiscard]] int blocks_of_group() const { return (lines + (1 << shift) - 1) >> shift; }
  [[nodiscard]] std::size_t memory() const { return static_cast<std::size_t>(digits.places_of_line()) << shift; }
};

/// One thread's work in a pass: the butterfly and its line.
template <typename T>
struct box_butterfly {
  const box_pass<T>& pass;
  fft_number<T>* from;    ///< the line's
  fft_number<T>* to;      ///< likewise
  fft_number<T>* memory;  ///< the line's
  int apart;              ///< in memory, from one place to the next
  int number;

  /// Number i of the line, to be transformed with the sign -1.
  [[nodiscard]] QUADRAT_HD fft_number<T> read(int i) const {
    if (i >= pass.from.count) return {T(0), T(0)};
    const fft_number<T> x = from[static_cast<std::uint32_t>(i) * pass.from.step];
    const fft_number<T> f = pass.from.factors[i];
    const T im = -pass.sign * x.im;
    return {x.re * f.re + im * f.im, im * f.re - x.re * f.im};
  }
  QUADRAT_HD void write(int mode, const fft_number<T>& x) const {
    if (mode >= pass.to.count) return;
    const fft_number<T> f = pass.to.factors[mode];
    to[static_cast<std::uint32_t>(mode) * pass.to.step] = {x.re * f.re + x.im * f.im,
                                                           -pass.sign * (x.im * f.re - x.re * f.im)};
  }

  template <int Radix, bool Half>
  QUADRAT_HD void first() const {
    const int step = static_cast<int>(pass.digits.step[0].divisor);
    fft_number<T> x[Radix];
    constexpr int given = Half ? Radix / 2 : Radix;
    QUADRAT_UNROLL
    for (int r = 0; r < given; ++r) x[r] = read(number + r * step);
    if constexpr (Half) {
      transform_first_half<Radix>(x);
    } else {
      small_transform<Radix>(x);
    }
    put(x, number, pass.digits.pitch, number);
  }

  template <int Radix>
  QUADRAT_HD void middle(int p) const {
    const line_digits& digits = pass.digits;
    const int step = static_cast<int>(digits.step[p].divisor), part = digits.step[p].quotient(number);
    const int q = number - part * step, inner = p == 1 ? 1 : digits.radix[1];
    const int place = part / inner * digits.pitch + part % inner * (step * Radix) + q;
    fft_number<T> x[Radix];
    QUADRAT_UNROLL
    for (int r = 0; r < Radix; ++r) x[r] = memory[(place + r * step) * apart];
    small_transform<Radix>(x);
    put(x, place, step, q * (static_cast<int>(digits.butterflies[p].divisor) / step));
  }

  template <int Radix, bool Half>
  QUADRAT_HD void last() const {
    const int butterflies = static_cast<int>(pass.digits.butterflies[pass.digits.passes - 1].divisor);
    const fft_number<T>* const place = memory + pass.digits.places[number] * apart;
    fft_number<T> x[Radix];
    QUADRAT_UNROLL
    for (int r = 0; r < Radix; ++r) x[r] = place[r * apart];
    constexpr int wanted = Half ? Radix / 2 : Radix;
    if constexpr (Half) {
      transform_to_first_half<Radix>(x);
    } else {
      small_transform<Radix>(x);
    }
    QUADRAT_UNROLL
    for (int r = 0; r < wanted; ++r) write(number + r * butterflies, x[r]);
  }

 private:
  /// Writes to places `step` apart, multiplied by the root number turn * r.
  template <int Radix>
  QUADRAT_HD void put(const fft_number<T> (&x)[Radix], int place, int step, int turn) const {
    memory[place * apart] = x[0];
    QUADRAT_UNROLL
    for (int r = 1; r < Radix; ++r) memory[(place + r * step) * apart] = x[r] * pass.roots[turn * r];
  }
};

/// Calls f(radix), for a radix of plan_line.
template <typename F>
QUADRAT_HD inline void with_radix(int radix, const F& f) {
  switch (radix) {
    case 2:
      return f(fft_radix<2>{});
    case 3:
      return f(fft_radix<3>{});
    case 4:
      return f(fft_radix<4>{});
    case 5:
      return f(fft_radix<5>{});
    case 6:
      return f(fft_radix<6>{});
    case 8:
      return f(fft_radix<8>{});
    case 9:
      return f(fft_radix<9>{});
    case 10:
      return f(fft_radix<10>{});
    default:
      return f(fft_radix<16>{});
  }
}

/// The lines that a block works on, of a group. Strided lines are adjacent in memory. `shared` stores them number by
/// number, so that neighboring threads use different banks. Other lines are stored line by line.
template <typename T>
struct box_block {
  const box_pass<T>& pass;
  fft_number<T>* shared;
  int group, first;

  /// Calls f(butterfly) for each of pass p that is thread `thread`'s of `threads`.
  template <bool Strided, typename F>
  QUADRAT_HD void for_each(int p, int thread, int threads, const F& f) const {
    const line_divisor& butterflies = pass.digits.butterflies[p];
    const int count = static_cast<int>(butterflies.divisor);
    for (int i = thread; i < count << pass.shift; i += threads) {
      const int along = Strided ? i >> pass.shift : butterflies.quotient(i);
      const int line = Strided ? i - (along << pass.shift) : along;
      if (first + line >= pass.lines) continue;
      f(box_butterfly<T>{pass, line_of(pass.from, line), line_of(pass.to, line),
                         shared + (Strided ? line : line * pass.digits.places_of_line()), Strided ? 1 << pass.shift : 1,
                         Strided ? along : i - line * count});
    }
  }

 private:
  [[nodiscard]] QUADRAT_HD fft_number<T>* line_of(const box_end<T>& end, int line) const {
    return end.numbers + static_cast<std::size_t>(group) * end.group_step +
           static_cast<std::size_t>(first + line) * end.line_step;
  }
};

/// One pass, by thread `thread` of `threads`. All threads must have finished the previous pass.
template <bool Strided, typename T>
QUADRAT_HD inline void run_box_pass(const box_block<T>& block, int p, int thread, int threads) {
  const box_pass<T>& pass = block.pass;
  with_radix(pass.digits.radix[p], [&](auto tag) {
    constexpr int radix = decltype(tag)::value, halves = radix % 2 == 0;
    if (p == 0) {
      if (halves && 2 * pass.from.count <= pass.digits.size) {
        block.template for_each<Strided>(p, thread, threads,
                                         [](const auto& one) { one.template first<radix, halves>(); });
      } else {
        block.template for_each<Strided>(p, thread, threads,
                                         [](const auto& one) { one.template first<radix, false>(); });
      }
    } else if (p + 1 < pass.digits.passes) {
      block.template for_each<Strided>(p, thread, threads, [p](const auto& one) { one.template middle<radix>(p); });
    } else if (halves && 2 * pass.to.count <= pass.digits.size) {
      block.template for_each<Strided>(p, thread, threads, [](const auto& one) { one.template last<radix, halves>(); });
    } else {
      block.template for_each<Strided>(p, thread, threads, [](const auto& one) { one.template last<radix, false>(); });
    }
  });
}

}  // namespace quadrat::detail
