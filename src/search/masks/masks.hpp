// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/shared_memory.hpp"
#include "parallel/look_back.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/search/lattice/image_rows.hpp"
#include "search/cells.hpp"
#include "search/grid_keys.hpp"
#include "search/kernels.hpp"
#include "search/request.hpp"

/// The methods `masks` and `warps`, for CUDA. Cells are finer along the first axis, and each row of cells is trimmed to
/// the sphere around the point. In orthorhombic boxes in which no neighbor has two images within reach, rows of cells
/// continue on the opposite side of the box (trimmed_rows.cuh). In all others, cells ignore periodicity, and the few
/// points near a face are searched again from each image of the box within reach (image_rows.hpp).
///
/// masks, for large sets: a thread per row sets a bit for each candidate that is a pair; the entries are then written
/// from the bits, through shared memory, so that a warp writes whole rows. warps, for small sets, and for rows too long
/// for that: a warp per row, a thread per candidate; pairs are written as they are found.
namespace quadrat::detail {

/// The candidates of a row of cells that are pairs. Bit k is the candidate in slot code + 1 + k; the lower bits of
/// `code` hold the slot, the upper ones the image. One 8-byte word.
struct alignas(8) candidate_mask {
  std::uint32_t bits;
  std::uint32_t code;
};
/// One row of the list: its number of pairs, and the masks that it needed.
struct alignas(8) row_share {
  std::uint32_t count;
  std::uint32_t used;
};

/// Into how many cells the cutoff is cut along the axes.
struct cells_across {
  int first_axis = trimmed_cells_along_first_axis;
  int second_axis = 1;
  int third_axis = 1;

  [[nodiscard]] bool operator==(const cells_across&) const = default;
  /// Cells of a cube with the cutoff as edge.
  [[nodiscard]] int count() const { return first_axis * second_axis * third_axis; }
};

/// Smaller cells have fewer candidates but more rows. They pay if points have many neighbors.
template <int D>
[[nodiscard]] cells_across cells_across_cutoff(double neighbors) {
  constexpr double many = 70, very_many = 200;
  if (D == 2 || neighbors < many) return {};
  return {2 * trimmed_cells_along_first_axis, 2, neighbors < very_many ? 1 : 2};
}

/// The most cells of such a cut. An empty cell costs a few bytes to build. In folded boxes, points meet candidates of
/// other parts: several times as many for a fluid on the floor of a large box. So four times as many cells are allowed
/// where they take little memory.
[[nodiscard]] inline std::size_t most_cells(std::size_t points, const cells_across& across) {
  constexpr std::size_t many_neighbors = 20, mostly_empty = 4, little = std::size_t{1} << 28;
  const std::size_t most = most_cells(points);
  if (across == cells_across{}) return std::max(most, std::min(mostly_empty * most, little));
  return std::min(many_neighbors * most, std::size_t{1} << 31);
}

/// Masks kept per row of the list, for this many points in a cube (square) with the cutoff as edge; rows that need more
/// are searched again.
template <int D>
[[nodiscard]] std::uint32_t masks_a_row(double points_a_cube, const cells_across& across) {
  const double rows = (2 * across.second_axis + 1) * (D == 3 ? 2 * across.third_axis + 1 : 1);
  const double points_a_row = 1.6 * points_a_cube / (across.second_axis * across.third_axis);
  const double masks = std::floor(points_a_row / 32);  // in a row of cells, besides the first
  return static_cast<std::uint32_t>(rows * (1 + std::fmin(masks, 2.0)) + rows / 2);
}

/// Points per system up to which testing every pair, with the nearest image, is faster than cells.
inline constexpr std::size_t all_pairs_most_points = 400;

/// Points per system on average from which on a block per system is faster than a thread per row.
inline constexpr std::size_t tiles_least_points = 64;

/// Shared memory of such a block: points, and a bit for each pair.
[[nodiscard]] inline std::size_t tile_bytes(std::size_t points, std::size_t point_bytes) {
  return points * point_bytes + points * points / 8;
}
/// The shared memory that a kernel has without opting in to more.
inline constexpr std::size_t most_tile_bytes = std::size_t{48} * 1024;
/// Shared memory of a block that builds the list of a system at once: an offset for each point, too.
[[nodiscard]] inline std::size_t system_bytes(std::size_t points, std::size_t point_bytes) {
  return tile_bytes(points, point_bytes) + points * sizeof(std::uint32_t);
}
/// The most of that on this device, where the kernel has other variables, too.
[[nodiscard]] inline std::size_t system_room(const cuda_context& context) {
  constexpr std::size_t others = std::size_t{24} << 10;
  return std::min(most_tile_bytes + most_tile_bytes / 8, shared_memory_of_block(context) - others);
}
/// The most points of a system that a block searches: somewhat more than the average.
[[nodiscard]] inline std::uint32_t tile_points(double average, std::size_t point_bytes) {
  if (average < tiles_least_points) return 0;
  auto points = static_cast<std::uint32_t>(std::min(average, 1024.0) * 1.25 / 32 + 1) * 32;
  while (tile_bytes(points, point_bytes) > most_tile_bytes) points -= 32;
  return points;
}

/// Whether one orthorhombic box with folded axes is searched by images, or else like several boxes.
inline constexpr bool folded_by_images = true;

/// The arguments of a search.
template <typename T, int D>
struct masks_search {
  neighbor_search<T, D> search;
  search_system<T, D> system;  ///< if there is one
  bool by_images;              ///< whether the cells belong to grids instead of systems
  cuboid_grid<T, D> grid;      ///< if there is one
  const cuboid_grid<T, D>* grids;
  image_codes<D> codes;
  bool periodic;              ///< any axis of any system
  bool folded;                ///< whether cells are folded along any axis
  bool warp_a_row;            ///< whether the method is `warps`
  bool small_boxes;           ///< one cell per system; every pair is tested
  std::uint32_t tile_points;  ///< most points of a system for a block, a multiple of 32; 0: a thread per row
  std::uint32_t rows;
  const particle_id* elements;      ///< by slot
  const point_block<T, D>* blocks;  ///< of slots 4 k to 4 k + 3
  candidate_mask* words;            ///< mask k of a slot is words[slot * slot_stride + k * mask_stride]
  std::uint32_t words_a_row;
  std::size_t slot_stride;  ///< 1 for short rows, so that a warp's masks are adjacent; words_a_row otherwise
  std::size_t mask_stride;
  row_share* shares;         ///< by slot
  std::uint64_t* most_used;  ///< receives the largest number of masks of a row, if that is too many
  const vec<int, D>* turns;  ///< boxes from the wrapped to the caller's position, by slot; nullptr: not kept
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
  point_blocks<T, D> blocks;
};

/// A whole list of one system in one launch.
template <typename T, int D>
struct list_at_once {
  search_key_of_one<T, D> key;
  neighbor_sink<T, D> sink;  ///< not of a matrix
  std::uint64_t* offsets;    ///< rows + 1: those of the sink
  bool plain;                ///< whether only neighbors are written
  bool periodic;             ///< along any axis
  std::uint32_t cells;
  std::uint32_t rows;
  std::uint32_t rows_a_block;
  look_back_state sums;  ///< over blocks
};

/// A whole list of many systems in one launch, after one that finds where they begin.
template <typename T, int D>
struct systems_at_once {
  masks_search<T, D> masks;  ///< most_used receives gave_up_note if the list is not written: systems unordered, too
                             ///< large or with impossible points
  search_key<T, D> key;
  neighbor_sink<T, D> sink;  ///< of neighbors alone
  std::uint64_t* offsets;    ///< rows + 1: those of the sink
  std::uint32_t* first;      ///< system_count + 1: points
  std::uint32_t* disorder;   ///< 0 at first
  look_back_state sums;      ///< over systems
};

/// Rows of the list up to this length are kept in shared memory between counting and writing. Longer ones are searched
/// again.
inline constexpr std::uint32_t at_once_row_most = 96;
inline constexpr unsigned at_once_threads = 1024;

/// Shared memory of a block, at most.
inline constexpr std::size_t at_once_most_bytes = std::size_t{222} << 10;
/// The same on this device: the kernel has other variables there, too.
[[nodiscard]] inline std::size_t at_once_room(const cuda_context& context) {
  constexpr std::size_t others = std::size_t{5} << 10;
  return std::min(at_once_most_bytes, shared_memory_of_block(context) - others);
}
/// Bytes for the ranks of points, and later for the ranges of slots of warps.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD constexpr std::size_t at_once_scratch(std::size_t points) {
  const std::size_t ranks = (points * sizeof(std::uint16_t) + 15) / 16 * 16;
  const std::size_t ranges = at_once_threads * (D * sizeof(T) + 2 * sizeof(std::uint32_t));
  return ranks < ranges ? ranges : ranks;
}
/// The most points that fit.
template <typename T, int D>
inline constexpr std::size_t at_once_most_points = at_once_most_bytes / (D * sizeof(T) + 2 * sizeof(std::uint16_t));

