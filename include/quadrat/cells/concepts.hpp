// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// Requirements of walks on the view of a cell list. Views are small, trivially copyable and host-device. They point
/// into the cell list: get a new one after each build.

namespace quadrat {

namespace detail {
/// A visitor for use in concepts.
struct any_visitor {
  template <typename... Arguments>
  QUADRAT_HD void operator()(const Arguments&...) const {}
};
}  // namespace detail

/// A grid with the particles of each cell: `view.for_each_in_cell(id, f)` calls f(particle) for each. `id` comes from
/// `view.numbering.id(cell)`, where `cell` holds the indices of a cell of `view.space`.
template <typename View>
concept cell_list = requires(const View& view, cell_id id, vec<int, View::dimension> cell, detail::any_visitor f) {
  typename View::value_type;
  { view.space.cells } -> std::convertible_to<vec<int, View::dimension>>;
  { view.numbering.id(cell) } -> std::convertible_to<cell_id>;
  view.for_each_in_cell(id, f);
};

/// A numbering of the occupied cells only: `absent()` is the number of every empty cell. Visiting such a cell is
/// allowed and finds no particle; walks skip it.
template <typename Numbering>
concept numbers_occupied_cells = requires(const Numbering& numbering) {
  { numbering.absent() } -> std::convertible_to<cell_id>;
};

/// Buckets of a grid's view that are ranges of slots.
template <typename Buckets>
concept ranged_buckets = requires(const Buckets& buckets, cell_id id, std::uint32_t slot) {
  { buckets.begin(id) } -> std::convertible_to<std::uint32_t>;
  { buckets.end(id) } -> std::convertible_to<std::uint32_t>;
  { buckets.particle(slot) } -> std::convertible_to<particle_id>;
};

/// A cell list whose cells are ranges of slots: [cell_begin(id), cell_end(id)), where slot holds particle(slot).
template <typename View>
concept contiguous_cells = cell_list<View> && requires(const View& view, cell_id id, std::uint32_t slot) {
  { view.cell_begin(id) } -> std::convertible_to<std::uint32_t>;
  { view.cell_end(id) } -> std::convertible_to<std::uint32_t>;
  { view.particle(slot) } -> std::convertible_to<particle_id>;
};

/// Contiguous cells, where a row of cells along x has consecutive numbers, and cells with consecutive numbers form one
/// range of slots: run_of_cells(first id, last id).
template <typename View>
concept contiguous_rows = contiguous_cells<View> && View::numbering_type::rows_are_contiguous &&
                          requires(const View& view, cell_id id) { view.run_of_cells(id, id); };

/// Stores a particle in every cell that its bounding box touches (linked_tight): walked by entries.
template <typename View>
concept tight_cell_list = cell_list<View> && requires(const View& view, cell_id id, detail::any_visitor f) {
  view.for_each_entry_in_cell(id, f);
};

/// Stores a particle's position beside the link to the next (linked_packed): one load reads both.
template <typename View>
concept record_cell_list = cell_list<View> && requires(const View& view, cell_id id, detail::any_visitor f) {
  view.for_each_record_in_cell(id, f);
};

/// Has a separate walk, for a box of any shape (lattice_cells): view.for_each_near(point, cutoff, f) calls f(j,
/// separation, squared distance) for each particle j nearer than the cutoff, and particle(slot) is the one in a
/// slot.
template <typename View>
concept lattice_cell_list =
    requires(const View& view, const vec<typename View::value_type, View::dimension>& point, std::uint32_t slot) {
      view.for_each_near(point, typename View::value_type{}, detail::any_visitor{});
      { view.particle(slot) } -> std::convertible_to<particle_id>;
    };

/// A half-open range of slots of a cell list with contiguous cells.
struct slot_range {
  std::uint32_t first;
  std::uint32_t last;
};

}  // namespace quadrat
