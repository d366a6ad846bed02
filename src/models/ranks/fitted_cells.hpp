// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "quadrat/cells/counting.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// The smallest box around points; none: lower > upper.
template <typename T, int D>
struct extent {
  vec<T, D> lower = vec<T, D>::filled(std::numeric_limits<T>::max());
  vec<T, D> upper = vec<T, D>::filled(std::numeric_limits<T>::lowest());
};

template <typename T, int D>
struct extent_of_point {
  points_view<T, D> points;

  QUADRAT_HD extent<T, D> operator()(std::size_t i) const {
    const vec<T, D> point = points[i];
    return {point, point};
  }
};

struct join_extents {
  template <typename T, int D>
  QUADRAT_HD extent<T, D> operator()(extent<T, D> a, const extent<T, D>& b) const {
    for (int axis = 0; axis < D; ++axis) {
      if (b.lower[axis] < a.lower[axis]) a.lower[axis] = b.lower[axis];
      if (b.upper[axis] > a.upper[axis]) a.upper[axis] = b.upper[axis];
    }
    return a;
  }
};

/// The cell list of a rank, over only the cells of a grid around its particles and ghosts. A list over the whole box
/// would have, on every rank, as many cells as there are particles on all ranks, and clearing, counting and scanning
/// them would take as long as the particles. Particles that have left these cells since are in the nearest ones, where
/// walks find them. Along periodic axes all cells are included.
template <typename Context, typename T, int D>
class fitted_cells {
 public:
  using cell_list = typename cell_methods::counting::type<Context, T, D>;
  using view_type = typename cell_list::view_type;

  /// `reach`: the largest distance of walks.
  fitted_cells(const Context& context, const grid<T, D>& space, T reach)
      : space_(space), reach_(reach), cells_(context, space, options()) {
    for (int axis = 0; axis < D; ++axis) last_[axis] = space.cells[axis] - 1;
  }

  /// Call it if points may be far from those of the last call. Synchronizes.
  void fit(const Context& context, const points_view<T, D>& points) {
    if (points.size() == 0) return;
    const auto around = reduce(context, "ranks.extent", points.size(), extent_of_point<T, D>{points}, join_extents{},
                               extent<T, D>{}, scratch_);
    vec<int, D> first{}, last{};
    for (int axis = 0; axis < D; ++axis) {
      const bool whole = space_.domain.periodic[axis];
      first[axis] = whole ? 0 : space_.wrapped(space_.unwrapped_index(around.lower[axis], axis), axis);
      last[axis] = whole
                       ? space_.cells[axis] - 1
                       : std::max(first[axis], space_.wrapped(space_.unwrapped_index(around.upper[axis], axis), axis));
    }
    if (serves(first, last)) return;
    first_ = first;
    last_ = last;
    cells_ = cell_list(context, part(), options());
  }

  /// Does not wait; allocates to grow.
  void build_async(const points_view<T, D>& points) {
    cells_.reserve(points.size());
    cells_.build_async(points);
  }
  [[nodiscard]] view_type view() const { return cells_.view(); }
  [[nodiscard]] std::size_t bytes() const { return cells_.bytes() + scratch_.bytes(); }

 private:
  [[nodiscard]] cell_list_options<T> options() const { return {.accept_outside = true, .fold_reach = reach_}; }

  /// Whether the present cells also serve: points lie at most one cell outside, and there are only a few extra cells.
  [[nodiscard]] bool serves(const vec<int, D>& first, const vec<int, D>& last) const {
    double needed = 1, there = 1;
    for (int axis = 0; axis < D; ++axis) {
      if (first[axis] < first_[axis] - 1 || last[axis] > last_[axis] + 1) return false;
      needed *= last[axis] - first[axis] + 1;
      there *= last_[axis] - first_[axis] + 1;
    }
    return there <= 1.125 * needed;
  }

  /// A grid of those cells.
  [[nodiscard]] grid<T, D> part() const {
    box<T, D> domain = space_.domain;
    vec<int, D> cells{};
    for (int axis = 0; axis < D; ++axis) {
      cells[axis] = last_[axis] - first_[axis] + 1;
      if (cells[axis] == space_.cells[axis]) continue;
      domain.lower[axis] += static_cast<T>(first_[axis]) * space_.edge(axis);
      domain.length[axis] = static_cast<T>(cells[axis]) * space_.edge(axis);
    }
    return make_grid(domain, cells, any_number_of_cells);
  }

  grid<T, D> space_;
  T reach_;
  vec<int, D> first_{}, last_{};  ///< cells of space_
  cell_list cells_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
