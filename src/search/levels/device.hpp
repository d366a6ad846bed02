// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "search/levels/long_rows.hpp"
#include "search/levels/rows.hpp"
#include "search/masks/masks.hpp"

/// The method `levels` on a GPU. A thread per row visits the layers and sets a bit for each candidate that is a pair;
/// the entries are written from the bits, as in the method `masks`. A thread gives up a row that is too long, or has
/// several images of one point. Such rows are cut into parts, one warp each, and searched twice.
namespace quadrat::detail {

/// Slots that are read beyond the last one, but not used.
inline constexpr std::size_t levels_padding = 3;

/// The arguments of a search.
template <typename T, int D>
struct radius_search {
  levels_search<T, D> walk;
  search_system<T, D> box;  ///< the first
  bool periodic;            ///< any axis of any system
  bool folded;              ///< whether the cells of any layer are
  T thread_reach;           ///< reach up to which threads search rows; 0: all rows are long
  std::uint32_t rows;
  candidate_mask* words;  ///< mask k of a slot is words[slot + k * rows]
  std::uint32_t words_a_row;
  row_share* shares;         ///< by slot; empty if the row is long
  std::uint64_t* most_used;  ///< receives the largest number of masks of a row, if that is too many
  long_rows longer;
};

#if QUADRAT_HAS_CUDA
/// Counts the pairs of each row. Asynchronous.
template <typename T, int D>
void enqueue_radius_counts(const cuda_context& context, const radius_search<T, D>& what, std::uint32_t* counts,
                           const fault_flag& faults, workspace<cuda_context>& scratch);
/// Writes the entries. Asynchronous.
template <typename T, int D>
void enqueue_radius_entries(const cuda_context& context, const radius_search<T, D>& what,
                            const neighbor_sink<T, D>& sink);
#else
template <typename T, int D>
void enqueue_radius_counts(const cuda_context& context, const radius_search<T, D>&, std::uint32_t*, const fault_flag&,
                           workspace<cuda_context>&) {
  context.activate();
}
template <typename T, int D>
void enqueue_radius_entries(const cuda_context& context, const radius_search<T, D>&, const neighbor_sink<T, D>&) {
  context.activate();
}
#endif

}  // namespace quadrat::detail
