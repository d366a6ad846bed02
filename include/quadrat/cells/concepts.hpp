// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// What a walk can ask of the view of a cell list. Views are small, trivially copyable and host-device; they point into
/// the cell list, so they are taken anew after each build.

namespace quadrat {

namespace detail {
/// Stands for any visitor where a concept is asked.
struct any_visitor {
  template <typename... Arguments>
  QUADRAT_HD void operator()(const Arguments&...) const {}
};
}  // namespace detail

/// A grid whose cells can be asked for their particles: `view.for_each_in_cell(id, f)` calls f(particle) for each.
/// `id` comes from `view.numbering.id(cell)`, where `cell` holds the indices of a cell of `view.space`.
template <typename View>
concept cell_list = requires(const View& view, cell_id id, vec<int, View::dimension> cell, detail::any_visitor f) {
  typename View::value_type;
  { view.space.cells } -> std::convertible_to<vec<int, View::dimension>>;
  { view.numbering.id(cell) } -> std::convertible_to<cell_id>;
  view.for_each_in_cell(id, f);
};

/// A numbering of the occupied cells only: `absent()` is the number that all others share. It can be asked for, too,
/// and holds nothing; walks leave it out.
template <typename Numbering>
concept numbers_occupied_cells = requires(const Numbering& numbering) {
  { numbering.absent() } -> std::convertible_to<cell_id>;
};

/// Buckets that are ranges of slots, as they stand in the view of a grid.
template <typename Buckets>
concept ranged_buckets = requires(const Buckets& buckets, cell_id id, std::uint32_t slot) {
  { buckets.begin(id) } -> std::convertible_to<std::uint32_t>;
  { buckets.end(id) } -> std::convertible_to<std::uint32_t>;
  { buckets.particle(slot) } -> std::convertible_to<particle_id>;
};

/// Besides, a cell is one range of slots: [cell_begin(id), cell_end(id)), with particle(slot) in it.
template <typename View>
concept contiguous_cells = cell_list<View> && requires(const View& view, cell_id id, std::uint32_t slot) {
  { view.cell_begin(id) } -> std::convertible_to<std::uint32_t>;
  { view.cell_end(id) } -> std::convertible_to<std::uint32_t>;
  { view.particle(slot) } -> std::convertible_to<particle_id>;
};

/// Besides, the cells of a row along x are numbered one after the other, and a run of cells whose numbers follow each
/// other is one range of slots: run_of_cells(first id, last id).
template <typename View>
concept contiguous_rows = contiguous_cells<View> && View::numbering_type::rows_are_contiguous &&
                          requires(const View& view, cell_id id) { view.run_of_cells(id, id); };

/// A particle stands in every cell that its box touches (linked_tight): such a list is walked by entries.
template <typename View>
concept tight_cell_list = cell_list<View> && requires(const View& view, cell_id id, detail::any_visitor f) {
  view.for_each_entry_in_cell(id, f);
};

/// The particle's position stands beside the link to the next (linked_packed): one load gives both.
template <typename View>
concept record_cell_list = cell_list<View> && requires(const View& view, cell_id id, detail::any_visitor f) {
  view.for_each_record_in_cell(id, f);
};

/// A half-open range of slots of a cell list with contiguous cells.
struct slot_range {
  std::uint32_t first;
  std::uint32_t last;
};

}  // namespace quadrat
