// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "quadrat/core/box.hpp"
#include "quadrat/core/cell_index.hpp"
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
///
/// A grid can be folded (core/folding.hpp): it then has more cells than are stored, and cells far apart share a stored
/// one. Ranges of cells are those of the whole grid; `cell_of` and `stored_cell` give stored cells. A stored row of
/// cells along x is a ring of stored[0] cells on which many rows of the grid lie, each from another place on. Along the
/// other axes the stored rows repeat every 2^row_bits. So rows remain ranges, and no two cells of a range narrower than
/// `stored` share a stored one.
template <typename T, int D>
struct grid {
  box<T, D> domain;
  vec<int, D> cells;
  vec<T, D> inverse_edge;
  /// Bound on the rounding of a periodic shift and of x + distance, per axis; `reach` widens by it.
  vec<T, D> slack;
  vec<int, D> stored;    ///< cells along each axis that are stored: `cells`, unless the grid is folded
  vec<int, D> row_bits;  ///< of the index of a stored row along y and z, if the grid is folded; 31: all of them
  bool folded;

  [[nodiscard]] QUADRAT_HD T edge(int axis) const { return domain.length[axis] / static_cast<T>(cells[axis]); }

  /// Number of stored cells.
  [[nodiscard]] QUADRAT_HD std::size_t size() const {
    std::size_t product = 1;
    for (int axis = 0; axis < D; ++axis) product *= static_cast<std::size_t>(stored[axis]);
    return product;
  }

  /// Index along an axis before clamping or wrapping, saturated to +-2^30. NaN gives 0.
  [[nodiscard]] QUADRAT_HD int unwrapped_index(T x, int axis) const {
    return detail::cell_index((x - domain.lower[axis]) * inverse_edge[axis]);
  }

  /// The index inside [0, cells): wrapped on a periodic axis, clamped on an open one.
  [[nodiscard]] QUADRAT_HD int wrapped(int index, int axis) const {
    const int n = cells[axis];
    if (!domain.periodic[axis]) return detail::clamped_index(index, n);
    if (index >= 0 && index < n) return index;
    const int rest = index % n;
    return rest < 0 ? rest + n : rest;
  }

  /// The cell of a point, before folding; a point outside an open axis gets the nearest cell, and NaN the first.
  [[nodiscard]] QUADRAT_HD vec<int, D> unfolded_cell_of(const vec<T, D>& point) const {
    vec<int, D> cell{};
    for (int axis = 0; axis < D; ++axis) cell[axis] = wrapped(unwrapped_index(point[axis], axis), axis);
    return cell;
  }

  /// The cell that stores a point.
  [[nodiscard]] QUADRAT_HD vec<int, D> cell_of(const vec<T, D>& point) const {
    const vec<int, D> cell = unfolded_cell_of(point);
    return folded ? stored_cell(cell) : cell;
  }

  /// The stored cell of a cell whose index along x may be unwrapped, as in a range; the others are inside the grid.
  [[nodiscard]] QUADRAT_HD vec<int, D> stored_cell(vec<int, D> cell) const {
    if (!folded) {
      cell[0] = home(cell[0], 0);
      return cell;
    }
    const int n = stored[0];
    int along = cell[0] % n;
    along += fold_row(cell);
    cell[0] = along < 0 ? along + n : (along < n ? along : along - n);
    return cell;
  }

  /// In a folded grid, turns the indices of a row along y and z into those of the stored row. Returns where its cell 0
  /// is on the ring. Rows that share a stored one begin at places spread evenly, by the sequence R2 (M. Roberts, *The
  /// Unreasonable Effectiveness of Quasirandom Sequences*, 2018), so that no shape that points fill is crowded.
  QUADRAT_HD int fold_row(vec<int, D>& row) const {
    std::uint32_t place = 0;
    for (int axis = 1; axis < D; ++axis) {
      const std::uint32_t step = D == 2 ? 2654435769u : (axis == 1 ? 3242174889u : 2447445414u);
      const auto index = static_cast<std::uint32_t>(row[axis]);
      place += (index >> row_bits[axis]) * step;
      row[axis] = static_cast<int>(index & ((1u << row_bits[axis]) - 1));
    }
    return static_cast<int>((std::uint64_t{place} * static_cast<std::uint64_t>(stored[0])) >> 32);
  }

  /// All cells that can hold a point closer than `distance` to this one: for edge == distance, 3 along each axis (4 for
  /// a point within rounding of a face); 2 or fewer where cells are larger or the box ends. Exact in floating point: a
  /// pair of points inside the box whose computed squared distance is below distance^2 is never missed. In a folded
  /// grid a range wider than what is stored becomes all stored cells.
  [[nodiscard]] QUADRAT_HD cell_range<D> reach(const vec<T, D>& point, T distance) const {
    cell_range<D> range{};
    for (int axis = 0; axis < D; ++axis) {
      const index_range along = reach_along(point[axis], distance, axis);
      range.first[axis] = along.first;
      range.last[axis] = along.last;
    }
    return folded ? once(range) : range;
  }

  /// The same along one axis: all indices of points closer than `distance` to x along that axis.
  [[nodiscard]] QUADRAT_HD index_range reach_along(T x, T distance, int axis) const {
    const T margin = distance + (folded ? slack_at(x, distance, axis) : slack[axis]);
    return clipped({unwrapped_index(x - margin, axis), unwrapped_index(x + margin, axis)}, axis);
  }

