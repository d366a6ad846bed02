// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "quadrat/cells/counting.hpp"
#include "quadrat/cells/detail/build_state.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/search/lattice/image_rows.hpp"

/// A cell list over a box of any shape, for the visitors of visit.hpp, visit_radii.hpp and neighborhood.hpp: triclinic
/// boxes of either handedness, and open axes with points anywhere. It keeps wrapped positions in the order of cells, so
/// that walks read them one after the other, and trims each row of cells to the sphere around the point. The pairs are
/// those of a neighbor_list.
namespace quadrat {

/// A point stored in lattice_cells.
template <typename T, int D>
struct alignas(sizeof(T) == 4 ? 16 : 8) placed_point {
  vec<T, D> position;  ///< wrapped
  particle_id id;
};

/// The device's view. Trivially copyable; valid until the next build.
template <typename T, int D>
struct lattice_cells_view {
  using value_type = T;
  static constexpr int dimension = D;

  lattice<T, D> shape;
  detail::cuboid_grid<T, D> grid;
  const std::uint32_t* offsets;      ///< by cell, and the end: grid.cell_count() + 1
  const placed_point<T, D>* points;  ///< by slot: count
  T largest_cutoff;
  std::size_t count;

  [[nodiscard]] QUADRAT_HD particle_id particle(std::uint32_t slot) const { return points[slot].id; }

  /// Calls f(j, separation, squared distance) for each particle nearer to `point` than the cutoff, particles at the
  /// point included. The separation is points[j] + S . vectors - point, of wrapped positions.
  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_near(const vec<T, D>& point, T cutoff, F&& f) const {
    vec<int, D> boxes{};
    const vec<T, D> here = shape.wrap(point, boxes);
    const T squared_cutoff = cutoff * cutoff;
    const detail::image_rows<T, D> walk(grid, offsets, here, cutoff);
    walk.for_each_image([&](const vec<int, D>& shift) {
      const vec<T, D> translation = shape.translation(shift);
      walk.for_each_range(shift, [&](const detail::row_range<D>& range) {
        for (std::uint32_t slot = range.first; slot < range.last; ++slot) {
          const placed_point<T, D> other = points[slot];
          const vec<T, D> separation = (other.position - here) + translation;
          const T squared_distance = squared_norm(separation);
          if (squared_distance < squared_cutoff) f(other.id, separation, squared_distance);
        }
      });
    });
  }

  /// Throws argument_error unless the cutoff is positive, finite, and at most that of the cells.
  void require_cutoff(T cutoff) const {
    require(cutoff > T(0) && cutoff <= largest_cutoff, "the cutoff is ", cutoff,
            "; it must be positive, and at most that of the cells, ", largest_cutoff);
  }
};

template <typename T>
struct lattice_cells_options {
  /// The largest cutoff of walks, which is about the edge of cells.
  T cutoff = T(0);
  /// Accepts points outside the box along open axes, anywhere.
  bool accept_outside = false;
};

/// Points in the cells of a box of any shape. Built again whenever points move. Movable. T: float or double; D: 2 or 3;
/// Context: cpu_context or cuda_context. Memory: 24 bytes (40 in double and 3D) for each point, and 4 for each cell, of
/// which there are at most four for each point.
///
/// Determinism: slots, and so the order of walks, are the same in every run if the context requires it.
template <typename Context, typename T, int D>
class lattice_cells {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  using view_type = lattice_cells_view<T, D>;

  /// Throws argument_error for a cutoff that is not positive and finite, or that exceeds half the height of the box
  /// along a periodic axis.
  lattice_cells(const Context& context, const lattice<T, D>& shape, const lattice_cells_options<T>& options);

  /// Puts the points into cells, wrapped along periodic axes; ids are their indices, from 0. Waits. May allocate.
  /// Throws argument_error for an invalid view, and data_error naming a point that is not finite, outside the box along
  /// an open axis (unless that is accepted), or more than 2^20 boxes away along a periodic one. After an exception the
  /// cells are unusable until the next build.
  void build(const points_view<T, D>& points);
  /// The same, but does not wait. Allocates nothing in the memory of the context. Can be captured. `check` reports
  /// invalid points, which must not change until then. Also throws argument_error if there is no room for the points.
  void build_async(const points_view<T, D>& points);
  /// Makes room for the next build of as many points; `build` does so itself. Does not wait. May allocate; then the
  /// last build is lost. Throws argument_error for too many points.
  void reserve(std::size_t points);

  /// Waits. Allocates nothing. Throws the data_error of build_async, for all such calls since the last check or
  /// `build`; again at every call until the next build.
  void check();

  /// Throws argument_error when nothing has been built, or the last check has thrown.
  [[nodiscard]] view_type view() const {
    state_.require_usable();
    return {shape_, cut_.grid, buckets_.view().offsets, placed_.data(), options_.cutoff, placed_.size()};
  }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] std::size_t bytes() const { return buckets_.bytes() + placed_.bytes() + state_.bytes(); }

 private:
  /// A grid cut for this many points; 0: there is none.
  struct cut {
    detail::cuboid_grid<T, D> grid{};
    std::size_t points = 0;
  };
  /// The grid for a build of this many points.
  [[nodiscard]] cut cut_for(std::size_t points) const;

  lattice<T, D> shape_;
  lattice_cells_options<T> options_;
  cut cut_;
  points_view<T, D> points_{};
  counting_buckets<Context> buckets_;
  array<placed_point<T, D>, Context> placed_;
  detail::build_state<Context> state_;
};

/// Cells for neighbors nearer than the cutoff in a box of any shape. Context, precision and dimension are deduced from
/// the arguments: `make_lattice_cells(context, shape, {.cutoff = 0.1f})`. Throws argument_error for impossible options.
template <typename Context, typename T, int D>
[[nodiscard]] lattice_cells<Context, T, D> make_lattice_cells(
    const Context& context, const lattice<T, D>& shape, const lattice_cells_options<std::type_identity_t<T>>& options) {
  return {context, shape, options};
}
template <typename Context, typename T, int D>
[[nodiscard]] lattice_cells<Context, T, D> make_lattice_cells(
    const Context& context, const box<T, D>& domain, const lattice_cells_options<std::type_identity_t<T>>& options) {
  return {context, make_lattice(domain), options};
}

}  // namespace quadrat
