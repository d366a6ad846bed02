// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "quadrat/core/box.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat {

/// An inclusive range of cell indices along one axis.
struct index_range {
  int first;
  int last;
};

/// An inclusive range of cell indices per axis. On a periodic axis the indices may lie outside [0, cells): they are
/// unwrapped, and `grid::wrapped` maps each into the grid. Never holds the same cell twice.
template <int D>
struct cell_range {
  vec<int, D> first;
  vec<int, D> last;
};

/// A uniform grid over a box: `cells[axis]` equal cells along each axis.
///
/// The cell of a point is floor((x - lower) / edge): right for negative coordinates; the upper face of an open axis
/// belongs to the last cell; periodic axes wrap. The cell index never decreases as a coordinate grows, even in floating
/// point, which is what makes `reach` exact.
template <typename T, int D>
struct grid {
  box<T, D> domain;
  vec<int, D> cells;
  vec<T, D> inverse_edge;
  /// Bound on the rounding of a periodic shift and of x + distance, per axis; `reach` widens by it.
  vec<T, D> slack;

  [[nodiscard]] QUADRAT_HD T edge(int axis) const { return domain.length[axis] / static_cast<T>(cells[axis]); }

  /// Number of cells.
  [[nodiscard]] QUADRAT_HD std::size_t size() const {
    std::size_t product = 1;
    for (int axis = 0; axis < D; ++axis) product *= static_cast<std::size_t>(cells[axis]);
    return product;
  }

  /// Index along an axis before clamping or wrapping, saturated to +-2^30. NaN gives 0.
  [[nodiscard]] QUADRAT_HD int unwrapped_index(T x, int axis) const {
    constexpr T bound = T(1 << 30);
    const T index = std::floor((x - domain.lower[axis]) * inverse_edge[axis]);
    if (!(index > -bound)) return index <= -bound ? -(1 << 30) : 0;
    return index < bound ? static_cast<int>(index) : (1 << 30);
  }

  /// The index inside [0, cells): wrapped on a periodic axis, clamped on an open one.
  [[nodiscard]] QUADRAT_HD int wrapped(int index, int axis) const {
    const int n = cells[axis];
    if (!domain.periodic[axis]) return index < 0 ? 0 : (index >= n ? n - 1 : index);
    if (index >= 0 && index < n) return index;
    const int rest = index % n;
    return rest < 0 ? rest + n : rest;
  }

  /// The cell of a point; a point outside an open axis gets the nearest cell, and NaN the first.
  [[nodiscard]] QUADRAT_HD vec<int, D> cell_of(const vec<T, D>& point) const {
    vec<int, D> cell{};
    for (int axis = 0; axis < D; ++axis) cell[axis] = wrapped(unwrapped_index(point[axis], axis), axis);
    return cell;
  }

  /// All cells that can hold a point closer than `distance` to this one: for edge == distance, 3 along each axis (4 for
  /// a point within rounding of a face); 2 or fewer where cells are larger or the box ends. Exact in floating point: a
  /// pair of points inside the box whose computed squared distance is below distance^2 is never missed.
  [[nodiscard]] QUADRAT_HD cell_range<D> reach(const vec<T, D>& point, T distance) const {
    cell_range<D> range{};
    for (int axis = 0; axis < D; ++axis) {
      const index_range along = reach_along(point[axis], distance, axis);
      range.first[axis] = along.first;
      range.last[axis] = along.last;
    }
    return range;
  }

  /// The same along one axis: all indices of points closer than `distance` to x along that axis.
  [[nodiscard]] QUADRAT_HD index_range reach_along(T x, T distance, int axis) const {
    const T margin = distance + slack[axis];
    return clipped({unwrapped_index(x - margin, axis), unwrapped_index(x + margin, axis)}, axis);
  }

  /// `wrapped` without a division, for the indices of a range that `reach`, `reach_along` or `moore_neighborhood` gave.
  [[nodiscard]] QUADRAT_HD int home(int index, int axis) const {
    const int n = cells[axis];
    if (index < 0) return index + n;
    return index < n ? index : index - n;
  }

  /// The cell and its neighbors, 3 along each axis where the grid has at least 3 cells; each distinct cell once.
  [[nodiscard]] QUADRAT_HD cell_range<D> moore_neighborhood(const vec<int, D>& cell) const {
    cell_range<D> range{};
    for (int axis = 0; axis < D; ++axis) {
      const index_range along = clipped({cell[axis] - 1, cell[axis] + 1}, axis);
      range.first[axis] = along.first;
      range.last[axis] = along.last;
    }
    return range;
  }

