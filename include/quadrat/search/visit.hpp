// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "quadrat/cells/concepts.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/interaction.hpp"
#include "quadrat/search/neighbor_pairs.hpp"
#include "quadrat/search/neighborhood.hpp"

/// All pairs of neighbors in one call: for_each_neighbor around every point. `view` is the view of a cell list and
/// `points` the points of its build; both, and whatever the functor points at, must live until the work is done.
/// `Order` is one of search_orders that the cell list allows. On a GPU the source must be compiled by nvcc.
///
/// The functor is host-device and is called as f(i, j, separation, squared_distance): ids of two particles, the
/// shortest vector from i to j over the periodic images, and its squared length. It is called for all pairs nearer than
/// the cutoff, the same pairs with the same bits for every cell list and order. Different threads call it concurrently
/// for different i.
///
/// Sums go to a pointer, or to a container or span, whose length is then checked: one for each point.
///
/// All throw argument_error if the cutoff is not positive and finite, or exceeds half the box along a periodic axis or,
/// for linked_tight, 2 radius; for lattice_cells, the cutoff that they were made for.

namespace quadrat {

/// Room for results: what has data() and size(), such as std::vector, std::span, and quadrat::array.
template <typename Results>
concept results_of_points = requires(Results& results) {
  { results.size() } -> std::convertible_to<std::size_t>;
  requires std::is_pointer_v<decltype(results.data())> &&
               !std::is_const_v<std::remove_pointer_t<decltype(results.data())>>;
};

namespace detail {

template <typename View>
void require_cutoff_reached(const View& view, typename View::value_type cutoff) {
  if constexpr (lattice_cell_list<View>) {
    view.require_cutoff(cutoff);
  } else {
    require_cutoff_fits(view.space.domain, cutoff);
  }
  if constexpr (tight_cell_list<View>) {
    require(cutoff <= 2 * view.touch.radius, "the cutoff ", cutoff,
            " is more than the diameter that the tight cell list was made for, ", 2 * view.touch.radius);
  }
}

/// The destination of one result per point. Throws argument_error unless there are `count` results.
template <typename Results>
[[nodiscard]] auto* checked_results(Results& results, std::size_t count) {
  require(results.size() == count, "there are ", count, " points, but room for ", results.size(),
          " results; there must be one for each point");
  return results.data();
}

/// The particle of thread `index`, in the order of cells if the list stores that order. The threads of a warp then
/// visit the same cells, whatever the order of points in memory.
template <typename View>
[[nodiscard]] QUADRAT_HD particle_id particle_of_thread(const View& view, std::size_t index) {
  if constexpr (contiguous_cells<View> || lattice_cell_list<View>) {
    return view.particle(static_cast<std::uint32_t>(index));
  } else {
    return static_cast<particle_id>(index);
  }
}

/// In the functors, Cutoff is a number or pair_cutoffs (visit_radii.hpp).
template <typename Order, typename View, typename Cutoff, typename F>
struct visit_pairs_of {
  using T = typename View::value_type;
  View view;
  points_view<T, View::dimension> points;
  Cutoff cutoff;
  bool half;
  F f;

  QUADRAT_HD void operator()(std::size_t index) const {
    const particle_id i = particle_of_thread(view, index);
    for_each_neighbor<Order>(view, points, i, cutoff,
                             [&](particle_id j, const vec<T, View::dimension>& separation, T squared_distance) {
                               if (!half || i < j) f(i, j, separation, squared_distance);
                             });
  }
};

template <typename Order, typename View, typename Cutoff, typename Sum, typename F>
struct accumulate_neighbors_of {
  using T = typename View::value_type;
  View view;
  points_view<T, View::dimension> points;
  Cutoff cutoff;
  Sum* result;
  F f;

  QUADRAT_HD void operator()(std::size_t index) const {
    const particle_id i = particle_of_thread(view, index);
    Sum sum{};
    for_each_neighbor<Order>(view, points, i, cutoff,
                             [&](particle_id j, const vec<T, View::dimension>& separation, T squared_distance) {
                               sum += f(i, j, separation, squared_distance);
                             });
    result[i] = sum;
  }
};

template <typename T>
QUADRAT_HD void atomic_accumulate(T* target, const T& value) {
  atomic_add(target, value);
}
template <typename T, int N>
QUADRAT_HD void atomic_accumulate(vec<T, N>* target, const vec<T, N>& value) {
  for (int k = 0; k < N; ++k) atomic_add(target->component + k, value[k]);
}

template <typename Sum>
struct clear_sum {
  Sum* result;
  QUADRAT_HD void operator()(std::size_t i) const { result[i] = Sum{}; }
};

/// The sum of i stays in registers until its walk is over; additions to j go to memory one by one.
template <typename Order, typename View, typename Cutoff, typename Sum, typename F>
struct accumulate_pairs_of {
  using T = typename View::value_type;
  View view;
  points_view<T, View::dimension> points;
  Cutoff cutoff;
  Sum* result;
  F f;

