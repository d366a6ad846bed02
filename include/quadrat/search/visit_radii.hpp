// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>

#include "quadrat/core/error.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/search/cutoff_rule.hpp"
#include "quadrat/search/visit.hpp"

/// The visitors of visit.hpp with a radius for each particle instead of one cutoff, as in smoothed particle
/// hydrodynamics. Neighbors are nearer than the sum of their radii, than the larger one, or than the radius of i. Each
/// particle is searched within its reach. Cells of one size suit radii of similar size; from ratios of 1:10 on, a
/// neighbor_list with radii tests fewer candidates, because it has cells of several sizes.

namespace quadrat {

/// The radii of all particles, in the memory of the context, and the rule for a pair.
template <typename T>
struct particle_radii {
  const T* radii;
  cutoff_rule rule;  ///< sum_of_radii, larger_radius or own_radius
};

/// The cutoffs of pairs, for for_each_neighbor in a kernel. Make them again when radii change.
template <typename T>
struct pair_cutoffs {
  const T* radii;
  cutoff_rule rule;
  T largest;  ///< of the radii

  [[nodiscard]] QUADRAT_HD T operator()(particle_id i, particle_id j) const {
    return detail::cutoff_of_radii(rule, radii[i], radii[j], T(0));
  }
  /// An upper bound on the cutoff of particle i and any other.
  [[nodiscard]] QUADRAT_HD T reach(particle_id i) const {
    return detail::cutoff_of_radii(rule, radii[i], largest, T(0));
  }
};

namespace detail {

template <typename T>
struct check_radius {
  const T* radii;
  fault_flag faults;
  QUADRAT_HD T operator()(std::size_t i) const {
    const T radius = radii[i];
    if (radius >= T(0) && radius - radius == T(0)) return radius;
    faults.raise(fault_kind::value_range, i);
    return T(0);
  }
};

}  // namespace detail

/// Finds the largest of `count` radii. Waits. Allocates. Throws argument_error for another rule, and data_error naming
/// the first particle whose radius is negative or not finite.
template <typename Context, typename T>
[[nodiscard]] pair_cutoffs<T> make_pair_cutoffs(const Context& context, const particle_radii<T>& given,
                                                std::size_t count) {
  require(detail::has_radii(given.rule), "the rule must be sum_of_radii, larger_radius or own_radius");
  require(given.radii != nullptr || count == 0, "a radius of each particle is needed, but radii is null");
  fault_state<Context> faults(context);
  workspace<Context> scratch;
  const T largest = reduce(context, "largest radius", count, detail::check_radius<T>{given.radii, faults.flag()},
                           maximum_operation{}, T(0), scratch);
  const fault_report found = faults.read(context);
  if (found.kind != fault_kind::none) {
    throw data_error(message("particle ", found.index, " has radius ",
                             to_host(context, given.radii + found.index, 1)[0], "; it must be finite and not negative"),
                     found.index);
  }
  return {given.radii, given.rule, largest};
}

/// Calls f(j, separation, squared distance) for each particle j other than i that is nearer than cutoffs(i, j), each
/// once; otherwise as for_each_neighbor with one cutoff. cutoffs.reach(i) must not exceed half the box along a periodic
/// axis.
template <typename Order = search_orders::natural, typename View, typename F>
QUADRAT_HD void for_each_neighbor(const View& view,
                                  const points_view<typename View::value_type, View::dimension>& points, particle_id i,
                                  const pair_cutoffs<typename View::value_type>& cutoffs, F&& f) {
  using T = typename View::value_type;
  for_each_neighbor<Order>(view, points, i, cutoffs.reach(i),
                           [&](particle_id j, const vec<T, View::dimension>& separation, T squared_distance) {
                             const T cutoff = cutoffs(i, j);
                             if (squared_distance < cutoff * cutoff) f(j, separation, squared_distance);
                           });
}

namespace detail {

/// Checks the arguments of the functions below.
template <typename Context, typename View>
[[nodiscard]] pair_cutoffs<typename View::value_type> checked_cutoffs(
    const Context& context, const View& view, std::size_t count, const particle_radii<typename View::value_type>& radii,
    bool pairs_once) {
  using T = typename View::value_type;
  require(!(pairs_once && radii.rule == cutoff_rule::own_radius),
          "half pairs were requested with own_radius; (i, j) can be a pair without (j, i), so use full");
  const pair_cutoffs<T> cutoffs = make_pair_cutoffs(context, radii, count);
  if (cutoffs.largest > T(0)) {
    require_cutoff_reached(view, cutoff_of_radii(cutoffs.rule, cutoffs.largest, cutoffs.largest, T(0)));
  }
  return cutoffs;
}

}  // namespace detail

/// The functions of visit.hpp with radii. Wait. Allocate. Throw data_error naming the first particle whose radius is
/// negative or not finite; argument_error if the largest cutoff of a pair exceeds half the box along a periodic axis
/// (for linked_tight, 2 radius of the list), for another rule, and for pairs that are met once by own_radius, which is
/// not symmetric. Determinism: as there.
template <typename Order = search_orders::natural, typename Context, typename View, typename F>
void for_each_pair(const Context& context, const View& view,
                   const points_view<typename View::value_type, View::dimension>& points,
                   const particle_radii<typename View::value_type>& radii, neighbor_pairs pairs, const F& f) {
  using cutoffs_type = pair_cutoffs<typename View::value_type>;
  const bool half = pairs == neighbor_pairs::half;
  const cutoffs_type cutoffs = detail::checked_cutoffs(context, view, points.count, radii, half);
  if (!(cutoffs.largest > 0)) return;
  for_each(context, "for each pair", points.count,
           detail::visit_pairs_of<Order, View, cutoffs_type, F>{view, points, cutoffs, half, f});
  context.synchronize();
}

/// As above, for sums. Wait. Allocate.
template <typename Order = search_orders::natural, typename Context, typename View, typename Sum, typename F>
void accumulate_neighbors(const Context& context, const View& view,
                          const points_view<typename View::value_type, View::dimension>& points,
                          const particle_radii<typename View::value_type>& radii, Sum* result, const F& f) {
  using cutoffs_type = pair_cutoffs<typename View::value_type>;
  const cutoffs_type cutoffs = detail::checked_cutoffs(context, view, points.count, radii, false);
  if (cutoffs.largest > 0) {
    for_each(context, "accumulate neighbors", points.count,
             detail::accumulate_neighbors_of<Order, View, cutoffs_type, Sum, F>{view, points, cutoffs, result, f});
  } else {
    for_each(context, "clear sums", points.count, detail::clear_sum<Sum>{result});
  }
  context.synchronize();
}

/// As above, with reactions. Wait. Allocate.
template <typename Order = search_orders::natural, typename Context, typename View, typename Sum, typename F>
void accumulate_pairs(const Context& context, const View& view,
                      const points_view<typename View::value_type, View::dimension>& points,
                      const particle_radii<typename View::value_type>& radii, Sum* result, const F& f) {
  using cutoffs_type = pair_cutoffs<typename View::value_type>;
  const cutoffs_type cutoffs = detail::checked_cutoffs(context, view, points.count, radii, true);
  for_each(context, "clear sums", points.count, detail::clear_sum<Sum>{result});
  if (cutoffs.largest > 0) {
    for_each(context, "accumulate pairs", points.count,
             detail::accumulate_pairs_of<Order, View, cutoffs_type, Sum, F>{view, points, cutoffs, result, f});
  }
  context.synchronize();
}
template <typename Order = search_orders::natural, typename Context, typename View, results_of_points Results,
          typename F>
void accumulate_neighbors(const Context& context, const View& view,
                          const points_view<typename View::value_type, View::dimension>& points,
                          const particle_radii<typename View::value_type>& radii, Results&& results, const F& f) {
  accumulate_neighbors<Order>(context, view, points, radii, detail::checked_results(results, points.count), f);
}
template <typename Order = search_orders::natural, typename Context, typename View, results_of_points Results,
          typename F>
void accumulate_pairs(const Context& context, const View& view,
                      const points_view<typename View::value_type, View::dimension>& points,
                      const particle_radii<typename View::value_type>& radii, Results&& results, const F& f) {
  accumulate_pairs<Order>(context, view, points, radii, detail::checked_results(results, points.count), f);
}

}  // namespace quadrat