  /// Whether `reach` has returned all stored cells of a folded grid.
  [[nodiscard]] QUADRAT_HD bool holds_all(const cell_range<D>& range) const {
    bool all = true;
    for (int axis = 0; axis < D; ++axis) {
      all = all && range.first[axis] == 0 && range.last[axis] == stored[axis] - 1;
    }
    return all;
  }

  /// `wrapped` without a division, for the indices of a range that `reach`, `reach_along` or `moore_neighborhood` gave.
  [[nodiscard]] QUADRAT_HD int home(int index, int axis) const {
    const int n = cells[axis];
    if (index < 0) return index + n;
    return index < n ? index : index - n;
  }

  /// The cell (as unfolded_cell_of gives it) and its neighbors, 3 along each axis where the grid has at least 3 cells;
  /// each distinct cell once.
  [[nodiscard]] QUADRAT_HD cell_range<D> moore_neighborhood(const vec<int, D>& cell) const {
    cell_range<D> range{};
    for (int axis = 0; axis < D; ++axis) {
      const index_range along = clipped({cell[axis] - 1, cell[axis] + 1}, axis);
      range.first[axis] = along.first;
      range.last[axis] = along.last;
    }
    return folded ? once(range) : range;
  }

 private:
  /// The range, or all stored cells of a folded grid if it might hold one twice.
  [[nodiscard]] QUADRAT_HD cell_range<D> once(const cell_range<D>& range) const {
    bool twice = false;
    cell_range<D> all{};
    for (int axis = 0; axis < D; ++axis) {
      twice = twice || range.last[axis] - range.first[axis] >= stored[axis];
      all.last[axis] = stored[axis] - 1;
    }
    return twice ? all : range;
  }

  static constexpr T rounding = 16 * std::numeric_limits<T>::epsilon();

  /// Along an open axis, x + distance rounds by what x is, however long the axis.
  [[nodiscard]] QUADRAT_HD T slack_at(T x, T distance, int axis) const {
    return domain.periodic[axis] ? slack[axis] : rounding * (std::fabs(x) + distance);
  }

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

/// The most cells along an axis, so that the rounding of a reach at its ends spans at most 4 of them.
template <typename T, int D>
[[nodiscard]] double most_distinct_cells(const box<T, D>& domain, int axis) {
  const auto length = static_cast<double>(domain.length[axis]);
  const double farthest =
      std::fmax(std::fabs(static_cast<double>(domain.lower[axis])), std::fabs(static_cast<double>(domain.upper(axis))));
  return std::floor(length / (4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (farthest + length)));
}

}  // namespace detail

/// The most cells along one axis: indices of cells are computed up to 2^30.
inline constexpr int max_cells_along_axis = 1'000'000'000;

/// As `most_cells`: a grid of any number of cells, to be folded.
inline constexpr std::uint64_t any_number_of_cells = ~std::uint64_t{0};

/// A grid with the given number of cells per axis. Throws argument_error when a count is below 1 or above
/// max_cells_along_axis, the product exceeds `most_cells`, or a cell is so thin that the inverse of its edge is not
/// finite. Grids of more than 2^31 - 1 cells are for the cell list `hashed`, up to max_sparse_count, and for folding;
/// all other structures refuse them.
template <typename T, int D>
[[nodiscard]] grid<T, D> make_grid(const box<T, D>& domain, const vec<int, D>& cells,
                                   std::uint64_t most_cells = max_count) {
  grid<T, D> result{};
  result.domain = domain;
  result.cells = result.stored = cells;
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
  require(total <= static_cast<double>(most_cells) || most_cells == any_number_of_cells, "the grid has ",
          detail::joined_counts(cells), " cells; at most ", most_cells, " are possible");
  return result;
}

/// The finest grid whose cells are not smaller than the cutoff, at least one cell per axis; coarser where that would
/// exceed `most_cells` cells, or 1e9 along an axis. `hashed` takes grids of up to max_sparse_count cells, the other
/// cell lists of up to max_count. With any_number_of_cells the grid is coarser only where rounding spans cells; fold
/// it. Throws argument_error unless the cutoff is positive and finite and `most_cells` is from 1 to max_sparse_count,
/// or any_number_of_cells.
template <typename T, int D>
[[nodiscard]] grid<T, D> make_grid_for_cutoff(const box<T, D>& domain, T cutoff,
                                              std::uint64_t most_cells = std::uint64_t{1} << 27) {
  require(cutoff > T(0) && std::isfinite(cutoff), "the cutoff is ", cutoff, "; it must be positive and finite");
  const bool any_number = most_cells == any_number_of_cells;
  require(any_number || (most_cells >= 1 && most_cells <= max_sparse_count), "a grid of at most ", most_cells,
          " cells was asked for; 1 to ", max_sparse_count, " are possible");
  vec<int, D> cells{};
  for (double edge = static_cast<double>(cutoff);; edge *= 1.25) {
    double total = 1;
    for (int axis = 0; axis < D; ++axis) {
      double count = std::floor(static_cast<double>(domain.length[axis]) / edge);
      if (any_number) count = std::fmin(count, detail::most_distinct_cells(domain, axis));
      cells[axis] = static_cast<int>(std::fmin(std::fmax(count, 1.0), max_cells_along_axis));
      total *= cells[axis];
    }
    if (any_number || total <= static_cast<double>(most_cells)) break;
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
