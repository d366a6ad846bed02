// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "spectral/fft/cuda/line_pass.hpp"

namespace quadrat::detail {

/// Lines longer than this do not fit into shared memory, together with enough neighbors.
template <typename T>
inline constexpr int most_line_size = sizeof(T) == 4 ? 4096 : 2048;

/// What line_digits points to, on the host.
struct line_plan {
  line_digits digits;
  std::vector<std::uint16_t> places;
};

/// The fewest passes, and of those the ones with the smallest greatest radix. `size`: a product of 2, 3 and 5, at most
/// most_line_size.
/// `evens`: radices in an order with even ones first and last, as far as there are any.
[[nodiscard]] line_plan plan_line(int size, bool evens = false);

/// exp(-2 pi i k / size), k = 0 to size - 1.
template <typename T>
[[nodiscard]] std::vector<fft_number<T>> line_roots(int size);

/// 2 to the power of this many lines are transformed together: those of 128 bytes next to one another, or fewer where
/// they would take too much shared memory.
template <typename T>
[[nodiscard]] inline int line_shift(const line_digits& digits) {
  constexpr std::size_t most_bytes = 80 * 1024;
  int shift = sizeof(T) == 4 ? 4 : 3;
  const auto bytes = static_cast<std::size_t>(digits.places_of_line()) * sizeof(fft_number<T>);
  while (shift > 1 && (bytes << shift) > most_bytes) --shift;
  return shift;
}

}  // namespace quadrat::detail
