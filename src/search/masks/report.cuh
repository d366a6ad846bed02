// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "search/kernels.hpp"

namespace quadrat::detail {

/// One thread of each block calls this when a list is built at once. The last one reports the number of pairs.
template <typename T, int D>
__device__ void report_at_end(const neighbor_sink<T, D>& sink, std::uint64_t* offsets, std::uint32_t rows,
                              std::uint64_t pairs) {
  if (blockIdx.x != gridDim.x - 1) return;
  offsets[rows] = pairs;
  sink.report(rows);
}

}  // namespace quadrat::detail