  QUADRAT_HD void operator()(std::size_t index) const {
    const particle_id i = particle_of_thread(view, index);
    Sum sum{};
    for_each_neighbor<Order>(view, points, i, cutoff,
                             [&](particle_id j, const vec<T, View::dimension>& separation, T squared_distance) {
                               if (j < i) return;
                               const Sum term = f(i, j, separation, squared_distance);
                               sum += term;
                               atomic_accumulate(result + j, reaction(term));
                             });
    atomic_accumulate(result + i, sum);
  }
};

}  // namespace detail

/// Calls f for every pair of neighbors: twice, as (i, j) and (j, i), for `full`; once, with i < j, for `half`. Both
/// walk the whole neighborhood of every particle: `half` only saves calls. Does not wait. Allocates nothing. Can be
/// captured.
template <typename Order = search_orders::natural, typename Context, typename View, typename F>
void for_each_pair_async(const Context& context, const View& view,
                         const points_view<typename View::value_type, View::dimension>& points,
                         typename View::value_type cutoff, neighbor_pairs pairs, const F& f) {
  detail::require_cutoff_reached(view, cutoff);
  for_each(context, "for each pair", points.count,
           detail::visit_pairs_of<Order, View, typename View::value_type, F>{view, points, cutoff,
                                                                             pairs == neighbor_pairs::half, f});
}
/// The same. Waits. Allocates nothing.
template <typename Order = search_orders::natural, typename Context, typename View, typename F>
void for_each_pair(const Context& context, const View& view,
                   const points_view<typename View::value_type, View::dimension>& points,
                   typename View::value_type cutoff, neighbor_pairs pairs, const F& f) {
  for_each_pair_async<Order>(context, view, points, cutoff, pairs, f);
  context.synchronize();
}

/// result[i] = the sum of f over the neighbors j of i, for every particle; Sum{} without neighbors. `Sum` is any type
/// with += and zero as Sum{}: numbers, vec. Does not wait. Allocates nothing. Can be captured.
///
/// Determinism: each sum is taken by one thread in walking order, without atomics: run_to_run if the cell list was
/// built with it (sorted lists always are). Another cell list or order may change the last bits.
template <typename Order = search_orders::natural, typename Context, typename View, typename Sum, typename F>
void accumulate_neighbors_async(const Context& context, const View& view,
                                const points_view<typename View::value_type, View::dimension>& points,
                                typename View::value_type cutoff, Sum* result, const F& f) {
  detail::require_cutoff_reached(view, cutoff);
  for_each(
      context, "accumulate neighbors", points.count,
      detail::accumulate_neighbors_of<Order, View, typename View::value_type, Sum, F>{view, points, cutoff, result, f});
}
template <typename Order = search_orders::natural, typename Context, typename View, results_of_points Results,
          typename F>
void accumulate_neighbors_async(const Context& context, const View& view,
                                const points_view<typename View::value_type, View::dimension>& points,
                                typename View::value_type cutoff, Results&& results, const F& f) {
  accumulate_neighbors_async<Order>(context, view, points, cutoff, detail::checked_results(results, points.count), f);
}
/// The same, to a pointer, container or span. Waits. Allocates nothing.
template <typename Order = search_orders::natural, typename Context, typename View, typename Results, typename F>
void accumulate_neighbors(const Context& context, const View& view,
                          const points_view<typename View::value_type, View::dimension>& points,
                          typename View::value_type cutoff, Results&& results, const F& f) {
  accumulate_neighbors_async<Order>(context, view, points, cutoff, results, f);
  context.synchronize();
}

/// The same for f(j, i) = reaction(f(i, j)) (Newton's third law): f is called once per pair, with i < j, added to
/// result[i], and its reaction to result[j], which is -f(i, j) for numbers and vectors. `Sum` is float, double, int,
/// unsigned, std::uint64_t, a vec of them, or an interaction; types of your own need functions `reaction(value)` and
/// `atomic_accumulate(Sum* target, const Sum& value)`, found by their namespace. Worthwhile if f costs more than an
/// atomic addition; otherwise accumulate_neighbors is faster. Does not wait. Allocates nothing. Can be captured.
///
/// Determinism: none for floating-point sums, whatever the context requires, because the order of additions varies and
/// may change the last bits. Sums of integers are always the same.
template <typename Order = search_orders::natural, typename Context, typename View, typename Sum, typename F>
void accumulate_pairs_async(const Context& context, const View& view,
                            const points_view<typename View::value_type, View::dimension>& points,
                            typename View::value_type cutoff, Sum* result, const F& f) {
  detail::require_cutoff_reached(view, cutoff);
  for_each(context, "clear sums", points.count, detail::clear_sum<Sum>{result});
  for_each(
      context, "accumulate pairs", points.count,
      detail::accumulate_pairs_of<Order, View, typename View::value_type, Sum, F>{view, points, cutoff, result, f});
}
template <typename Order = search_orders::natural, typename Context, typename View, results_of_points Results,
          typename F>
void accumulate_pairs_async(const Context& context, const View& view,
                            const points_view<typename View::value_type, View::dimension>& points,
                            typename View::value_type cutoff, Results&& results, const F& f) {
  accumulate_pairs_async<Order>(context, view, points, cutoff, detail::checked_results(results, points.count), f);
}
/// The same, to a pointer, container or span. Waits. Allocates nothing.
template <typename Order = search_orders::natural, typename Context, typename View, typename Results, typename F>
void accumulate_pairs(const Context& context, const View& view,
                      const points_view<typename View::value_type, View::dimension>& points,
                      typename View::value_type cutoff, Results&& results, const F& f) {
  accumulate_pairs_async<Order>(context, view, points, cutoff, results, f);
  context.synchronize();
}

}  // namespace quadrat
