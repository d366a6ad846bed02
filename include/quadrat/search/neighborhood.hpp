// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "quadrat/cells/concepts.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/search/orders.hpp"

/// Walks over the neighborhood of a point through the view of a cell list: host-device templates that any functor or
/// kernel can call. A walk needs no memory and only reads. `Order` (search/orders.hpp) is the order of cells; within a
/// cell, particles come in the order of the cell list. An order that the cell list does not allow does not compile: see
/// `walkable`.

namespace quadrat {

/// Calls f(id) for every cell that can store a particle nearer to `point` than `distance`, each distinct cell once: 3
/// along an axis if distance and edge are equal, also across the seam of a periodic axis. Empty cells are left out if
/// the cell list numbers occupied cells only (hashed).
template <typename Order = search_orders::natural, typename View, typename F>
QUADRAT_HD void for_each_cell_in_reach(const View& view, const vec<typename View::value_type, View::dimension>& point,
                                       typename View::value_type distance, F&& f) {
  static_assert(cell_list<View> && !tight_cell_list<View>,
                "for_each_cell_in_reach walks a cell list that stores each particle once (linked_tight does not)");
  static_assert(walkable<Order, View>,
                "this order takes a row of cells as one range: counting and sorted lists have such rows");
  using order = order_for<Order, View>;
  using cell_type = vec<int, View::dimension>;
  const auto anchored = view.anchored(point);
  // NOLINTNEXTLINE(bugprone-branch-clone): they differ in what they call
  if constexpr (order::by_strips) {
    order::for_each_strip(view.space, anchored, distance, [&](const cell_type& cell, int last) {
      const cell_id first = view.numbering.id(cell);
      const auto count = static_cast<cell_id>(last - cell[0] + 1);
      for (cell_id k = 0; k < count; ++k) f(first + k);
    });
  } else {
    order::for_each_cell(view.space, anchored, distance, [&](const cell_type& cell) {
      const cell_id id = view.numbering.id(cell);
      if constexpr (numbers_occupied_cells<typename View::numbering_type>) {
        if (id == view.numbering.absent()) return;
      }
      f(id);
    });
  }
}

/// Calls f(first slot, one past the last) for ranges of slots that together hold every particle nearer to `point` than
/// `distance`: one per strip if the order goes by strips, one per cell otherwise. Empty ranges are left out.
template <typename Order = search_orders::natural, typename View, typename F>
QUADRAT_HD void for_each_range_in_reach(const View& view, const vec<typename View::value_type, View::dimension>& point,
                                        typename View::value_type distance, F&& f) {
  static_assert(contiguous_cells<View>,
                "for_each_range_in_reach needs cells that are ranges of slots: counting and sorted lists have them");
  static_assert(walkable<Order, View>,
                "this order takes a row of cells as one range: counting and sorted lists have such rows");
  using order = order_for<Order, View>;
  if constexpr (order::by_strips) {
    const auto walk = [&](const vec<int, View::dimension>& cell, int last) {
      const cell_id first = view.numbering.id(cell);
      const slot_range slots = view.run_of_cells(first, first + static_cast<cell_id>(last - cell[0]));
      if (slots.first < slots.last) f(slots.first, slots.last);
    };
    order::for_each_strip(view.space, view.anchored(point), distance, walk);
  } else {
    for_each_cell_in_reach<order>(view, point, distance, [&](cell_id id) {
      const std::uint32_t first = view.cell_begin(id);
      const std::uint32_t last = view.cell_end(id);
      if (first < last) f(first, last);
    });
  }
}

/// Calls f(particle) for each particle that may be nearer to `point` than `distance`, each once, particles at the point
/// included. For every cell list that stores a particle once.
template <typename Order = search_orders::natural, typename View, typename F>
QUADRAT_HD void for_each_candidate(const View& view, const vec<typename View::value_type, View::dimension>& point,
                                   typename View::value_type distance, F&& f) {
  if constexpr (contiguous_cells<View>) {
    for_each_range_in_reach<Order>(view, point, distance, [&](std::uint32_t first, std::uint32_t last) {
      for (std::uint32_t slot = first; slot < last; ++slot) f(view.particle(slot));
    });
  } else {
    for_each_cell_in_reach<Order>(view, point, distance, [&](cell_id id) { view.for_each_in_cell(id, f); });
  }
}

/// Calls f(particle, record) for each particle that may be nearer to `point` than `distance`, each once; the record
/// holds its position as given. For linked_packed.
template <typename Order = search_orders::natural, typename View, typename F>
QUADRAT_HD void for_each_candidate_record(const View& view,
                                          const vec<typename View::value_type, View::dimension>& point,
                                          typename View::value_type distance, F&& f) {
  static_assert(record_cell_list<View>, "for_each_candidate_record needs linked_packed, which stores records");
  for_each_cell_in_reach<Order>(view, point, distance, [&](cell_id id) { view.for_each_record_in_cell(id, f); });
}

/// Calls f(other) for each particle whose bounding box shares a cell with that of a particle at `point`, once however
/// many cells they share, and for that particle itself. This includes every particle nearer than 2 radius: 8 cells hold
/// them all (uniform-grid-atomics, section 1, tight uniform grids). For linked_tight.
template <typename View, typename F>
QUADRAT_HD void for_each_tight_candidate(const View& view, const vec<typename View::value_type, View::dimension>& point,
                                         F&& f) {
  static_assert(tight_cell_list<View>, "for_each_tight_candidate needs linked_tight, whose cells hold entries");
  view.for_each_touched_cell(point, [&](cell_id id, std::uint32_t mask) {
    view.for_each_entry_in_cell(id, [&](particle_id other, std::uint32_t other_mask) {
      if ((mask & other_mask) == 0) f(other);
    });
  });
}

namespace detail {

/// Calls f(j, separation, squared distance) for each particle j other than `skipped` that is nearer to `point`.
template <typename Order, typename View, typename F>
QUADRAT_HD void for_each_neighbor_but(const View& view,
                                      const points_view<typename View::value_type, View::dimension>& points,
                                      const vec<typename View::value_type, View::dimension>& point,
                                      typename View::value_type cutoff, particle_id skipped, F&& f) {
  using T = typename View::value_type;
  using point_type = vec<T, View::dimension>;
  const auto& domain = view.space.domain;
  const point_type here = domain.wrap(point);
  const T squared_cutoff = cutoff * cutoff;
  const auto meet = [&](particle_id j, const point_type& there) {
    const point_type separation = domain.separation(here, domain.wrap(there));
    const T squared_distance = squared_norm(separation);
    if (squared_distance < squared_cutoff && j != skipped) f(j, separation, squared_distance);
  };
  if constexpr (tight_cell_list<View>) {
    static_assert(std::is_same_v<Order, search_orders::natural>, "linked_tight has a separate walk, without orders");
    for_each_tight_candidate(view, point, [&](particle_id j) { meet(j, points[j]); });
  } else if constexpr (record_cell_list<View>) {
    for_each_candidate_record<Order>(view, point, cutoff,
                                     [&](particle_id j, const auto& record) { meet(j, record.position); });
  } else {
    for_each_candidate<Order>(view, point, cutoff, [&](particle_id j) { meet(j, points[j]); });
  }
}

template <typename Order, lattice_cell_list View, typename F>
QUADRAT_HD void for_each_neighbor_but(const View& view, const points_view<typename View::value_type, View::dimension>&,
                                      const vec<typename View::value_type, View::dimension>& point,
                                      typename View::value_type cutoff, particle_id skipped, F&& f) {
  static_assert(std::is_same_v<Order, search_orders::natural>,
                "lattice_cells have a separate walk, without any orders");
  using T = typename View::value_type;
  view.for_each_near(point, cutoff, [&](particle_id j, const vec<T, View::dimension>& separation, T squared_distance) {
    if (j != skipped) f(j, separation, squared_distance);
  });
}

}  // namespace detail

/// Calls f(j, separation, squared distance) for each particle j other than i whose squared distance is strictly below
/// cutoff^2, each once; separation is the shortest vector from i to j over the periodic images. The same pairs, with
/// the same bits, for every cell list and order. `points` are those of the build. The cutoff must not exceed half the
/// box along a periodic axis (`require_cutoff_fits` checks), nor 2 radius for linked_tight.
template <typename Order = search_orders::natural, typename View, typename F>
QUADRAT_HD void for_each_neighbor(const View& view,
                                  const points_view<typename View::value_type, View::dimension>& points, particle_id i,
                                  typename View::value_type cutoff, F&& f) {
  detail::for_each_neighbor_but<Order>(view, points, points[i], cutoff, i, static_cast<F&&>(f));
}

/// The same around any finite point. The point is not a particle: a particle at the same place is its neighbor. Along
/// open axes it may lie outside the box, by at most the length of the box; for linked_tight it must lie in the box, and
/// for lattice_cells it may lie anywhere.
template <typename Order = search_orders::natural, typename View, typename F>
QUADRAT_HD void for_each_neighbor_of_point(const View& view,
                                           const points_view<typename View::value_type, View::dimension>& points,
                                           const vec<typename View::value_type, View::dimension>& point,
                                           typename View::value_type cutoff, F&& f) {
  detail::for_each_neighbor_but<Order>(view, points, point, cutoff, no_particle, static_cast<F&&>(f));
}

}  // namespace quadrat
