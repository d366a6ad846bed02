// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/grid.hpp"

/// Folded grids: cells for the points instead of the box. A box much larger than its points would need many more cells
/// than there are points. A folded grid stores a few for each point; cells far apart share one, as in a hash table, but
/// rows of cells remain ranges. Pairs are decided by distance, so that sharing adds candidates and nothing else: about
/// as many as a stored cell holds points on average, for each cell that is walked, whatever shape the points fill.
namespace quadrat {

/// The most cells that a folded grid stores for each point, and in all for few points.
inline constexpr double stored_cells_a_point = 4;
inline constexpr double stored_cells_at_least = 4096;

/// What a grid is folded for.
template <typename T>
struct fold_request {
  std::size_t points;  ///< their number
  /// The largest distance of walks. A walk to a larger one may meet every point as a candidate.
  T reach;
  /// Whether stored cells should fill a cube, for numberings along curves. Sheets and lines of points are then crowded.
  bool cubic = false;
};

/// The grid, or the same one folded if it has more than 4 stored_cells_a_point cells for each point. Where a periodic
/// axis is folded, the number of its cells becomes a multiple of what is stored, so that cells may be longer by an
/// eighth. `space` is not folded; make it with `any_number_of_cells`. Throws argument_error unless the reach is
/// positive and finite.
template <typename T, int D>
[[nodiscard]] grid<T, D> folded(const grid<T, D>& space, const fold_request<T>& request);

}  // namespace quadrat
