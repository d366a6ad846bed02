// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/cells/concepts.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/neighbor_pairs.hpp"
#include "quadrat/search/neighborhood.hpp"

/// All pairs of neighbors in one call: what for_each_neighbor gives around every point, handed to a functor. Calls are
/// asynchronous on the context's stream. `view` is that of a cell list and `points` those of its build; both, and what
/// the functor points at, must stay until the work is done. `Order` is one of search_orders that the cell list allows.
///
/// The functor is host-device and is called as f(i, j, separation, squared_distance): ids of two particles, the
/// shortest vector from i to j over the periodic images, and its squared length. Pairs are all that are nearer than the
/// cutoff, the same with the same bits for every cell list and order. Of two particles in different threads' hands the
/// functor may be called at the same time.
///
/// All throw argument_error when the cutoff is not positive and finite, passes half the box along a periodic axis, or
/// passes the 2 radius of linked_tight.

namespace quadrat {

namespace detail {

template <typename View>
void require_cutoff_reached(const View& view, typename View::value_type cutoff) {
  require_cutoff_fits(view.space.domain, cutoff);
  if constexpr (tight_cell_list<View>) {
    require(cutoff <= 2 * view.touch.radius, "the cutoff ", cutoff,
            " is more than the diameter that the tight cell list was made for, ", 2 * view.touch.radius);
  }
}

/// The particle that thread `index` takes. In order of the cells where the list knows it: then the threads of a warp
/// walk the same cells, however the points stand in memory.
template <typename View>
[[nodiscard]] QUADRAT_HD particle_id particle_of_thread(const View& view, std::size_t index) {
  if constexpr (contiguous_cells<View>) {
    return view.particle(static_cast<std::uint32_t>(index));
  } else {
    return static_cast<particle_id>(index);
  }
}

template <typename Order, typename View, typename F>
struct visit_pairs_of {
  using T = typename View::value_type;
  View view;
  points_view<T, View::dimension> points;
  T cutoff;
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

template <typename Order, typename View, typename Sum, typename F>
struct accumulate_neighbors_of {
  using T = typename View::value_type;
  View view;
  points_view<T, View::dimension> points;
  T cutoff;
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

/// Sums of i wait in registers until its walk is over; those of j go to memory one by one.
template <typename Order, typename View, typename Sum, typename F>
struct accumulate_pairs_of {
  using T = typename View::value_type;
  View view;
  points_view<T, View::dimension> points;
  T cutoff;
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
                               atomic_accumulate(result + j, Sum{} - term);
                             });
    atomic_accumulate(result + i, sum);
  }
};

}  // namespace detail

/// Calls f for every pair of neighbors: twice, as (i, j) and as (j, i), when `full` is asked for, and once, with i < j,
/// for `half`. Either walks the whole neighborhood of every particle; what half saves is the calls.
template <typename Order = search_orders::natural, typename Context, typename View, typename F>
void for_each_pair(const Context& context, const View& view,
                   const points_view<typename View::value_type, View::dimension>& points,
                   typename View::value_type cutoff, neighbor_pairs pairs, const F& f) {
  detail::require_cutoff_reached(view, cutoff);
  for_each(context, "for each pair", points.count,
           detail::visit_pairs_of<Order, View, F>{view, points, cutoff, pairs == neighbor_pairs::half, f});
}

/// result[i] = the sum of f over the neighbors j of i, for every particle; Sum{} where there are none. `Sum` is any
/// type that starts from Sum{} and has +=: numbers, vec.
///
/// Determinism: each sum is one thread's, in walking order, without atomics: run_to_run where the cell list was built
/// with it (sorted lists always are); another cell list or order may change the last bits.
template <typename Order = search_orders::natural, typename Context, typename View, typename Sum, typename F>
void accumulate_neighbors(const Context& context, const View& view,
                          const points_view<typename View::value_type, View::dimension>& points,
                          typename View::value_type cutoff, Sum* result, const F& f) {
  detail::require_cutoff_reached(view, cutoff);
  for_each(context, "accumulate neighbors", points.count,
           detail::accumulate_neighbors_of<Order, View, Sum, F>{view, points, cutoff, result, f});
}

/// The same where f(j, i) = -f(i, j) (Newton's third law): f is called once a pair, with i < j, added to result[i] and
/// subtracted from result[j]. `Sum` is float, double, int, unsigned, std::uint64_t, or a vec of them. For an f that
/// costs more than an atomic addition a pair; accumulate_neighbors is faster where it does not.
///
/// Determinism: additions come in any order, so that the last bits of floating-point sums may differ from run to run
/// whatever the context asks for; sums of integers are always the same.
template <typename Order = search_orders::natural, typename Context, typename View, typename Sum, typename F>
void accumulate_pairs(const Context& context, const View& view,
                      const points_view<typename View::value_type, View::dimension>& points,
                      typename View::value_type cutoff, Sum* result, const F& f) {
  detail::require_cutoff_reached(view, cutoff);
  for_each(context, "clear sums", points.count, detail::clear_sum<Sum>{result});
  for_each(context, "accumulate pairs", points.count,
           detail::accumulate_pairs_of<Order, View, Sum, F>{view, points, cutoff, result, f});
}

}  // namespace quadrat
