// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/search/lattice/system.hpp"

namespace quadrat::detail {

/// Successive cells of one image; empty if `last` is before `first`.
template <int D>
struct cell_run {
  std::int64_t first;
  std::int64_t last;
  vec<int, D> shift;
  vec<int, D> index;  ///< of the first cell, unwrapped; of all stored cells undefined
};

/// The cells within reach of one wrapped point, or of several that are close together.
template <typename T, int D>
struct group_reach {
  stored_range<D> range;
  vec<T, D> lower, upper;  ///< bounds of the points, in cells; along axes without end, from their own cell on
  vec<T, D> slack;         ///< of all points

  [[nodiscard]] QUADRAT_HD static group_reach of_point(const search_system<T, D>& cells, const vec<T, D>& point,
                                                       T reach) {
    group_reach one{cells.reach(point, reach), {}, {}, {}};
    for (int axis = 0; axis < D; ++axis) {
      T at = cells.coordinate(point, axis);
      one.slack[axis] = cells.slack_at(at, axis);
      if (cells.cells[axis] == 0) static_cast<void>(cells.take_index(at));
      // The outermost cells of an open axis may hold points from beyond it. Clamping a position to the end only
      // shortens its distance to them.
      if (cells.cells[axis] > 0 && !cells.shape.periodic[axis]) {
        at = std::fmin(std::fmax(at, T(0)), static_cast<T>(cells.cells[axis]));
      }
      one.lower[axis] = one.upper[axis] = at;
    }
    return one;
  }
  /// Whether a point may join: it is at most `span` cells away along each axis, and no stored cell comes twice.
  [[nodiscard]] QUADRAT_HD bool takes(const search_system<T, D>& cells, const group_reach& point,
                                      const vec<int, D>& span) const {
    bool close = range.home == point.range.home && range.all == point.range.all;
    for (int axis = 0; axis < D; ++axis) {
      const int first = point.range.first[axis] - range.first[axis], last = point.range.last[axis] - range.last[axis];
      close = close && first >= -span[axis] && first <= span[axis] && last >= -span[axis] && last <= span[axis];
      const int length = range.last[axis] - range.first[axis] + 2 * span[axis] + 1;
      close = close && (range.all || static_cast<T>(length) <= 2 * cells.distinct[axis]);
    }
    return close;
  }
  QUADRAT_HD void join(const group_reach& other) {
    for (int axis = 0; axis < D; ++axis) {
      range.first[axis] = other.range.first[axis] < range.first[axis] ? other.range.first[axis] : range.first[axis];
      range.last[axis] = other.range.last[axis] > range.last[axis] ? other.range.last[axis] : range.last[axis];
      lower[axis] = std::fmin(lower[axis], other.lower[axis]);
      upper[axis] = std::fmax(upper[axis], other.upper[axis]);
      slack[axis] = std::fmax(slack[axis], other.slack[axis]);
    }
  }
};

/// The region around a point that holds its partners: a sphere, or a cylinder along the last axis.
template <typename T>
struct pair_region {
  T reach;         ///< no partner is farther away
  T radius;        ///< of the sphere or cylinder
  T depth = T(0);  ///< half the length of the cylinder; 0: a sphere
};

/// The rows of cells within reach of points, in any box, each trimmed to the region around them where the box is
/// orthorhombic. Rows can be read in any order, so several threads can share the rows of one point. Rounding never
/// loses a pair.
template <typename T, int D>
class layer_rows {
 public:
  /// `point` is wrapped. The cells must outlive this.
  QUADRAT_HD layer_rows(const search_system<T, D>& cells, const vec<T, D>& point, T reach)
      : layer_rows(cells, group_reach<T, D>::of_point(cells, point, reach), {reach, reach}) {}
  QUADRAT_HD layer_rows(const search_system<T, D>& cells, const group_reach<T, D>& group, const pair_region<T>& region)
      : cells_(cells), range_(group.range), bounds_{group.lower, group.upper, group.slack} {
    constexpr T up = sizeof(T) == 4 ? T(1 + 4e-6) : T(1 + 8e-15);
    squared_radius_ = region.radius * region.radius * up;
    squared_depth_ = region.depth * region.depth * up;
    first_image_ = image_of(range_.first[0], 0);
    parts_ = image_of(range_.last[0], 0) - first_image_ + 1;
    turns_ = cells.turns(range_);
    if (turns_) parts_ *= 2;
  }

  [[nodiscard]] QUADRAT_HD std::uint64_t count() const {
    std::uint64_t product = static_cast<std::uint64_t>(parts_);
    for (int axis = 1; axis < D; ++axis) product *= length(axis);
    return product;
  }

