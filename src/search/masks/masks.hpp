// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "quadrat/core/array.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/search/lattice/image_rows.hpp"
#include "search/grid_keys.hpp"
#include "search/kernels.hpp"

/// The methods `masks` and `warps`, for CUDA. Cells are finer along the first axis, and each row of cells is trimmed to
/// the sphere around the point. In orthorhombic boxes in which no neighbor has two images within reach, rows of cells
/// continue on the opposite side of the box (trimmed_rows.cuh). In all others, cells know nothing of periods, and
/// the few points near a face are searched for once more from each image of the box within reach (image_rows.hpp).
///
/// masks, for large sets: a thread per row sets a bit for each candidate that is a pair; the entries are then written
/// from the bits, through shared memory, so that a warp writes whole rows. warps, for small sets, and for rows too long
/// for that: a warp per row, a thread per candidate; pairs are written as they are found.
namespace quadrat::detail {

/// Candidates of a row of cells that are pairs: bit k is the candidate in slot code + 1 + k, where the lower bits of
/// `code` hold the slot and the upper ones the image. One 8-byte word.
struct alignas(8) candidate_mask {
  std::uint32_t bits;
  std::uint32_t code;
};
/// One row of the list: its number of pairs, and the masks that it needed.
struct alignas(8) row_share {
  std::uint32_t count;
  std::uint32_t used;
};

/// Masks kept per row of the list, for this many points in a cube (square) with the cutoff as edge; rows that need more
/// are searched again.
template <int D>
[[nodiscard]] std::uint32_t masks_a_row(double points_a_cube) {
  const double rows = D == 3 ? 9 : 3;
  const double masks = std::floor(1.6 * points_a_cube / 32);  // in a row of cells, besides the first
  return static_cast<std::uint32_t>(rows * (1 + std::fmin(masks, 2.0)) + rows / 2);
}

/// Number of points up to which a warp per row is faster than a thread per row.
inline constexpr std::size_t warps_most_points = 28000;

/// Records that are read beyond the last one, but not used.
inline constexpr std::size_t masks_padding = 3;

/// Points per system up to which testing every pair, with the nearest image, is faster than cells.
inline constexpr std::size_t all_pairs_most_points = 400;

/// Whether one orthorhombic box with folded axes is searched by images; otherwise as several boxes are.
inline constexpr bool folded_by_images = true;

/// The arguments of a search.
template <typename T, int D>
struct masks_search {
  neighbor_search<T, D> search;
  search_system<T, D> system;  ///< if there is one
  bool by_images;              ///< whether the cells are those of grids, and not of systems
  cuboid_grid<T, D> grid;      ///< if there is one
  const cuboid_grid<T, D>* grids;
  image_codes<D> codes;
  bool periodic;     ///< any axis of any system
  bool folded;       ///< whether the cells along any axis are
  bool warp_a_row;   ///< whether the method is `warps`
  bool small_boxes;  ///< one cell per system; every pair is tested
  std::uint32_t rows;
  const particle_id* elements;  ///< by slot
  const T* xy;                  ///< by slot, two each
  const T* z;
  candidate_mask* words;  ///< mask k of a slot is words[slot * slot_stride + k * mask_stride]
  std::uint32_t words_a_row;
  std::size_t slot_stride;  ///< 1 for short rows, so that a warp's masks are adjacent; words_a_row otherwise
  std::size_t mask_stride;
  row_share* shares;         ///< by slot
  std::uint64_t* most_used;  ///< receives the largest number of masks of a row, if that is too many
};

/// Masks per row from which on the masks of one row are adjacent.
inline constexpr std::uint32_t masks_of_long_rows = 40;

/// Number of points, and of cells, up to which one block builds the cells: 6 us for 1,000 points; five kernels take 16.
inline constexpr std::size_t small_cells_most = 4096;

template <typename T, int D>
struct small_cells {
  std::uint32_t* offsets;  ///< cells + 1
  particle_id* elements;
  search_point<T, D>* records;
  split_positions<T, D> components;
};

#if QUADRAT_HAS_CUDA
/// Puts points of one system into cells, in any order within a cell. Asynchronous.
template <typename Key, typename T, int D>
void enqueue_small_cells(const cuda_context& context, const Key& key, std::size_t count, std::size_t cells,
                         const small_cells<T, D>& out);
/// Counts the pairs of each row. Asynchronous.
template <typename T, int D>
void enqueue_masks(const cuda_context& context, const masks_search<T, D>& what, std::uint32_t* counts);
/// Writes the entries. Asynchronous.
template <typename T, int D>
void enqueue_entries_of_masks(const cuda_context& context, const masks_search<T, D>& what,
                              const neighbor_sink<T, D>& sink);
#else
template <typename Key, typename T, int D>
void enqueue_small_cells(const cuda_context& context, const Key&, std::size_t, std::size_t, const small_cells<T, D>&) {
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
