// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quadrat/core/box.hpp"
#include "quadrat/core/cell_index.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// A box cut into cells, numbered with the first index fastest, from first_cell on. A coordinate is in units of cells:
/// integers are faces of cells.
///
/// The number of stored cells is limited, however large the box is: long axes are folded. Along a folded axis the
/// stored cells repeat, so that bodies far apart may share a cell, as in a hash table. An integer number of repeats
/// covers a periodic axis; along an open axis they have no end, and bodies may lie anywhere.
///
/// As in core/folding.hpp, few rows are stored, just enough that a walk meets none twice, and a row is a long ring of
/// cells. Rows that share a ring begin at evenly spread places on it, so that no shape filled by bodies is crowded.
/// Places are linear in the repeats: from one repeat to the next a row moves by `steps`.
template <typename T>
struct ring_cells {
  vec<bool, 3> periodic;
  vec<int, 3> cells;    ///< stored
  vec<int, 3> repeats;  ///< of the stored cells along each axis: 1 if it is not folded, 0 if they have no end
  vec<int, 3> steps;    ///< along the ring, in cells, from a repeat along an axis to the next; 0 if it is not folded
  cell_id first_cell;
  vec<T, 3> from;              ///< origin of coordinates: the corner, or 0 along an axis with endless repeats
  vec<T, 3> rate;              ///< cells per length
  vec<T, 3> cells_per_length;  ///< the same, rounded up
  vec<T, 3> edge;              ///< of a cell, rounded down
  vec<T, 3> slack;             ///< bound on the rounding of coordinates and separations inside the box, in cells

  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(cells[0]) * static_cast<std::size_t>(cells[1]) * static_cast<std::size_t>(cells[2]);
  }
  /// Monotonic along the axis, also in floating point.
  [[nodiscard]] QUADRAT_HD T coordinate(const vec<T, 3>& point, int axis) const {
    return (point[axis] - from[axis]) * rate[axis];
  }
  /// Moves a coordinate along a folded axis into the stored cells, [0, cells]. Sets `repeat` to its repeat; if repeats
  /// are endless, to one with the same place on the ring. Exact, except for coordinates whose rounding spans all stored
  /// cells.
  [[nodiscard]] QUADRAT_HD T folded(T coordinate, int axis, int& repeat) const {
    const T n = static_cast<T>(cells[axis]);
    // For numbers this small, the product below is exact, and a CPU needs no function call.
    constexpr T small = sizeof(T) == 4 ? T(0x1p22) : T(0x1p51);
    if (repeats[axis] == 0 && coordinate > -small && coordinate < small) {
      const T quotient = coordinate / n;
      auto turns = static_cast<std::int64_t>(quotient);
      turns -= static_cast<std::int64_t>(quotient < static_cast<T>(turns));
      T rest = coordinate - static_cast<T>(turns) * n;
      if (rest < T(0)) {  // the quotient was rounded up
        rest += n;
        --turns;
      }
      constexpr std::int64_t many = 1 << 30;
      repeat = static_cast<int>(turns > -many && turns < many ? turns : turns % cells[0]);
      return rest;
    }
    T whole = std::floor(coordinate / n);
    T rest = std::fma(-whole, n, coordinate);
    if (rest < T(0)) {  // the quotient was rounded up
      rest += n;
      whole -= T(1);
    }
    if (repeats[axis] > 0) {
      // Rounding may have left a wrapped point just outside the box.
      const T last = static_cast<T>(repeats[axis] - 1);
      if (!(whole >= T(0))) whole = rest = T(0);
      if (whole > last) whole = last, rest = n;
      repeat = static_cast<int>(whole);
    } else {
      repeat = turned_back(whole);
    }
    return rest >= T(0) && rest <= n ? rest : T(0);
  }

  /// The place of a row's first cell on the ring, for repeats along the other axes.
  [[nodiscard]] QUADRAT_HD int row_start(const vec<int, 3>& repeat) const {
    const std::int64_t place = std::int64_t{repeat[1]} * steps[1] + std::int64_t{repeat[2]} * steps[2];
    if (place >= 0 && place < cells[0]) return static_cast<int>(place);
    const auto rest = static_cast<int>(place % cells[0]);
    return rest < 0 ? rest + cells[0] : rest;
  }
  /// Wraps a place that is up to one turn beyond the end.
  [[nodiscard]] QUADRAT_HD int on_ring(int place) const { return place < cells[0] ? place : place - cells[0]; }

  /// Bound on the rounding of this coordinate and of separations, in cells.
  [[nodiscard]] QUADRAT_HD T slack_at(T coordinate, int axis) const {
    return repeats[axis] > 0 ? slack[axis] : endless_slack(slack[axis], coordinate);
  }

  /// The cell that stores a wrapped point. A point outside (by rounding along a periodic axis, anywhere along an open
  /// one) is stored in the nearest cell.
  [[nodiscard]] QUADRAT_HD cell_id cell_of(const vec<T, 3>& point) const {
    vec<int, 3> repeat{}, index{};
    for (int axis = 0; axis < 3; ++axis) {
      T at = coordinate(point, axis);
      if (repeats[axis] != 1) at = folded(at, axis, repeat[axis]);
      index[axis] = clamped_index(cell_index(at), cells[axis]);
    }
    const auto row = static_cast<cell_id>(index[2]) * static_cast<cell_id>(cells[1]) + static_cast<cell_id>(index[1]);
    const int place = on_ring(index[0] + row_start(repeat));
    return first_cell + row * static_cast<cell_id>(cells[0]) + static_cast<cell_id>(place);
  }

 private:
  /// An integer, by whole turns of the ring.
  [[nodiscard]] QUADRAT_HD int turned_back(T whole) const {
    const T n = static_cast<T>(cells[0]);
    const T rest = std::fma(-std::floor(whole / n), n, whole);
    return rest > -n && rest < n ? static_cast<int>(rest) : 0;
  }
};

/// The cells of a grid, all stored. Cells are found by the same expression.
template <typename T>
[[nodiscard]] ring_cells<T> all_cells(const grid<T, 3>& space);

/// The requirements on folded cells.
struct ring_request {
  vec<double, 3> edges;  ///< of cells
  double reach;          ///< the largest search distance, up to the periodic lengths
  double most;           ///< approximate number of stored cells
};

/// Cells of these edges, folded if there would be more than `most`.
template <typename T>
[[nodiscard]] ring_cells<T> fold_cells(const box<T, 3>& domain, const ring_request& request);

}  // namespace quadrat::detail
