// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/neighbor_pairs.hpp"
#include "quadrat/search/visit.hpp"

/// All pairs of neighbors over any number of ranks, as in search/visit.hpp but only around the own particles of this
/// rank. `view` is a cell list over own particles and ghosts, in the box of all particles (halo.hpp); the first `own`
/// points are the own ones. Neighbor lists work in the same way: build a full list over own particles and ghosts, and
/// read the rows of the own ones.
namespace quadrat {

namespace detail {

template <typename Order, typename View, typename F>
struct visit_own_pairs {
  using T = typename View::value_type;
  View view;
  points_view<T, View::dimension> points;
  const std::uint32_t* ids;
  T cutoff;
  bool half;
  F f;

  QUADRAT_HD void operator()(std::size_t index) const {
    const auto i = static_cast<particle_id>(index);
    for_each_neighbor<Order>(view, points, i, cutoff,
                             [&](particle_id j, const vec<T, View::dimension>& separation, T squared_distance) {
                               if (!half || ids[i] < ids[j]) f(i, j, separation, squared_distance);
                             });
  }
};

}  // namespace detail

/// Calls f(i, j, separation, squared distance), with local indices, for every pair whose i is an own particle. `full`:
/// each pair of the system is visited twice over all ranks, as (i, j) and (j, i). `half`: each pair is visited once, on
/// the rank that owns the particle with the smaller id; `ids` are by local index, ghosts included (may be nullptr for
/// `full`). The same bits as on one rank. Does not wait. Allocates nothing. Can be captured. Throws what for_each_pair
/// throws, and argument_error for more own particles than points, and for `half` without ids.
template <typename Order = search_orders::natural, typename Context, typename View, typename F>
void for_each_own_pair_async(const Context& context, const View& view,
                             const points_view<typename View::value_type, View::dimension>& points, std::size_t own,
                             const std::uint32_t* ids, typename View::value_type cutoff, neighbor_pairs pairs,
                             const F& f) {
  detail::require_cutoff_reached(view, cutoff);
  require(own <= points.count, "there are ", own, " own particles, but ", points.count, " with ghosts");
  const bool half = pairs == neighbor_pairs::half;
  require(!half || ids != nullptr || own == 0, "to visit each pair once, ids are needed");
  for_each(context, "for each own pair", own,
           detail::visit_own_pairs<Order, View, F>{view, points, ids, cutoff, half, f});
}
/// The same. Waits. Allocates nothing.
template <typename Order = search_orders::natural, typename Context, typename View, typename F>
void for_each_own_pair(const Context& context, const View& view,
                       const points_view<typename View::value_type, View::dimension>& points, std::size_t own,
                       const std::uint32_t* ids, typename View::value_type cutoff, neighbor_pairs pairs, const F& f) {
  for_each_own_pair_async<Order>(context, view, points, own, ids, cutoff, pairs, f);
  context.synchronize();
}

}  // namespace quadrat
