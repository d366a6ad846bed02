// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "search/tiles/search.hpp"

/// The search for tiles on a GPU: a warp finds those of a row, a lane for each of its points.
namespace quadrat::detail {

/// The destination of tiles.
template <typename T, int D>
struct tile_sink {
  const std::uint64_t* offsets;
  pair_tile<T, D>* tiles;
  std::uint8_t* masks;  ///< a byte for each point of the row, tile by tile
};

#if QUADRAT_HAS_CUDA
/// Counts the tiles of each row. Asynchronous.
template <typename T, int D>
void enqueue_tile_counts(const cuda_context& context, const tile_search<T, D>& search, std::size_t rows,
                         std::uint32_t* counts);
/// Writes them, with their masks. Asynchronous.
template <typename T, int D>
void enqueue_tiles(const cuda_context& context, const tile_search<T, D>& search, std::size_t rows,
                   const tile_sink<T, D>& sink);
#else
template <typename T, int D>
void enqueue_tile_counts(const cuda_context& context, const tile_search<T, D>&, std::size_t, std::uint32_t*) {
  context.activate();
}
template <typename T, int D>
void enqueue_tiles(const cuda_context& context, const tile_search<T, D>&, std::size_t, const tile_sink<T, D>&) {
  context.activate();
}
#endif

}  // namespace quadrat::detail
