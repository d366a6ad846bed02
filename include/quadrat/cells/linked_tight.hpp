// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "quadrat/cells/detail/build_state.hpp"
#include "quadrat/cells/detail/foldable_grid.hpp"
#include "quadrat/cells/detail/ordered_pairs.hpp"
#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/cells/touched_cells.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat {

/// The device's view of linked_tight_cells. Trivially copyable; valid until the next build. An entry is particle << D |
/// mask: one of the up to 2^D cells that the particle's bounding box touches. Bit i of the mask is set if the particle
/// is also in the previous cell along axis i.
template <typename T, int D>
struct linked_tight_view {
  using value_type = T;
  using numbering_type = row_major_numbering<D>;
  static constexpr int dimension = D;

  grid<T, D> space;
  row_major_numbering<D> numbering;
  touch_rule<T, D> touch;
  const std::uint32_t* heads;
  const std::uint32_t* nexts;

  /// Calls f(cell id, mask) for each cell that the box of a particle at `point` touches.
  template <typename F>
  QUADRAT_HD void for_each_touched_cell(const vec<T, D>& point, F&& f) const {
    touch.for_each(space, numbering, space.domain.wrap(point), static_cast<F&&>(f));
  }
  /// Calls f(particle, mask) for each entry of a cell.
  template <typename F>
  QUADRAT_HD void for_each_entry_in_cell(cell_id id, F&& f) const {
    for (std::uint32_t entry = heads[id]; entry != no_particle;) {
      const std::uint32_t after = nexts[entry];
      f(particle_id{entry >> D}, entry & ((1u << D) - 1));
      entry = after;
    }
  }
  /// Calls f(particle) for each particle whose box touches the cell.
  template <typename F>
  QUADRAT_HD void for_each_in_cell(cell_id id, F&& f) const {
    for_each_entry_in_cell(id, [&](particle_id particle, std::uint32_t) { f(particle); });
  }
};

/// The tight grid of uniform-grid-atomics, section 1, as linked lists (section 2): a particle is stored in every cell
/// that its axis-aligned bounding box of half-width `radius` touches, so that the cells of one particle contain all
/// particles nearer than 2 radius. One pass, one atomic exchange per entry. Memory: 4 bytes per cell and 4 * 2^D per
/// particle.
///
/// Cells must have an edge of at least 2 radius. If the edge is 2 radius to within rounding, and faces of cells or
/// boxes cannot be represented exactly, the list uses one cell less along that axis, so that no pair is ever missed:
/// see `space()`.
///
/// Determinism: with `none`, the order of entries in a cell is that of the atomic exchanges. With run_to_run and
/// canonical it is increasing, by a stable radix sort of the 2^D entries per particle: an order of magnitude slower,
/// and 16 * 2^D more bytes per particle.
template <typename Context, typename T, int D>
class linked_tight_cells {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  using context_type = Context;
  using value_type = T;
  using view_type = linked_tight_view<T, D>;
  static constexpr int dimension = D;
  static constexpr std::string_view name = "linked_tight";
  /// An entry has 32 bits; all bits set ends a list.
  static constexpr std::size_t most_points = (std::size_t{1} << (32 - D)) - 1;

  /// Throws argument_error if the radius is not positive and finite, or an edge is below 2 radius along an axis with
  /// more than one cell.
  linked_tight_cells(const Context& context, const grid<T, D>& space, const cell_list_options<T>& options = {});

  /// Like grid_cells::build. Throws argument_error for more than `most_points` points.
  void build(const points_view<T, D>& points);
  /// Like grid_cells::build_async.
  void build_async(const points_view<T, D>& points);
  /// Like grid_cells::reserve.
  void reserve(std::size_t points);
  /// Like grid_cells::check.
  void check();
  /// Like grid_cells::view.
  [[nodiscard]] view_type view() const {
    state_.require_usable();
    return {fit_.space, fit_.numbering(), fit_.touch, heads_.data(), nexts_.data()};
  }
  /// Like grid_cells::space.
  [[nodiscard]] const grid<T, D>& space() const { return fit_.space; }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] std::size_t bytes() const { return heads_.bytes() + nexts_.bytes() + pairs_.bytes() + state_.bytes(); }

 private:
  /// The grid and rule for a build of this many points; the rule changes the grid.
  struct fit {
    fit(const grid<T, D>& given, T radius) : space(given), touch(make_touch_rule(space, radius)) {}
    [[nodiscard]] row_major_numbering<D> numbering() const { return {space.stored}; }

    grid<T, D> space;
    touch_rule<T, D> touch;
  };
  [[nodiscard]] fit fitted(std::size_t points) const {
    return given_.changes(points) ? fit(given_.fitted(points), fit_.touch.radius) : fit_;
  }

  detail::foldable_grid<T, D> given_;
  fit fit_;
  array<std::uint32_t, Context> heads_;
  array<std::uint32_t, Context> nexts_;
  detail::ordered_pairs<Context> pairs_;
  detail::point_build_state<Context, T, D> state_;
};

namespace cell_methods {

struct linked_tight : cell_list_method {
  static constexpr std::string_view name = "linked_tight";
  static constexpr std::string_view summary = "linked lists; a particle is listed in every cell that its box touches";
  template <typename Context, typename T, int D>
  using type = linked_tight_cells<Context, T, D>;
};

}  // namespace cell_methods

}  // namespace quadrat
