// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/macros.hpp"

namespace quadrat::detail {

/// Rows of keys: [offsets[i], offsets[i + 1]) if within the capacity, or counts[i] keys from i * width on.
struct key_rows {
  const std::uint64_t* offsets;  ///< nullptr: a matrix
  const std::uint32_t* counts;
  std::uint64_t width;
  std::uint64_t capacity;
  std::size_t rows;
  std::uint64_t* keys;

  [[nodiscard]] QUADRAT_HD std::uint64_t begin(std::size_t row) const {
    return offsets != nullptr ? offsets[row] : row * width;
  }
  [[nodiscard]] QUADRAT_HD std::uint64_t length(std::size_t row) const {
    if (offsets == nullptr) return counts[row] < width ? counts[row] : width;
    return offsets[row + 1] <= capacity ? offsets[row + 1] - offsets[row] : 0;
  }
};

/// Sorts each row. Nothing is allocated. CUDA: asynchronous; rows of any length, fastest where they have at most 128.
void sort_rows(const cpu_context& context, const key_rows& rows);
#if QUADRAT_HAS_CUDA
void sort_rows(const cuda_context& context, const key_rows& rows);
#else
inline void sort_rows(const cuda_context& context, const key_rows&) { context.activate(); }
#endif

}  // namespace quadrat::detail
