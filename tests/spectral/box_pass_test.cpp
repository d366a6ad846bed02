// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/cuda/box_pass.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "quadrat/core/error.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// The passes of a block's threads, one thread after the other, against direct sums.

namespace quadrat::test {

namespace {

using number = detail::fft_number<double>;

std::vector<number> drawn_numbers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<number> numbers(count);
  for (auto& x : numbers) x = {random_unit<double>(random) - 0.5, random_unit<double>(random) - 0.5};
  return numbers;
}

std::complex<double> of(const number& x, int sign) { return {x.re, sign * x.im}; }

/// Lines of `size` numbers, of which `in` are given and `out` wanted.
struct lines_case {
  static constexpr int lines = 11, groups = 2;

  int size, in, out, sign;
  bool strided;
  std::vector<number> from, to, in_factors, out_factors;

  lines_case(int n, int given, int wanted, int exponent, bool side_by_side)
      : size(n),
        in(given),
        out(wanted),
        sign(exponent),
        strided(side_by_side),
        from(drawn_numbers(static_cast<std::size_t>(n * lines * groups), 1)),
        to(from.size()),
        in_factors(drawn_numbers(static_cast<std::size_t>(n), 2)),
        out_factors(drawn_numbers(static_cast<std::size_t>(n), 3)) {}

  [[nodiscard]] std::size_t place(int group, int line, int i) const {
    return static_cast<std::size_t>(group * lines * size + (strided ? i * lines + line : line * size + i));
  }

  void transform() {
    auto plan = detail::plan_line(size);
    const auto roots = detail::line_roots<double>(size);
    detail::box_pass<double> pass{};
    pass.digits = plan.digits;
    pass.digits.places = plan.places.data();
    pass.roots = roots.data();
    const std::size_t group = place(1, 0, 0), line = place(0, 1, 0);
    const auto step = static_cast<std::uint32_t>(place(0, 0, 1));
    pass.from = {from.data(), in_factors.data(), in, step, line, group};
    pass.to = {to.data(), out_factors.data(), out, step, line, group};
    pass.sign = sign;
    pass.lines = lines;
    pass.groups = groups;
    pass.shift = 2;
    std::vector<number> memory(pass.memory());
    for (int g = 0; g < groups; ++g) {
      for (int first = 0; first < lines; first += 4) {
        const detail::box_block<double> block{pass, memory.data(), g, first};
        for (int p = 0; p < pass.digits.passes; ++p) {
          for (int thread = 0; thread < 32; ++thread) {
            strided ? detail::run_box_pass<true>(block, p, thread, 32)
                    : detail::run_box_pass<false>(block, p, thread, 32);
          }
        }
      }
    }
  }

  /// The transform at one mode.
  [[nodiscard]] std::complex<double> direct(int group, int line, int mode) const {
    std::complex<double> sum = 0;
    for (int i = 0; i < in; ++i) {
      const double angle = sign * 2 * std::numbers::pi * static_cast<double>(std::int64_t{i} * mode % size) / size;
      const auto at = static_cast<std::size_t>(i);
      sum += of(from[place(group, line, i)], 1) * of(in_factors[at], sign) * std::polar(1.0, angle);
    }
    return sum * of(out_factors[static_cast<std::size_t>(mode)], sign);
  }
};

/// What is not wanted is not written.
void expect_direct_sums(lines_case it) {
  it.transform();
  for (int group = 0; group < it.groups; ++group) {
    for (int line = 0; line < it.lines; ++line) {
      for (int mode = 0; mode < it.size; mode += 1 + it.size / 16) {
        const number& found = it.to[it.place(group, line, mode)];
        const auto wanted = mode < it.out ? it.direct(group, line, mode) : 0.0;
        ASSERT_LE(std::abs(of(found, 1) - wanted), mode < it.out ? 1e-13 * it.size : 0)
            << it.size << " numbers, " << it.in << " given, " << it.out << " wanted, mode " << mode;
      }
    }
  }
}

TEST(box_pass, transforms_lines_of_every_size) {
  for (int size = 17; size <= 700; ++size) {
    int rest = size;
    for (const int factor : {2, 3, 5}) {
      while (rest % factor == 0) rest /= factor;
    }
    EXPECT_TRUE(rest > 1 || detail::has_line_plan(size)) << size;
    if (rest > 1) continue;
    expect_direct_sums({size, size, size, 1, true});
    expect_direct_sums({size, size / 2, size / 2 + 1, -1, false});
    expect_direct_sums({size, size / 2 + 1, size / 2, 1, false});
    expect_direct_sums({size, size / 2, size / 2, -1, true});
    expect_direct_sums({size, 1, size / 3, 1, true});
  }
}

/// 3750 is 6 times 5 four times; 14 and 17 are no products of 2, 3 and 5.
TEST(box_pass, knows_which_sizes_it_has) {
  for (const int size : {14, 17, 3125, 3750}) EXPECT_FALSE(detail::has_line_plan(size)) << size;
  for (const int size : {540, 648, 4096, 2500}) EXPECT_TRUE(detail::has_line_plan(size)) << size;
  expect_words(error_of<argument_error>([] { (void)detail::plan_line(3750); }), {"3750"});
}

}  // namespace

}  // namespace quadrat::test
