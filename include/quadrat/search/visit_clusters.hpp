// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/search/cluster_pairs.hpp"
#include "quadrat/search/tile_selection.hpp"
#include "quadrat/search/visit_list.hpp"

#if defined(__CUDACC__)
#include "quadrat/search/tile_kernels.hpp"
#endif

/// Forces over cluster pairs: the functions of visit_list.hpp for a cluster_pair_list, with the same functors. In each
/// step call list.update(points), and then one of these. They visit the pairs that are currently nearer than the
/// cutoff, each twice: (i, j) and (j, i).
///
/// The functor is host-device and is called as f(i, j, separation, squared_distance): two indices of the caller's
/// points, the vector from i to the image of j, and its squared length. Different threads call it concurrently for
/// different i.
///
/// Work runs in the list's context; results are in the memory of that context, in the order of the caller's points. On
/// a GPU the source must be compiled by nvcc. All throw what cluster_pair_list::view throws.

namespace quadrat {

namespace detail {

/// Index: place.
template <typename T, int D, typename F>
struct visit_places_of {
  cluster_pair_view<T, D> view;
  F f;

  QUADRAT_HD void operator()(std::size_t place) const {
    const particle_id i = view.id(place);
    view.for_each_neighbor(place, [&](particle_id j, const vec<T, D>& r, T squared) { f(i, j, r, squared); });
  }
};

template <typename T, int D, typename Sum, typename F>
void accumulate_clusters(const cluster_pair_list<cpu_context, T, D>& list, const cluster_pair_view<T, D>& view,
                         Sum* result, const F& f) {
  for_each(
      list.context(), "search.accumulate_tiles", view.points,
      accumulate_rows_of_tiles<T, D, Sum, F>{view, tile_access::places(list), tile_access::selection(list), result, f});
}

template <typename T, int D, typename Sum, typename F>
void accumulate_clusters(const cluster_pair_list<cuda_context, T, D>& list, const cluster_pair_view<T, D>& view,
                         Sum* result, const F& f) {
  const cuda_context& context = list.context();
#if defined(__CUDACC__)
  if (view.rows == 0) return;
  const cuda_launch launch(context, "search.accumulate_tiles");
  const auto start = [&]<unsigned Warps>() {
    constexpr unsigned threads = 32 * warps_of_tile_block<Warps>;
    accumulate_by_turns<Warps><<<cuda_launch::blocks(32 * Warps * view.rows, threads), threads, 0, context.stream()>>>(
        view, tile_access::turns(list), result, f);
  };
  are_few_rows(context, view.rows) ? start.template operator()<warps_of_few_rows>() : start.template operator()<1>();
  launch.check();
#else
  for_each(context, "search.accumulate_tiles", view.rows, f);  // throws, because it needs nvcc
  static_cast<void>(result);
#endif
}

}  // namespace detail

/// Calls f for every pair (i, j), in any order. Does not wait. Allocates nothing. Can be captured.
template <typename Context, typename T, int D, typename F>
void for_each_pair_async(const cluster_pair_list<Context, T, D>& list, const F& f) {
  const cluster_pair_view<T, D> view = list.view();
  for_each(list.context(), "search.visit_clusters", view.points, detail::visit_places_of<T, D, F>{view, f});
}
/// The same. Waits. Allocates nothing.
template <typename Context, typename T, int D, typename F>
void for_each_pair(const cluster_pair_list<Context, T, D>& list, const F& f) {
  for_each_pair_async(list, f);
  list.context().synchronize();
}

/// result[i] = the sum of f over the neighbors j of i, for every point; Sum{} without neighbors. `Sum` is a trivially
/// copyable type with +=, and zero as Sum{}: numbers, vec, interaction; on a GPU of a multiple of 4 bytes. On a CPU f
/// runs in vector units if Sum is a floating-point number, a vec or an interaction, and f is inlined and without
/// branches. Does not wait. Allocates nothing. Can be captured.
///
/// Determinism: each point is summed in a fixed order, without atomics: run_to_run, for any number of threads.
template <typename Context, typename T, int D, typename Sum, typename F>
void accumulate_neighbors_async(const cluster_pair_list<Context, T, D>& list, Sum* result, const F& f) {
  const cluster_pair_view<T, D> view = list.view();
  require_pointer(result, view.points, "sums");
  detail::accumulate_clusters(list, view, result, f);
}

/// The same, and *total = the sum of result[i] over all points, always added in the same order. `total` is memory of
/// the list's context. For instance the energy and the virial of the system, with `interaction` as Sum. Sum needs +.
/// Does not wait. Allocates nothing, but the first time for a list. Can be captured after that.
template <typename Context, typename T, int D, typename Sum, typename F>
void accumulate_neighbors_async(cluster_pair_list<Context, T, D>& list, Sum* result, Sum* total, const F& f) {
  require_pointer(total, 1, "totals");
  accumulate_neighbors_async(list, result, f);
  reduce_into(list.context(), "search.total", list.view().points, detail::read_sum<Sum>{result}, plus_operation{},
              Sum{}, total, detail::tile_access::scratch(list));
}

/// The same for a container or span, whose length is checked: one result for each point.
template <typename Context, typename T, int D, results_of_points Results, typename F>
void accumulate_neighbors_async(const cluster_pair_list<Context, T, D>& list, Results&& results, const F& f) {
  accumulate_neighbors_async(list, detail::checked_results(results, list.view().points), f);
}
template <typename Context, typename T, int D, results_of_points Results, typename Sum, typename F>
void accumulate_neighbors_async(cluster_pair_list<Context, T, D>& list, Results&& results, Sum* total, const F& f) {
  accumulate_neighbors_async(list, detail::checked_results(results, list.view().points), total, f);
}

/// The same functions, to a pointer, container or span. Wait. Allocate nothing, but the first time for a list.
template <typename Context, typename T, int D, typename Results, typename F>
void accumulate_neighbors(const cluster_pair_list<Context, T, D>& list, Results&& results, const F& f) {
  accumulate_neighbors_async(list, results, f);
  list.context().synchronize();
}
template <typename Context, typename T, int D, typename Results, typename Sum, typename F>
void accumulate_neighbors(cluster_pair_list<Context, T, D>& list, Results&& results, Sum* total, const F& f) {
  accumulate_neighbors_async(list, results, total, f);
  list.context().synchronize();
}

}  // namespace quadrat
