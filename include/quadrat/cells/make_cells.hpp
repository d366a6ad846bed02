// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>

#include "quadrat/cells/counting.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/grid.hpp"

namespace quadrat {

/// An empty cell list over a grid. Context, precision and dimension are deduced from the arguments; `Method` is one of
/// cell_methods, as in `make_cells<cell_methods::sorted_hilbert>(context, grid)`. Allocates with the first build.
/// Throws what the method's constructor throws: argument_error for impossible options.
template <typename Method = cell_methods::counting, typename Context, typename T, int D>
[[nodiscard]] auto make_cells(const Context& context, const grid<T, D>& space,
                              const cell_list_options<std::type_identity_t<T>>& options = {}) {
  return typename Method::template type<Context, T, D>(context, space, options);
}

/// An empty cell list for walks to neighbors nearer than the cutoff: over the finest grid of the box whose cells are
/// not smaller than the cutoff (make_grid_for_cutoff). If a build has more than 16 cells per point, the grid is folded,
/// so that time and memory follow the points however large the box is. See options.fold_reach, which becomes the cutoff
/// if it is 0. An options.radius of 0 becomes half of the cutoff, so that every method finds all neighbors. Throws
/// argument_error if the cutoff is not positive and finite or exceeds half the box along a periodic axis, and what the
/// method's constructor throws.
template <typename Method = cell_methods::counting, typename Context, typename T, int D>
[[nodiscard]] auto make_cells(const Context& context, const box<T, D>& domain, std::type_identity_t<T> cutoff,
                              cell_list_options<std::type_identity_t<T>> options = {}) {
  require_cutoff_fits(domain, cutoff);
  if (options.radius == T(0)) options.radius = cutoff / 2;
  if (options.fold_reach == T(0)) options.fold_reach = cutoff;
  return make_cells<Method>(context, make_grid_for_cutoff(domain, cutoff, Method::most_cells), options);
}

}  // namespace quadrat
