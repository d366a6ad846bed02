// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/search/cluster_pairs.hpp"

/// The pairs of tiles as turns (staged_turns), on a GPU: a warp for each row, a lane for each of its points.
namespace quadrat::detail {

/// The masks of all rows.
struct masked_rows {
  std::size_t rows;
  const std::uint64_t* offsets;  ///< by row: the first tile
  const std::uint8_t* masks;     ///< a byte for each point of the row, tile by tile
};

#if QUADRAT_HAS_CUDA
/// The turns of each row. Asynchronous.
void enqueue_turn_counts(const cuda_context& context, const masked_rows& what, std::uint32_t* counts);
/// Writes them. Asynchronous.
void enqueue_turns(const cuda_context& context, const masked_rows& what, const std::uint64_t* offsets,
                   std::uint32_t* words);
#else
inline void enqueue_turn_counts(const cuda_context& context, const masked_rows&, std::uint32_t*) { context.activate(); }
inline void enqueue_turns(const cuda_context& context, const masked_rows&, const std::uint64_t*, std::uint32_t*) {
  context.activate();
}
#endif

}  // namespace quadrat::detail
