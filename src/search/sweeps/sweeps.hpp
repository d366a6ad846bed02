// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/context.hpp"
#include "search/kernels.hpp"

/// The method `sweeps`, for CPUs: a block of adjacent points along the first axis is compared with one copy of all
/// points within reach of the block, in separate arrays of components for the vector units. Serves the same searches as
/// masks and warps, the other methods with trimmed rows, with cells of the same edges.
namespace quadrat::detail {

template <typename T, int D>
struct sweeps_search {
  neighbor_search<T, D> search;  ///< without records
  std::size_t cells;
  const particle_id* elements;  ///< by slot
  T* coordinates;               ///< D x stride: wrapped points by slot
  particle_id* ids;             ///< stride: elements, with room at the end
  std::size_t stride;
};

/// Slots that are read beyond the last one, but not used.
inline constexpr std::size_t sweeps_padding = 8;

/// Fills coordinates and ids.
template <typename T, int D>
void gather_for_sweeps(const cpu_context& context, const sweeps_search<T, D>& what);
/// Counts the pairs of each row.
template <typename T, int D>
void count_by_sweeps(const cpu_context& context, const sweeps_search<T, D>& what, std::uint32_t* counts);
/// Writes the entries, or their keys. A matrix is counted at the same time.
template <typename T, int D>
void fill_by_sweeps(const cpu_context& context, const sweeps_search<T, D>& what, const neighbor_sink<T, D>& sink);

}  // namespace quadrat::detail