  /// Number: from 0 to count() - 1. Some are empty.
  [[nodiscard]] QUADRAT_HD cell_run<D> operator[](std::uint64_t number) const {
    vec<int, D> index{};
    const auto part = static_cast<int>(number % static_cast<std::uint64_t>(parts_));
    number /= static_cast<std::uint64_t>(parts_);
    index[1] = range_.first[1] + static_cast<int>(number % length(1)) * cells_.step(range_.all, 1);
    if constexpr (D == 3) {
      index[2] = range_.first[2] + static_cast<int>(number / length(1)) * cells_.step(range_.all, 2);
    }
    int first = range_.first[0], last = range_.last[0];
    if (trims() && !trim(bounds_, index, first, last)) return {0, -1, {}, {}};
    return stored_run(index, part, first, last);
  }

  /// The part of a run that is within reach of one point of the group.
  [[nodiscard]] QUADRAT_HD cell_run<D> part_for(const group_reach<T, D>& point, cell_run<D> run) const {
    if (!trims()) return run;
    int first = run.index[0], last = first + static_cast<int>(run.last - run.first);
    if (!trim({point.lower, point.upper, point.slack}, run.index, first, last)) return {0, -1, {}, {}};
    run.last = run.first + (last - run.index[0]);
    run.first += first - run.index[0];
    return run;
  }

 private:
  [[nodiscard]] QUADRAT_HD std::uint64_t length(int axis) const {
    const int cells = range_.last[axis] - range_.first[axis];
    return cells >= 0 ? static_cast<std::uint64_t>(cells / cells_.step(range_.all, axis)) + 1 : 0;
  }

  struct bounds {
    vec<T, D> lower, upper, slack;
  };

  [[nodiscard]] QUADRAT_HD bool trims() const { return cells_.shape.orthorhombic && !range_.all; }

  /// Trims a row to the region around points; returns whether any cell is left.
  [[nodiscard]] QUADRAT_HD bool trim(const bounds& points, const vec<int, D>& index, int& first, int& last) const {
    T left = squared_radius_;
    for (int axis = 1; axis < D; ++axis) {
      const T gap = squared_gap(points, index[axis], axis);
      if (axis == D - 1 && squared_depth_ > T(0)) {
        if (gap > squared_depth_) return false;
      } else {
        left -= gap;
      }
    }
    if (!(left > T(0))) return false;
    const T half = std::sqrt(left) * cells_.cells_per_length[0] + points.slack[0];
    const int low = cell_index(points.lower[0] - half), high = cell_index(points.upper[0] + half);
    first = first < low ? low : first;
    last = last < high ? last : high;
    return true;
  }

  /// A lower bound on the squared distance along an axis from the points to a layer of cells.
  [[nodiscard]] QUADRAT_HD T squared_gap(const bounds& points, int index, int axis) const {
    const T below = static_cast<T>(index) - points.upper[axis];
    const T above = points.lower[axis] - static_cast<T>(index) - T(1);
    const T gap = std::fmax(std::fmax(below, above) - points.slack[axis], T(0)) * cells_.edge[axis];
    return gap * gap;
  }

  /// The cells of a row in one image of the box. Part 1 is the piece beyond the end of the stored cells.
  [[nodiscard]] QUADRAT_HD cell_run<D> stored_run(const vec<int, D>& index, int part, int first, int last) const {
    cell_run<D> run{};
    run.index = index;
    cell_id number = range_.home;
    for (int axis = 1; axis < D; ++axis) {
      run.shift[axis] = image_of(index[axis], axis);
      number += static_cast<cell_id>(index[axis] - run.shift[axis] * cells_.cells[axis]) * cells_.strides[axis];
    }
    const bool beyond = turns_ && part % 2 == 1;
    if (cells_.shape.periodic[0]) {
      const int n = cells_.cells[0];
      run.shift[0] = first_image_ + (turns_ ? part / 2 : part);
      first = first > run.shift[0] * n ? first - run.shift[0] * n : 0;
      last = last - run.shift[0] * n < n - 1 ? last - run.shift[0] * n : n - 1;
    }
    const std::int64_t begin = cells_.first_cell, stored = cells_.count;
    if (range_.all) return {begin, begin + stored - 1, run.shift, index};
    const std::int64_t from = (number + static_cast<cell_id>(first)) & cells_.mask, to = from + (last - first);
    run.index[0] = first + (cells_.shape.periodic[0] ? run.shift[0] * cells_.cells[0] : 0);
    if (beyond) {
      run.index[0] += static_cast<int>(stored - from);
      return {begin, begin + to - stored, run.shift, run.index};
    }
    return {begin + from, begin + (to < stored ? to : stored - 1), run.shift, run.index};
  }

  [[nodiscard]] QUADRAT_HD int image_of(int index, int axis) const {
    return cells_.shape.periodic[axis] ? floor_division(index, cells_.cells[axis]) : 0;
  }

  const search_system<T, D>& cells_;
  stored_range<D> range_;
  T squared_radius_;
  T squared_depth_;
  bounds bounds_;
  int first_image_;
  int parts_;   // parts of a row: one or two for each image of the box
  bool turns_;  // rows continue at the beginning of the stored cells
};

}  // namespace quadrat::detail
