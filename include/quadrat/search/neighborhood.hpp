// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/cells/concepts.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"

/// Walks over the neighborhood of a point, in terms of the view of a cell list: host-device templates, to be called
/// from any functor or kernel. A walk costs no memory and reads the cell list only. The order in which particles come
/// is that of the rows of cells, and in a cell that of the cell list.

namespace quadrat {

namespace detail {

/// Calls f(cell) for each row of a range; cell holds the indices beyond x, inside the grid.
template <typename T, int D, typename F>
QUADRAT_HD void for_each_row(const grid<T, D>& space, const cell_range<D>& range, F&& f) {
  vec<int, D> cell{};
  if constexpr (D == 2) {
    for (int y = range.first[1]; y <= range.last[1]; ++y) {
      cell[1] = space.wrapped(y, 1);
      f(cell);
    }
  } else {
    for (int z = range.first[2]; z <= range.last[2]; ++z) {
      cell[2] = space.wrapped(z, 2);
      for (int y = range.first[1]; y <= range.last[1]; ++y) {
        cell[1] = space.wrapped(y, 1);
        f(cell);
      }
    }
  }
}

/// Calls f(first id, last id) for the one or two runs of cells along x that a row of a range is: two where it crosses
/// the seam of a periodic axis. Needs a numbering whose rows are contiguous.
template <typename View, int D, typename F>
QUADRAT_HD void for_each_run(const View& view, const cell_range<D>& range, vec<int, D> cell, F&& f) {
  const int n = view.space.cells[0];
  cell[0] = 0;
  const cell_id row = view.numbering.id(cell);
  const auto run = [&](int first, int last) { f(row + static_cast<cell_id>(first), row + static_cast<cell_id>(last)); };
  if (range.first[0] < 0) {
    run(range.first[0] + n, n - 1);
    run(0, range.last[0]);
  } else if (range.last[0] >= n) {
    run(range.first[0], n - 1);
    run(0, range.last[0] - n);
  } else {
    run(range.first[0], range.last[0]);
  }
}

/// The cells of a view that can store a particle nearer to `point` than `distance`.
template <typename View>
[[nodiscard]] QUADRAT_HD auto reached_cells(const View& view,
                                            const vec<typename View::value_type, View::dimension>& point,
                                            typename View::value_type distance) {
  return view.space.reach(view.anchored(point), distance);
}

}  // namespace detail

/// Calls f(id) for every cell that can store a particle nearer to `point` than `distance`, each distinct cell once: 3
/// along an axis where distance and edge are equal, also across the seam of a periodic axis.
template <typename View, typename F>
QUADRAT_HD void for_each_cell_in_reach(const View& view, const vec<typename View::value_type, View::dimension>& point,
                                       typename View::value_type distance, F&& f) {
  static_assert(cell_list<View> && !tight_cell_list<View>,
                "for_each_cell_in_reach walks a cell list that stores each particle once (linked_tight does not)");
  const auto range = detail::reached_cells(view, point, distance);
  detail::for_each_row(view.space, range, [&](vec<int, View::dimension> cell) {
    for (int x = range.first[0]; x <= range.last[0]; ++x) {
      cell[0] = view.space.wrapped(x, 0);
      f(view.numbering.id(cell));
    }
  });
}

/// Calls f(first slot, one past the last) for the ranges of slots that hold every particle nearer to `point` than
/// `distance`: one a row of cells where rows are contiguous, one a cell otherwise. Empty ranges are left out.
template <typename View, typename F>
QUADRAT_HD void for_each_range_in_reach(const View& view, const vec<typename View::value_type, View::dimension>& point,
                                        typename View::value_type distance, F&& f) {
  static_assert(contiguous_cells<View>,
                "for_each_range_in_reach needs cells that are ranges of slots: counting and sorted lists have them");
  if constexpr (contiguous_rows<View>) {
    const auto range = detail::reached_cells(view, point, distance);
    detail::for_each_row(view.space, range, [&](const vec<int, View::dimension>& cell) {
      detail::for_each_run(view, range, cell, [&](cell_id first, cell_id last) {
        const slot_range slots = view.run_of_cells(first, last);
        if (slots.first < slots.last) f(slots.first, slots.last);
      });
    });
  } else {
    for_each_cell_in_reach(view, point, distance, [&](cell_id id) {
      const std::uint32_t first = view.cell_begin(id);
      const std::uint32_t last = view.cell_end(id);
      if (first < last) f(first, last);
    });
  }
}

/// Calls f(particle) for each particle that may be nearer to `point` than `distance`, each once; a particle at the
/// point is among them. For every cell list that stores a particle once.
template <typename View, typename F>
QUADRAT_HD void for_each_candidate(const View& view, const vec<typename View::value_type, View::dimension>& point,
                                   typename View::value_type distance, F&& f) {
  if constexpr (contiguous_cells<View>) {
    for_each_range_in_reach(view, point, distance, [&](std::uint32_t first, std::uint32_t last) {
      for (std::uint32_t slot = first; slot < last; ++slot) f(view.particle(slot));
    });
  } else {
    for_each_cell_in_reach(view, point, distance, [&](cell_id id) { view.for_each_in_cell(id, f); });
  }
}

/// Calls f(particle, record) for each particle that may be nearer to `point` than `distance`, each once; the record
/// holds its position as given. For linked_packed.
template <typename View, typename F>
QUADRAT_HD void for_each_candidate_record(const View& view,
                                          const vec<typename View::value_type, View::dimension>& point,
                                          typename View::value_type distance, F&& f) {
  static_assert(record_cell_list<View>, "for_each_candidate_record needs linked_packed, which stores records");
  for_each_cell_in_reach(view, point, distance, [&](cell_id id) { view.for_each_record_in_cell(id, f); });
}

/// Calls f(other) for each particle whose box shares a cell with that of a particle at `point`, each once however many
/// cells they share; the particle itself is among them. Every particle nearer than 2 radius is there: 8 cells hold
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

/// Calls f(j, separation, squared distance) for each particle j other than i whose squared distance is strictly below
/// cutoff^2, each once; separation is the shortest vector from i to j over the periodic images. The same pairs, with
/// the same bits, for every cell list. `points` are those of the build. The cutoff must not pass half the box along a
/// periodic axis (`require_cutoff_fits` checks), nor 2 radius for linked_tight.
template <typename View, typename F>
QUADRAT_HD void visit_neighbors(const View& view, particle_id i,
                                const points_view<typename View::value_type, View::dimension>& points,
                                typename View::value_type cutoff, F&& f) {
  using T = typename View::value_type;
  using point_type = vec<T, View::dimension>;
  const auto& domain = view.space.domain;
  const point_type here = domain.wrap(points[i]);
  const T squared_cutoff = cutoff * cutoff;
  const auto meet = [&](particle_id j, const point_type& there) {
    const point_type separation = domain.separation(here, domain.wrap(there));
    const T squared_distance = squared_norm(separation);
    if (squared_distance < squared_cutoff && j != i) f(j, separation, squared_distance);
  };
  if constexpr (tight_cell_list<View>) {
    for_each_tight_candidate(view, points[i], [&](particle_id j) { meet(j, points[j]); });
  } else if constexpr (record_cell_list<View>) {
    for_each_candidate_record(view, points[i], cutoff,
                              [&](particle_id j, const auto& record) { meet(j, record.position); });
  } else {
    for_each_candidate(view, points[i], cutoff, [&](particle_id j) { meet(j, points[j]); });
  }
}

}  // namespace quadrat