/// The launch parameters of a list built in one launch.
struct at_once_plan {
  unsigned blocks = 0;  ///< 0: it is not
  std::uint32_t rows_a_block = 0;
  std::size_t shared_bytes = 0;
};

/// Each block has all points in shared memory, in `room` bytes: up to about 11,000 in float on an H200. Launches one by
/// one take as long then.
template <typename T, int D>
[[nodiscard]] at_once_plan plan_at_once(std::size_t points, std::size_t cells, int multiprocessors, std::size_t room) {
  constexpr std::size_t least_rows = 8;
  const std::size_t blocks =
      std::min((points + least_rows - 1) / least_rows, static_cast<std::size_t>(multiprocessors));
  if (blocks == 0 || cells > 0xffff) return {};
  const std::size_t rows = (points + blocks - 1) / blocks;
  const std::size_t bytes = (points + points % 2) * D * sizeof(T) + at_once_scratch<T, D>(points) +
                            (cells + 2 + rows) * sizeof(std::uint32_t) +
                            (points + rows * at_once_row_most) * sizeof(std::uint16_t);
  if (bytes > room) return {};
  return {static_cast<unsigned>((points + rows - 1) / rows), static_cast<std::uint32_t>(rows), bytes};
}

#if QUADRAT_HAS_CUDA
/// Puts points of one system into cells, in any order within a cell. Asynchronous.
template <typename Key, typename T, int D>
void enqueue_small_cells(const cuda_context& context, const Key& key, std::size_t count, std::size_t cells,
                         const small_cells<T, D>& out);
/// Builds the list. Asynchronous.
template <typename T, int D>
void enqueue_at_once(const cuda_context& context, const list_at_once<T, D>& what, const at_once_plan& plan);
/// Builds the list. Asynchronous.
template <typename T, int D>
void enqueue_systems_at_once(const cuda_context& context, const systems_at_once<T, D>& what);
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
void enqueue_at_once(const cuda_context& context, const list_at_once<T, D>&, const at_once_plan&) {
  context.activate();
}
template <typename T, int D>
void enqueue_systems_at_once(const cuda_context& context, const systems_at_once<T, D>&) {
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