 private:
  [[nodiscard]] QUADRAT_HD index_range clipped(const index_range& range, int axis) const {
    if (!domain.periodic[axis]) return {wrapped(range.first, axis), wrapped(range.last, axis)};
    // Saturated indices are 2^31 apart.
    const std::int64_t width = std::int64_t{range.last} - range.first + 1;
    return width >= cells[axis] ? index_range{0, cells[axis] - 1} : range;
  }
};

namespace detail {

/// "4 x 5 x 6", for messages.
template <int D>
[[nodiscard]] std::string joined_counts(const vec<int, D>& cells) {
  std::string text = std::to_string(cells[0]);
  for (int axis = 1; axis < D; ++axis) text += " x " + std::to_string(cells[axis]);
  return text;
}

}  // namespace detail

/// The most cells along one axis: indices of cells are computed up to 2^30.
inline constexpr int max_cells_along_axis = 1'000'000'000;

/// A grid with the given number of cells per axis. Throws argument_error when a count is below 1 or above
/// max_cells_along_axis, the product exceeds `most_cells`, or a cell is so thin that the inverse of its edge is not
/// finite. Grids of more than 2^31 - 1 cells, up to max_sparse_count, are for the cell list `hashed`; all other
/// structures refuse them.
template <typename T, int D>
[[nodiscard]] grid<T, D> make_grid(const box<T, D>& domain, const vec<int, D>& cells,
                                   std::uint64_t most_cells = max_count) {
  grid<T, D> result{};
  result.domain = domain;
  result.cells = cells;
  double total = 1;
  for (int axis = 0; axis < D; ++axis) {
    require(cells[axis] >= 1, "cells along axis ", axis, " is ", cells[axis], "; at least 1 is needed");
    require(cells[axis] <= max_cells_along_axis, "cells along axis ", axis, " is ", cells[axis], "; at most ",
            max_cells_along_axis, " are possible");
    total *= cells[axis];
    result.inverse_edge[axis] = static_cast<T>(cells[axis]) / domain.length[axis];
    require(std::isfinite(result.inverse_edge[axis]), "the box has length ", domain.length[axis], " along axis ", axis,
            "; it is too thin for ", cells[axis], " cells");
    const T scale = std::fmax(std::fabs(domain.lower[axis]), std::fabs(domain.upper(axis)));
    result.slack[axis] = 8 * std::numeric_limits<T>::epsilon() * (scale + domain.length[axis]);
  }
  require(total <= static_cast<double>(most_cells), "the grid has ", detail::joined_counts(cells), " cells; at most ",
          most_cells, " are possible");
  return result;
}

/// The finest grid whose cells are not smaller than the cutoff, at least one cell per axis; coarser where that would
/// exceed `most_cells` cells, or 1e9 along an axis. `hashed` takes grids of up to max_sparse_count cells, the other
/// cell lists of up to max_count. Throws argument_error unless the cutoff is positive and finite and `most_cells` is
/// from 1 to max_sparse_count.
template <typename T, int D>
[[nodiscard]] grid<T, D> make_grid_for_cutoff(const box<T, D>& domain, T cutoff,
                                              std::uint64_t most_cells = std::uint64_t{1} << 27) {
  require(cutoff > T(0) && std::isfinite(cutoff), "the cutoff is ", cutoff, "; it must be positive and finite");
  require(most_cells >= 1 && most_cells <= max_sparse_count, "a grid of at most ", most_cells,
          " cells was asked for; 1 to ", max_sparse_count, " are possible");
  vec<int, D> cells{};
  for (double edge = static_cast<double>(cutoff);; edge *= 1.25) {
    double total = 1;
    for (int axis = 0; axis < D; ++axis) {
      const double count = std::floor(static_cast<double>(domain.length[axis]) / edge);
      cells[axis] = static_cast<int>(std::fmin(std::fmax(count, 1.0), max_cells_along_axis));
      total *= cells[axis];
    }
    if (total <= static_cast<double>(most_cells)) break;
  }
  return make_grid(domain, cells, most_cells);
}

/// Throws argument_error when the cutoff is not positive and finite, or exceeds half the box along a periodic axis,
/// where a pair could interact through two images.
template <typename T, int D>
void require_cutoff_fits(const box<T, D>& domain, T cutoff) {
  require(cutoff > T(0) && std::isfinite(cutoff), "the cutoff is ", cutoff, "; it must be positive and finite");
  for (int axis = 0; axis < D; ++axis) {
    require(!domain.periodic[axis] || cutoff <= domain.length[axis] / 2, "the cutoff ", cutoff,
            " is more than half the periodic box along axis ", axis, " (length ", domain.length[axis], "); at most ",
            domain.length[axis] / 2, " is possible");
  }
}

}  // namespace quadrat
