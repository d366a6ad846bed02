// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace quadrat::detail {

/// The first of `layers` layers that belongs to `rank`; for rank = ranks, the number of layers.
[[nodiscard]] constexpr int slab_begin(int layers, int rank, int ranks) {
  const std::int64_t width = (std::int64_t{layers} + ranks - 1) / ranks;
  const std::int64_t first = width * rank;
  return static_cast<int>(first < layers ? first : layers);
}

}  // namespace quadrat::detail
