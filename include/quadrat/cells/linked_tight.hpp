// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/cells/ordered_pairs.hpp"
#include "quadrat/cells/point_record.hpp"
#include "quadrat/cells/touched_cells.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat {

/// The device's side of linked_tight_cells. Trivially copyable; valid until the next build. An entry is
/// particle << D | mask: one of the up to 2^D cells that the particle's box touches. Bit i of the mask is 1 where the
/// particle stands in the cell before along axis i as well.
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
      f(static_cast<particle_id>(entry >> D), entry & ((1u << D) - 1));
      entry = after;
    }
  }
  /// Calls f(particle) for each particle whose box touches the cell.
  template <typename F>
  QUADRAT_HD void for_each_in_cell(cell_id id, F&& f) const {
    for_each_entry_in_cell(id, [&](particle_id particle, std::uint32_t) { f(particle); });
  }
};

/// The tight grid of uniform-grid-atomics, section 1, as linked lists (section 2): every particle stands in each cell
/// that its axis-aligned box of half-width `radius` touches, and pairs nearer than 2 radius are found in the cells of
/// one of them alone. One pass, one atomic exchange an entry. Memory: 4 bytes a cell and 4 * 2^D a particle.
///
/// Cells must have an edge of at least 2 radius. Where the edge is 2 radius to within rounding, and faces of cells or
/// boxes cannot be represented exactly, the list takes one cell less along that axis than it was given, so that no pair
/// is ever missed: `space()` tells.
///
/// Determinism: none gives the entries of a cell in whatever order the exchanges came. run_to_run and canonical give
/// them in increasing order, by a stable radix sort of all 2^D entries a particle: an order of magnitude slower, and
/// 16 * 2^D bytes a particle more.
template <typename Context, typename T, int D>
class linked_tight_cells {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  using context_type = Context;
  using value_type = T;
  using view_type = linked_tight_view<T, D>;
  static constexpr int dimension = D;
  static constexpr std::string_view name = "linked_tight";
  /// An entry has 32 bits, and all ones mean none.
  static constexpr std::size_t most_points = (std::size_t{1} << (32 - D)) - 1;

  /// Throws argument_error when the radius is not positive and finite, or an edge is below 2 radius along an axis with
  /// more than one cell.
  linked_tight_cells(const Context& context, const grid<T, D>& space, const cell_list_options<T>& options = {});

  /// As grid_cells::build. Throws argument_error for more than `most_points` points.
  void build(const Context& context, const points_view<T, D>& points);
  /// As grid_cells::check.
  void check(const Context& context);
  /// As grid_cells::view.
  [[nodiscard]] view_type view() const {
    record_.require_usable();
    return {space_, row_major_numbering<D>{space_.cells}, touch_, heads_.data(), nexts_.data()};
  }
  /// The grid in use.
  [[nodiscard]] const grid<T, D>& space() const { return space_; }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] std::size_t bytes() const { return heads_.bytes() + nexts_.bytes() + pairs_.bytes() + record_.bytes(); }

 private:
  grid<T, D> space_;
  touch_rule<T, D> touch_;
  array<std::uint32_t, Context> heads_;
  array<std::uint32_t, Context> nexts_;
  detail::ordered_pairs<Context> pairs_;
  detail::point_record<Context, T, D> record_;
};

namespace cell_methods {

struct linked_tight : cell_list_method {
  static constexpr std::string_view name = "linked_tight";
  static constexpr std::string_view summary = "linked lists; a particle stands in every cell that its box touches";
  template <typename Context, typename T, int D>
  using type = linked_tight_cells<Context, T, D>;
};

}  // namespace cell_methods

}  // namespace quadrat
