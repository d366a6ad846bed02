// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "quadrat/cells/carry.hpp"
#include "quadrat/cells/concepts.hpp"
#include "quadrat/cells/keys.hpp"
#include "quadrat/cells/point_record.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat {

/// What a cell list can be told besides its grid. Each method takes what it needs and ignores the rest.
template <typename T>
struct cell_list_options {
  /// Half-width of a particle's box, in the unit of the positions. linked_loose_low_vertex and linked_tight need it.
  T radius = T(0);
  /// Particles that a cell of `fixed` and `fixed_row_major` holds; 0 means 12 + 2 m + 4 sqrt(m), rounded up to a
  /// multiple of 4, for m particles a cell on average at each build: ample for points that are spread evenly or fill
  /// half of the box, too little for points in clusters.
  std::uint32_t fixed_capacity = 0;
  /// Whether points may lie outside of open axes. They are then stored in the nearest cell, and since `grid::reach`
  /// ends at the same cells, walks find every neighbor of theirs, too; many far outside make that cell a crowd.
  /// Otherwise such a point is a fault. linked_tight always takes it for one.
  bool outside_allowed = false;
};

/// The device's side of a cell list: a grid, how its cells are numbered, which point stores a particle, and the
/// buckets. Trivially copyable; valid until the next build.
template <typename T, int D, typename Numbering, typename Anchor, typename Buckets>
struct grid_cells_view {
  using value_type = T;
  using numbering_type = Numbering;
  static constexpr int dimension = D;

  grid<T, D> space;
  Numbering numbering;
  Anchor anchor;
  Buckets buckets;

  /// The point whose cell stores a particle at `point`.
  [[nodiscard]] QUADRAT_HD vec<T, D> anchored(const vec<T, D>& point) const { return anchor(space.domain, point); }

  /// Calls f(particle) for each particle of a cell.
  template <typename F>
  QUADRAT_HD void for_each_in_cell(cell_id id, F&& f) const {
    buckets.for_each_in(id, static_cast<F&&>(f));
  }

  /// First slot of a cell, and one past its last. Where the cell is empty the two are equal.
  [[nodiscard]] QUADRAT_HD std::uint32_t cell_begin(cell_id id) const
    requires ranged_buckets<Buckets>
  {
    return buckets.begin(id);
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t cell_end(cell_id id) const
    requires ranged_buckets<Buckets>
  {
    return buckets.end(id);
  }
  /// The slots of the cells numbered `first` to `last`, both included.
  [[nodiscard]] QUADRAT_HD slot_range run_of_cells(cell_id first, cell_id last) const
    requires requires { buckets.run(first, last); }
  {
    return buckets.run(first, last);
  }
  /// The particle that stands in a slot.
  [[nodiscard]] QUADRAT_HD particle_id particle(std::uint32_t slot) const
    requires ranged_buckets<Buckets>
  {
    return buckets.particle(slot);
  }
};

/// A cell list: particles in the cells of a grid, each stored once. `Method` is its record, see grid_cells_method. Made
/// once and built as often as particles move; a build of a size that has been met allocates nothing and can be captured
/// in a CUDA graph. Movable. Instantiated in the library for float and double in 2 and 3 dimensions.
template <typename Method, typename Context, typename T, int D>
class grid_cells {
  static_assert(detail::instance<Context, T, D>::exists);
  using numbering_type = typename Method::template numbering<D>;
  using anchor_type = typename Method::template anchor<T, D>;
  using buckets_type = typename Method::template buckets<Context>;

 public:
  using context_type = Context;
  using value_type = T;
  using method = Method;
  using view_type = grid_cells_view<T, D, numbering_type, anchor_type, typename buckets_type::view_type>;
  static constexpr int dimension = D;
  static constexpr std::string_view name = Method::name;

  /// Throws argument_error when an option is impossible or the numbering would pass 2^31 - 1.
  grid_cells(const Context& context, const grid<T, D>& space, const cell_list_options<T>& options = {});

  /// Puts the points into cells; ids are their indices. Points along periodic axes are wrapped. Asynchronous: what is
  /// wrong with the points is reported by `check`, and such a point never leads outside of any array. The points must
  /// stay as they are until then. Throws argument_error for a view that cannot be one of points.
  void build(const Context& context, const points_view<T, D>& points);

  /// The same, and copies arrays of particle data into the order of slots: to[slot] = from[particle(slot)], at most
  /// 8 of them. Asynchronous. Throws argument_error for an array that cannot be one.
  void build_and_carry(const Context& context, const points_view<T, D>& points, std::span<const carried_array> arrays)
    requires buckets_type::carries_data;

  /// Synchronises. Throws data_error naming the first point that is not finite or outside of an open axis (unless that
  /// is allowed) in any build since the last check, or overflow_error with the capacity that would have sufficed. The
  /// cell list is then unusable until it is built again.
  void check(const Context& context);

  /// Throws argument_error when nothing has been built, or the last check has thrown.
  [[nodiscard]] view_type view() const {
    record_.require_usable();
    return {space_, numbering_, anchor_, buckets_.view()};
  }
  [[nodiscard]] const grid<T, D>& space() const { return space_; }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] std::size_t bytes() const { return buckets_.bytes() + record_.bytes(); }

 private:
  using key_type = cell_key<T, D, numbering_type, anchor_type>;

  [[nodiscard]] key_type begin_build(const points_view<T, D>& points);

  grid<T, D> space_;
  numbering_type numbering_;
  anchor_type anchor_;
  buckets_type buckets_;
  detail::point_record<Context, T, D> record_;
  bool outside_allowed_;
};

/// What the expected time of a cell list is asked for: a build that carries positions and velocities along, where the
/// list can, and a walk through the 27 cells around each of `points` particles, about 4 in a cell.
struct cell_load {
  bool cuda;
  double points;
};

/// What the records of all cell lists have: both backends run them, and where the context asks for it a cell gives its
/// particles in increasing order. Where a record has `static double cost(const cell_load&)`, the milliseconds expected,
/// the automatic choice considers it.
struct cell_list_method {
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::canonical;
  /// Of the finest grid that make_cells chooses.
  static constexpr std::uint64_t most_cells = std::uint64_t{1} << 27;
};

/// The base of the records of cell lists that are grid_cells. A record has a name, a summary (one line), and
/// `buckets<Context>`: how cells store particles. It may have another `numbering<D>` of cells (core/curves.hpp), or
/// another `anchor<T, D>`: the point whose cell stores a particle (keys.hpp).
template <typename Method>
struct grid_cells_method : cell_list_method {
  template <int D>
  using numbering = row_major_numbering<D>;
  template <typename T, int D>
  using anchor = center_anchor<T, D>;
  template <typename Context, typename T, int D>
  using type = grid_cells<Method, Context, T, D>;
};

}  // namespace quadrat
