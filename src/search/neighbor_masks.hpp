// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/array.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "search/neighbor_kernels.hpp"

/// The method `masks`, for CUDA and one orthorhombic box in which no neighbor has two images within reach. The search
/// is made once: it leaves a bit for each candidate, and the entries are written from the bits, through shared memory,
/// a row at a time. Cells are finer along the first axis, and each row of cells is trimmed to what the sphere around
/// the point can reach of it. Small sets are searched by several threads a row.
namespace quadrat::detail {

/// Cells along a cutoff, per axis.
inline constexpr int masks_cells_along_first_axis = 4;

/// Words of 32 candidates that are kept for a row; the rows that need more are searched again.
inline constexpr int masks_words = 24;

/// Threads that share a row.
[[nodiscard]] constexpr int masks_lanes(std::size_t rows) { return rows <= 60000 ? 8 : (rows <= 300000 ? 2 : 1); }

/// Whether the method can do what is asked.
template <typename T, int D>
[[nodiscard]] bool masks_serve(const neighbor_options<T>& options, const neighbor_input<T, D>& input) {
  if (input.boxes.size() != 1 || !input.boxes[0].orthorhombic || input.system_of_point != nullptr) return false;
  if (input.queries.has_value() || input.excluded_offsets != nullptr) return false;
  if (options.rule != cutoff_rule::uniform || options.accept_outside) return false;
  const lattice<T, D>& shape = input.boxes[0];
  for (int axis = 0; axis < D; ++axis) {
    if (shape.periodic[axis] && T(1.1) * (options.cutoff + options.skin) > shape.height(axis)) return false;
  }
  return true;
}

struct masks_memory {
  std::uint32_t* words;   ///< masks_words x rows
  std::uint32_t* shares;  ///< by thread: its pairs
};

#if QUADRAT_HAS_CUDA
/// Counts the pairs of each row, and keeps the bits. Asynchronous.
template <typename T, int D>
void enqueue_masks(const cuda_context& context, const neighbor_search<T, D>& search, const search_system<T, D>& system,
                   const masks_memory& memory, std::uint32_t* counts);
/// Writes the entries. Asynchronous.
template <typename T, int D>
void enqueue_entries_of_masks(const cuda_context& context, const neighbor_search<T, D>& search,
                              const search_system<T, D>& system, const masks_memory& memory,
                              const particle_id* elements, const neighbor_sink<T, D>& sink);
#else
template <typename T, int D>
void enqueue_masks(const cuda_context& context, const neighbor_search<T, D>&, const search_system<T, D>&,
                   const masks_memory&, std::uint32_t*) {
  context.activate();
}
template <typename T, int D>
void enqueue_entries_of_masks(const cuda_context& context, const neighbor_search<T, D>&, const search_system<T, D>&,
                              const masks_memory&, const particle_id*, const neighbor_sink<T, D>&) {
  context.activate();
}
#endif

}  // namespace quadrat::detail
