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
};

/// The rows of cells within reach of a point, in any box, each trimmed to the sphere around it where the box is
/// orthorhombic. Rows can be read in any order, so several threads can share the rows of one point. Rounding never
/// loses a pair.
template <typename T, int D>
class layer_rows {
 public:
  /// `point` is wrapped. The cells must outlive this.
  QUADRAT_HD layer_rows(const search_system<T, D>& cells, const vec<T, D>& point, T reach)
      : cells_(cells), range_(cells.reach(point, reach)) {
    constexpr T up = sizeof(T) == 4 ? T(1 + 4e-6) : T(1 + 8e-15);
    squared_reach_ = reach * reach * up;
    for (int axis = 0; axis < D; ++axis) {
      at_[axis] = cells.coordinate(point, axis);
      slack_[axis] = cells.slack_at(at_[axis], axis);
      if (cells.cells[axis] == 0) static_cast<void>(cells.take_index(at_[axis]));
      // The outermost cells of an open axis may hold points from beyond it. Clamping a position to the end only
      // shortens its distance to them.
      if (cells.cells[axis] > 0 && !cells.shape.periodic[axis]) {
        at_[axis] = std::fmin(std::fmax(at_[axis], T(0)), static_cast<T>(cells.cells[axis]));
      }
    }
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
    if (cells_.shape.orthorhombic && !range_.all && !trim(index, first, last)) return {0, -1, {}};
    return stored_run(index, part, first, last);
  }

 private:
  [[nodiscard]] QUADRAT_HD std::uint64_t length(int axis) const {
    const int cells = range_.last[axis] - range_.first[axis];
    return cells >= 0 ? static_cast<std::uint64_t>(cells / cells_.step(range_.all, axis)) + 1 : 0;
  }

  /// Trims a row to the sphere; returns whether any cell is left.
  [[nodiscard]] QUADRAT_HD bool trim(const vec<int, D>& index, int& first, int& last) const {
    T left = squared_reach_;
    for (int axis = 1; axis < D; ++axis) left -= squared_gap(index[axis], axis);
    if (!(left > T(0))) return false;
    const T half = std::sqrt(left) * cells_.cells_per_length[0] + slack_[0];
    const int low = cell_index(at_[0] - half), high = cell_index(at_[0] + half);
    first = first < low ? low : first;
    last = last < high ? last : high;
    return true;
  }

  /// A lower bound on the squared distance along an axis from the point to a layer of cells.
  [[nodiscard]] QUADRAT_HD T squared_gap(int index, int axis) const {
    const T below = static_cast<T>(index) - at_[axis];
    const T gap = std::fmax(std::fmax(below, T(-1) - below) - slack_[axis], T(0)) * cells_.edge[axis];
    return gap * gap;
  }

  /// The cells of a row in one image of the box. Part 1 is the piece beyond the end of the stored cells.
  [[nodiscard]] QUADRAT_HD cell_run<D> stored_run(const vec<int, D>& index, int part, int first, int last) const {
    cell_run<D> run{};
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
    if (range_.all) return {begin, begin + stored - 1, run.shift};
    const std::int64_t from = (number + static_cast<cell_id>(first)) & cells_.mask, to = from + (last - first);
    if (beyond) return {begin, begin + to - stored, run.shift};
    return {begin + from, begin + (to < stored ? to : stored - 1), run.shift};
  }

  [[nodiscard]] QUADRAT_HD int image_of(int index, int axis) const {
    return cells_.shape.periodic[axis] ? floor_division(index, cells_.cells[axis]) : 0;
  }

  const search_system<T, D>& cells_;
  stored_range<D> range_;
  T squared_reach_;
  vec<T, D> at_;
  vec<T, D> slack_;
  int first_image_;
  int parts_;   // parts of a row: one or two for each image of the box
  bool turns_;  // rows continue at the beginning of the stored cells
};

}  // namespace quadrat::detail
