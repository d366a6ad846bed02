// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/search/lattice/system.hpp"

namespace quadrat::detail {

/// Successive cells, and their image; empty if `last` is before `first`.
template <int D>
struct cell_run {
  std::int64_t first;
  std::int64_t last;
  vec<int, D> shift;
};

/// The rows of cells within reach of a point, in any box, each trimmed to the sphere around it where the box is
/// orthorhombic. Rows can be read in any order, so that several threads can share those of one point. Everything is
/// rounded so that no pair is lost.
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
      int repeat = 0;
      if (cells.repeats[axis] == 0) at_[axis] = cells.folded(at_[axis], axis, repeat);
      // Cells at the end of an open axis may hold points from beyond, if the caller allows them: from the end on,
      // distances to them can only have been longer.
      if (cells.repeats[axis] == 1 && !cells.shape.periodic[axis]) {
        at_[axis] = std::fmin(std::fmax(at_[axis], T(0)), static_cast<T>(cells.cells[axis]));
      }
    }
    const int n = cells.cells[0];
    first_repeat_ = floor_division(range_.first[0], n);
    parts_ = floor_division(range_.last[0], n) - first_repeat_ + 1;
    // If all stored cells are in the range, they are in the order of storage, not of the axis.
    trims_along_row_ = !(cells.repeats[0] == 0 && range_.first[0] == 0 && range_.last[0] == n - 1);
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
    index[1] = range_.first[1] + static_cast<int>(number % length(1));
    if constexpr (D == 3) index[2] = range_.first[2] + static_cast<int>(number / length(1));
    int first = range_.first[0], last = range_.last[0];
    if (cells_.shape.orthorhombic && !trim(index, first, last)) return {0, -1, {}};
    return stored_run(index, first_repeat_ + part, first, last);
  }

 private:
  [[nodiscard]] QUADRAT_HD std::uint64_t length(int axis) const {
    const int cells = range_.last[axis] - range_.first[axis] + 1;
    return cells > 0 ? static_cast<std::uint64_t>(cells) : 0;
  }

  /// Leaves of a row what is within the sphere; returns whether there is anything.
  [[nodiscard]] QUADRAT_HD bool trim(const vec<int, D>& index, int& first, int& last) const {
    T left = squared_reach_;
    for (int axis = 1; axis < D; ++axis) left -= squared_gap(index[axis], axis);
    if (!(left > T(0))) return false;
    if (!trims_along_row_) return true;
    const T half = std::sqrt(left) * cells_.cells_per_length[0] + slack_[0];
    const int low = cells_.unwrapped_index(at_[0] - half), high = cells_.unwrapped_index(at_[0] + half);
    first = first < low ? low : first;
    last = last < high ? last : high;
    return true;
  }

  /// A lower bound on the squared distance along an axis from the point to a layer of cells.
  [[nodiscard]] QUADRAT_HD T squared_gap(int index, int axis) const {
    const T below = static_cast<T>(index) - at_[axis];
    T cells = std::fmax(below, T(-1) - below);
    if (cells_.repeats[axis] == 0) {
      // Where all stored cells are in the range, another repeat of the layer may be nearer.
      const T n = static_cast<T>(cells_.cells[axis]);
      cells = std::fmin(cells, n - T(1) - std::fmax(cells, T(0)));
    }
    const T gap = std::fmax(cells - slack_[axis], T(0)) * cells_.edge[axis];
    return gap * gap;
  }

  /// What one repeat of the stored cells holds of a row.
  [[nodiscard]] QUADRAT_HD cell_run<D> stored_run(const vec<int, D>& index, int repeat, int first, int last) const {
    cell_run<D> run{};
    cell_id begin = 0;
    for (int axis = D - 1; axis > 0; --axis) {
      const int home = stored(index[axis], axis, run.shift);
      begin = begin * static_cast<cell_id>(cells_.cells[axis]) + static_cast<cell_id>(home);
    }
    const int n = cells_.cells[0];
    begin = cells_.first_cell + begin * static_cast<cell_id>(n);
    run.shift[0] = image_of(repeat, 0);
    const int from = first - repeat * n, to = last - repeat * n;
    run.first = static_cast<std::int64_t>(begin) + (from > 0 ? from : 0);
    run.last = static_cast<std::int64_t>(begin) + (to < n - 1 ? to : n - 1);
    return run;
  }

  [[nodiscard]] QUADRAT_HD int image_of(int repeat, int axis) const {
    if (cells_.repeats[axis] == 1) return repeat;
    return cells_.repeats[axis] == 0 ? 0 : floor_division(repeat, cells_.repeats[axis]);
  }
  [[nodiscard]] QUADRAT_HD int stored(int index, int axis, vec<int, D>& shift) const {
    if (!cells_.shape.periodic[axis] && cells_.repeats[axis] == 1) return index;
    const int repeat = floor_division(index, cells_.cells[axis]);
    shift[axis] = image_of(repeat, axis);
    return index - repeat * cells_.cells[axis];
  }

  const search_system<T, D>& cells_;
  cell_range<D> range_;
  T squared_reach_;
  vec<T, D> at_;
  vec<T, D> slack_;
  int first_repeat_;
  int parts_;  // of a row: repeats of the stored cells
  bool trims_along_row_;
};

}  // namespace quadrat::detail
