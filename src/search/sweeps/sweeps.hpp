// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/context.hpp"
#include "search/kernels.hpp"
#include "search/sweeps/grid.hpp"

/// The method `sweeps`, for CPUs: a block of adjacent points along a row of rectangular cells is compared with one copy
/// of all points within reach of the block, in separate arrays of components for the vector units.
namespace quadrat::detail {

/// Neighbors as they were found while counting, each row in one piece, for lists that hold nothing else.
struct recorded_rows {
  particle_id* entries;  ///< nullptr: not recorded
  std::uint64_t capacity;
  std::uint64_t* used;           ///< a counter: entries, whether they fit or not; more than the capacity: not usable
  std::uint64_t* first_of_slot;  ///< where rows begin
};

template <typename T, int D>
struct sweeps_search {
  neighbor_search<T, D> search;    ///< without records
  const sweeps_grid<T, D>* grids;  ///< by system
  std::size_t cells;               ///< of all grids
  const particle_id* elements;     ///< by slot
  T* coordinates;                  ///< D x stride: wrapped points by slot
  vec<int, D>* boxes;              ///< by slot: how many boxes away points were before wrapping; nullptr: not needed
  particle_id* ids;                ///< stride: elements, with room at the end
  std::size_t stride;
  recorded_rows recorded;
};

/// Slots that are read beyond the last one, but not used.
inline constexpr std::size_t sweeps_padding = 8;

/// The cell of a wrapped point in the grid of its system.
template <typename T, int D>
struct sweeps_key {
  search_key<T, D> key;
  const sweeps_grid<T, D>* grids;

  cell_id operator()(std::size_t i) const {
    const vec<T, D> point = key.search.points[i];
    if (!key.check(i, point, key.search.system_of_point, i)) return 0;
    const std::uint32_t system = key.search.system_at(key.search.system_of_point, i);
    vec<int, D> boxes{};
    const vec<T, D> wrapped = key.search.systems[system].shape.wrap(point, boxes);
    return grids[system].cells.cell_of(grids[system].place(wrapped));
  }
};

/// Fills coordinates and ids.
template <typename T, int D>
void gather_for_sweeps(const cpu_context& context, const sweeps_search<T, D>& what);
/// Counts the pairs of each row.
template <typename T, int D>
void count_by_sweeps(const cpu_context& context, const sweeps_search<T, D>& what, std::uint32_t* counts,
                     const fault_flag& faults);
/// Copies what count_by_sweeps has recorded.
template <typename T, int D>
void copy_recorded(const cpu_context& context, const sweeps_search<T, D>& what, const neighbor_sink<T, D>& sink);
/// Writes the entries, or their keys. A matrix is counted at the same time.
template <typename T, int D>
void fill_by_sweeps(const cpu_context& context, const sweeps_search<T, D>& what, const neighbor_sink<T, D>& sink);

}  // namespace quadrat::detail
