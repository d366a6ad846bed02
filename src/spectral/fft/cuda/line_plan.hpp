// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "spectral/fft/cuda/butterfly.hpp"

/// Plans for transforms of lines in shared memory: see box_pass.hpp.
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

/// The transform of a line of `size` numbers, pass after pass in place. The result is in digit-reversed order. Also
/// holds the tables of the passes.
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

/// Lines longer than this do not fit into shared memory, together with enough neighbors.
template <typename T>
inline constexpr int most_line_size = sizeof(T) == 4 ? 4096 : 2048;

/// The tables of line_digits on the host.
struct line_plan {
  line_digits digits;
  std::vector<std::uint16_t> places;
};

/// Whether a size is a product of two to four of the radices 16, 10, 9, 8, 6, 5, 4, 3 and 2.
[[nodiscard]] bool has_line_plan(int size);

/// Chooses the fewest passes; among those, the smallest largest radix; even radices first and last where possible.
/// Throws argument_error for a size that is no product of four radices.
[[nodiscard]] line_plan plan_line(int size);

/// exp(-2 pi i k / size), k = 0 to size - 1.
template <typename T>
[[nodiscard]] std::vector<fft_number<T>> line_roots(int size);

}  // namespace quadrat::detail
