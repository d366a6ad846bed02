// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/lattice_cells.hpp"

#include <span>

#include "cells/build_and_check.hpp"
#include "cells/counting_build.hpp"
#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "core/reduced_lattice.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "search/cells.hpp"
#include "search/checks.hpp"
#include "search/grid_keys.hpp"
#include "search/point_complaint.hpp"

namespace quadrat {

namespace detail {

/// Index: slot.
template <typename T, int D>
struct place_in_lattice {
  points_view<T, D> points;
  lattice<T, D> shape;
  const particle_id* elements;
  placed_point<T, D>* placed;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = elements[slot];
    vec<int, D> boxes{};
    placed[slot] = {shape.wrap(points[id], boxes), id};
  }
};

}  // namespace detail

template <typename Context, typename T, int D>
lattice_cells<Context, T, D>::lattice_cells(const Context& context, const lattice<T, D>& shape,
                                            const lattice_cells_options<T>& options)
    : shape_(detail::reduced(shape, false).shape), options_(options), state_(context) {
  detail::check_cutoff(shape_, options.cutoff);
}

template <typename Context, typename T, int D>
auto lattice_cells<Context, T, D>::cut_for(std::size_t points) const -> cut {
  // One grid serves from half to twice the points.
  if (cut_.points > 0 && points <= 2 * cut_.points && cut_.points <= 2 * points) return cut_;
  const detail::cuboid_grid_request<T> wanted{options_.cutoff, options_.cutoff, detail::most_cells(points),
                                              options_.accept_outside};
  return {detail::make_cuboid_grids<T, D>(std::span<const lattice<T, D>>(&shape_, 1), wanted).front(),
          points > 0 ? points : 1};
}

template <typename Context, typename T, int D>
void lattice_cells<Context, T, D>::reserve(std::size_t points) {
  detail::require_count(points, "points");
  const std::size_t cells = cut_for(points).grid.cell_count();
  state_.reserve(points, cells, [&](std::size_t elements, std::size_t buckets) {
    buckets_.reserve(state_.context(), elements, buckets);
    placed_.resize_discarding(state_.context(), elements);
  });
}

template <typename Context, typename T, int D>
void lattice_cells<Context, T, D>::build(const points_view<T, D>& points) {
  detail::build_and_check(*this, state_, points, [&] { build_async(points); });
}

template <typename Context, typename T, int D>
void lattice_cells<Context, T, D>::build_async(const points_view<T, D>& points) {
  detail::require_points(points, "points");
  const std::size_t count = points.count;
  const cut wanted = cut_for(count);
  state_.begin(count, wanted.grid.cell_count(), "points");
  cut_ = wanted;
  points_ = points;
  const Context& context = state_.context();
  placed_.resize_discarding(context, count);
  detail::grid_key_of_one<T, D> key{};
  key.key.search.points = points;
  key.key.accept_outside = options_.accept_outside;
  key.key.faults = state_.flag();
  key.system.shape = shape_;
  key.grid = cut_.grid;
  buckets_.build(context, count, cut_.grid.cell_count(), key, key.key.faults);
  for_each(context, "search.place_in_lattice", count,
           detail::place_in_lattice<T, D>{points, shape_, buckets_.view().elements, placed_.data()});
}

template <typename Context, typename T, int D>
void lattice_cells<Context, T, D>::check() {
  const fault_report found = state_.check();
  if (found.kind == fault_kind::none) return;
  if (found.index >= points_.count) {
    throw data_error(message("point ", found.index, " of an earlier build was not finite or outside of its box"));
  }
  throw data_error(detail::point_complaint(state_.context(), shape_, points_, "point ", found.index), found.index);
}

template class lattice_cells<backend_context, float, 2>;
template class lattice_cells<backend_context, float, 3>;
template class lattice_cells<backend_context, double, 2>;
template class lattice_cells<backend_context, double, 3>;

}  // namespace quadrat
