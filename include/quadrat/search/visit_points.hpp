// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "quadrat/core/box.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/search/lattice_cells.hpp"
#include "quadrat/search/visit.hpp"

/// Sums over the neighbors of points in one call, without a separate cell list.
namespace quadrat {

/// results[i] = the sum of f(i, j, separation, squared distance) over all j nearer to i than the cutoff; Sum{} without
/// neighbors. Functor, Sum and pairs are those of visit.hpp; `results` has one for each point, in the memory of the
/// context. The cells are lattice_cells, which keep positions in the order of cells, in boxes of every shape. They live
/// for this call. To visit one set of points several times, make them once; if points move little, use a neighbor_list
/// (docs/guides/cells.md).
///
/// Waits. Allocates. On a GPU the source must be compiled by nvcc. Throws argument_error for another number of results,
/// and for a cutoff that is not positive and finite or exceeds half the height of the box along a periodic axis;
/// data_error naming a point that is not finite, or outside the box along an open axis. Determinism: each sum is taken
/// by one thread in walking order: run_to_run where the context asks for it.
template <typename Context, typename T, int D, results_of_points Results, typename F>
void accumulate_neighbors(const Context& context, const lattice<T, D>& shape, const points_view<T, D>& points,
                          std::type_identity_t<T> cutoff, Results&& results, const F& f) {
  auto* const sums = detail::checked_results(results, points.count);
  lattice_cells<Context, T, D> cells(context, shape, {.cutoff = cutoff});
  cells.build(points);
  accumulate_neighbors(context, cells.view(), points, cutoff, sums, f);
}

/// The same in an orthorhombic box.
template <typename Context, typename T, int D, results_of_points Results, typename F>
void accumulate_neighbors(const Context& context, const box<T, D>& domain, const points_view<T, D>& points,
                          std::type_identity_t<T> cutoff, Results&& results, const F& f) {
  accumulate_neighbors(context, make_lattice(domain), points, cutoff, results, f);
}

}  // namespace quadrat
