// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "quadrat/core/array.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "search/kernels.hpp"

/// The methods `masks` and `warps`, for CUDA and orthorhombic boxes in which no neighbor has two images within reach.
/// Cells are finer along the first axis, and each row of cells is trimmed to what the sphere around the point can reach
/// of it.
///
/// masks, for large sets: a thread searches for a row and leaves a bit for each candidate; the entries are then written
/// from the bits, through shared memory, so that a warp writes whole rows. warps, for small sets, and for rows too long
/// for that: a warp searches for a row, its threads for candidates, and writes as it finds.
namespace quadrat::detail {

/// Candidates of a row of cells that are pairs: bit k stands for slot code + 1 + k, in the lower 27 bits; the image is
/// in the upper five. One 8-byte word.
struct alignas(8) candidate_mask {
  std::uint32_t bits;
  std::uint32_t code;
};
/// Of one row of the list: its pairs, and the masks that it needed.
struct alignas(8) row_share {
  std::uint32_t count;
  std::uint32_t used;
};

/// Masks that are kept for a row of the list, at so many points within a cutoff cubed (or squared); the rows that need
/// more are searched again.
template <int D>
[[nodiscard]] std::uint32_t masks_a_row(double points_a_cube) {
  const double rows = D == 3 ? 9 : 3;
  const double masks = std::floor(1.6 * points_a_cube / 32);  // in a row of cells, besides the first
  return static_cast<std::uint32_t>(rows * (1 + std::fmin(masks, 2.0)) + rows / 2);
}

/// Points up to which a warp a row is faster than a thread a row.
inline constexpr std::size_t warps_most_points = 50000;

/// Records that are read beyond the last one, and not used.
inline constexpr std::size_t masks_padding = 3;

/// Points a system up to which trying every pair, with the nearest image, beats looking for neighbors in cells.
inline constexpr std::size_t all_pairs_most_points = 400;

/// What a search is made in.
template <typename T, int D>
struct masks_search {
  neighbor_search<T, D> search;
  search_system<T, D> system;  ///< where there is one
  bool periodic;               ///< any axis of any system
  bool warp_a_row;             ///< the method is warps
  bool small_boxes;            ///< one cell a system, and every pair tried
  std::uint32_t rows;
  const particle_id* elements;  ///< by slot
  const T* xy;                  ///< by slot, two each
  const T* z;
  candidate_mask* words;  ///< mask k of a slot is words[slot * slot_stride + k * mask_stride]
  std::uint32_t words_a_row;
  std::size_t slot_stride;  ///< 1 where rows are short, so that a warp writes masks side by side; words_a_row otherwise
  std::size_t mask_stride;
  row_share* shares;         ///< by slot
  std::uint64_t* most_used;  ///< receives the masks that the row with most of them needs, where that is too many
};

/// Masks of a row from which on they stand side by side.
inline constexpr std::uint32_t masks_of_long_rows = 40;

/// Points, and cells, up to which one block builds the cells: 6 us for 1,000 points where five kernels take 16.
inline constexpr std::size_t small_cells_most = 4096;

template <typename T, int D>
struct small_cells {
  std::uint32_t* offsets;  ///< cells + 1
  particle_id* elements;
  search_point<T, D>* records;
  split_positions<T, D> components;
};

#if QUADRAT_HAS_CUDA
/// Points in cells, in whatever order. Asynchronous.
template <typename T, int D>
void enqueue_small_cells(const cuda_context& context, const search_key_of_one<T, D>& key, std::size_t count,
                         std::size_t cells, const small_cells<T, D>& out);
/// Counts the pairs of each row. Asynchronous.
template <typename T, int D>
void enqueue_masks(const cuda_context& context, const masks_search<T, D>& what, std::uint32_t* counts);
/// Writes the entries. Asynchronous.
template <typename T, int D>
void enqueue_entries_of_masks(const cuda_context& context, const masks_search<T, D>& what,
                              const neighbor_sink<T, D>& sink);
#else
template <typename T, int D>
void enqueue_small_cells(const cuda_context& context, const search_key_of_one<T, D>&, std::size_t, std::size_t,
                         const small_cells<T, D>&) {
  context.activate();
}
template <typename T, int D>
void enqueue_masks(const cuda_context& context, const masks_search<T, D>&, std::uint32_t*) {
  context.activate();
}
template <typename T, int D>
void enqueue_entries_of_masks(const cuda_context& context, const masks_search<T, D>&, const neighbor_sink<T, D>&) {
  context.activate();
}
#endif

}  // namespace quadrat::detail
