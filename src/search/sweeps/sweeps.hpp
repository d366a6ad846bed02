// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "parallel/count_limit.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/search/lattice/cuboid_grid.hpp"
#include "search/kernels.hpp"
#include "search/levels/layers.hpp"

/// The method `sweeps`, for CPUs: a block of adjacent points along a row of rectangular cells is compared with one copy
/// of all points within its reach, stored by component for vector instructions.
namespace quadrat::detail {

/// Neighbors recorded while counting, each row contiguous, for lists that hold only neighbors.
struct recorded_rows {
  particle_id* entries;  ///< nullptr: not recorded
  std::uint64_t capacity;
  std::uint64_t* used;           ///< counts entries, whether they fit or not; above the capacity the record is unusable
  std::uint64_t* left_out;       ///< a counter: rows that were too long
  std::uint64_t* first_of_slot;  ///< where rows begin, or row_left_out
};
inline constexpr std::uint64_t row_left_out = ~std::uint64_t{0};

template <typename T, int D>
struct sweeps_search {
  neighbor_search<T, D> search;  ///< without records
  search_layers<T, cuboid_grid<T, D>> layers;
  layer_slots<T, D> slots;  ///< with sweeps_padding at the end
  std::size_t rows;         ///< the points: the first slots
  std::size_t cells;        ///< number of cells that hold them, over all systems and levels
  recorded_rows recorded;
};

/// Slots that are read beyond the last one, but not used.
inline constexpr std::size_t sweeps_padding = 8;

/// Counts the pairs of each row, up to the limit.
template <typename T, int D>
void count_by_sweeps(const cpu_context& context, const sweeps_search<T, D>& what, std::uint32_t* counts,
                     const fault_flag& faults, count_limit& limit);
/// Copies the neighbors recorded by count_by_sweeps.
template <typename T, int D>
void copy_recorded(const cpu_context& context, const sweeps_search<T, D>& what, const neighbor_sink<T, D>& sink);
/// Writes the entries, or their keys: of all rows, or of those that have not been recorded. A matrix is counted at the
/// same time.
template <typename T, int D>
void fill_by_sweeps(const cpu_context& context, const sweeps_search<T, D>& what, const neighbor_sink<T, D>& sink,
                    bool only_left_out);

}  // namespace quadrat::detail
