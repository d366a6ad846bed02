// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace quadrat::detail {

/// Sorts in place, by `lanes` threads of a warp or a block. `lane` is the number of this thread, and `sync` their
/// barrier. before(a, b): whether a must come before b.
///
/// A bitonic sort in which every comparison puts the smaller item first, so that missing items beyond `count` act as
/// infinite.
template <typename Item, typename Before, typename Sync>
__device__ void bitonic_sort(Item* items, std::uint64_t count, unsigned lane, unsigned lanes, Before before,
                             Sync sync) {
  std::uint64_t half = 1;
  while (2 * half < count) half *= 2;
  const auto exchange = [&](std::uint64_t i, std::uint64_t j) {
    if (j >= count) return;
    const Item a = items[i];
    const Item b = items[j];
    if (!before(b, a)) return;
    items[i] = b;
    items[j] = a;
  };
  for (std::uint64_t size = 2; size <= 2 * half; size *= 2) {
    for (std::uint64_t t = lane; t < half; t += lanes) {
      const std::uint64_t in = t & (size / 2 - 1);
      const std::uint64_t first = 2 * (t - in);
      exchange(first + in, first + size - 1 - in);
    }
    sync();
    for (std::uint64_t step = size / 4; step > 0; step /= 2) {
      for (std::uint64_t t = lane; t < half; t += lanes) {
        const std::uint64_t in = t & (step - 1);
        const std::uint64_t first = 2 * (t - in) + in;
        exchange(first, first + step);
      }
      sync();
    }
  }
}

}  // namespace quadrat::detail
