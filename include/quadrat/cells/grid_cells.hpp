// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "quadrat/cells/carry.hpp"
#include "quadrat/cells/concepts.hpp"
#include "quadrat/cells/detail/build_state.hpp"
#include "quadrat/cells/detail/foldable_grid.hpp"
#include "quadrat/cells/keys.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat {

/// Options of cell lists besides the grid. Each method uses those that it needs and ignores the rest.
template <typename T>
struct cell_list_options {
  /// Half-width of a particle's bounding box, in the unit of the positions. linked_loose_low_vertex and linked_tight
  /// need it.
  T radius = T(0);
  /// Capacity of a cell of `fixed` and `fixed_row_major`, in particles. 0: 12 + 2 m + 4 sqrt(m), rounded up to a
  /// multiple of 4, where m is the mean number of particles per cell at each build: enough for points that are spread
  /// evenly or fill half of the box, too little for clusters.
  std::uint32_t fixed_capacity = 0;
  /// Whether points may lie outside the box along open axes. They are then stored in the nearest cell. `grid::reach`
  /// ends at the same cells, so walks find all their neighbors. Many points far outside crowd that cell. If false, such
  /// a point is a fault; for linked_tight it always is.
  bool accept_outside = false;
  /// If positive, the largest distance of walks over the list. A grid with more than 16 cells per point is then folded
  /// (core/folding.hpp) at each build, to about 4, so that time and memory follow the points, and it may have any
  /// number of cells. make_cells sets it if it makes the grid. 0: every cell is stored. `hashed` stores occupied cells
  /// in any case.
  T fold_reach = T(0);
};

/// The device's view of a cell list: the grid, the numbering of cells, the anchor of particles, and the buckets.
/// Trivially copyable; valid until the next build.
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

  /// First slot of a cell, and one past its last; equal if the cell is empty.
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
  /// The slots of the cells numbered `first` to `last`, inclusive.
  [[nodiscard]] QUADRAT_HD slot_range run_of_cells(cell_id first, cell_id last) const
    requires requires { buckets.run(first, last); }
  {
    return buckets.run(first, last);
  }
  /// The particle in a slot.
  [[nodiscard]] QUADRAT_HD particle_id particle(std::uint32_t slot) const
    requires ranged_buckets<Buckets>
  {
    return buckets.particle(slot);
  }
};

/// A cell list: particles in the cells of a grid, each stored once. `Method` is its descriptor, see grid_cells_method.
/// Constructed once, for its context, and rebuilt whenever particles move. Movable. Instantiated in the library for
/// float and double in 2 and 3 dimensions. It has no size(): space().size() is the number of cells.
/// Determinism: as the buckets of the method.
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

  /// Allocates two words. Throws argument_error if an option is impossible or the numbering would exceed 2^31 - 1.
  grid_cells(const Context& context, const grid<T, D>& space, const cell_list_options<T>& options = {});

  /// Puts the points into cells; ids are their indices, from 0. Points are wrapped along periodic axes. Waits. May
  /// allocate. Throws argument_error for an invalid view; data_error naming the first point that is not finite or
  /// outside the box along an open axis (unless that is accepted), or overflow_error with the capacity that would have
  /// sufficed. After these two the cell list is unusable until it is rebuilt. Invalid points never cause access outside
  /// an array.
  void build(const points_view<T, D>& points);
  /// The same, but does not wait. Allocates nothing. Can be captured. `check` reports invalid points, which must not
  /// change until then. Throws argument_error for an invalid view, or if there is no room for the points.
  void build_async(const points_view<T, D>& points);

  /// Like `build`, and copies up to 8 arrays of particle data into the order of slots: to[slot] = from[particle(slot)].
  /// Waits. May allocate. Also throws argument_error for an invalid array.
  void build_and_carry(const points_view<T, D>& points, std::span<const carried_array> arrays)
    requires buckets_type::carries_data;
  /// The same as build_async. Does not wait. Allocates nothing. Can be captured.
  void build_and_carry_async(const points_view<T, D>& points, std::span<const carried_array> arrays)
    requires buckets_type::carries_data;

  /// Makes room for builds of as many points; `build` does so itself. Does not wait. May allocate; then the last build
  /// is lost. Also suffices for builds of fewer points, except where a folded grid has more cells for these. Throws
  /// argument_error for too many points.
  void reserve(std::size_t points);

  /// Waits. Allocates nothing. Throws what `build` throws for the points of build_async, for all such calls since the
  /// last check or `build`; again at every call until the next build. Replays of a captured build are not such calls:
  /// after an error, build before you launch the graph again.
  void check();

  /// Throws argument_error when nothing has been built, or the last check has thrown.
  [[nodiscard]] view_type view() const {
    state_.require_usable();
    return {space_.current(), numbering_, anchor_, buckets_.view()};
  }
  /// The grid in use; folded, if at all, for the points of the last build.
  [[nodiscard]] const grid<T, D>& space() const { return space_.current(); }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] std::size_t bytes() const { return buckets_.bytes() + state_.bytes(); }

 private:
  using key_type = cell_key<T, D, numbering_type, anchor_type>;

  /// The grid and numbering for a build of this many points.
  struct fit {
    grid<T, D> space;
    numbering_type numbering;
  };
  [[nodiscard]] fit fitted(std::size_t points) const;
  [[nodiscard]] key_type begin_build(const points_view<T, D>& points);

  anchor_type anchor_;
  detail::foldable_grid<T, D> space_;
  numbering_type numbering_;
  buckets_type buckets_;
  detail::point_build_state<Context, T, D> state_;
  bool accept_outside_;
};

/// The load for which the expected time of a cell list is computed: a build that also carries positions and velocities,
/// if the list can, and a walk through the 27 cells around each of `points` particles, about 4 per cell.
struct cell_load {
  bool cuda;
  double points;
};

/// The base of the descriptors of all cell lists: they run on both backends, and the particles of a cell are in
/// increasing order if the context requires it. The automatic choice considers descriptors with
/// `static double cost(const cell_load&)`, the expected milliseconds.
struct cell_list_method {
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::canonical;
  /// The most cells of the finest grid that make_cells chooses; larger grids are folded.
  static constexpr std::uint64_t most_cells = any_number_of_cells;
};

/// The base of the descriptors of cell lists that are grid_cells. A descriptor has a name, a summary (one line), and
/// `buckets<Context>`, which stores the particles of cells. It may have another `numbering<D>` of cells
/// (core/curves.hpp), or another `anchor<T, D>`: the point whose cell stores a particle (keys.hpp).
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
