// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "quadrat/core/cell_index.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// floor(a / b) for b > 0.
[[nodiscard]] QUADRAT_HD inline int floor_division(int a, int b) {
  const int quotient = a / b;
  return a - quotient * b < 0 ? quotient - 1 : quotient;
}

/// The cells around a point. Indices along axes without end count from the cell of the point, whose number is `home`.
template <int D>
struct stored_range : cell_range<D> {
  cell_id home;
  /// Some of the cells may share a stored cell. The range then has all stored cells, once for each image of the box,
  /// and the indices are those of the first cells of the images.
  bool all;
};

/// The box of one system, cut into cells along its vectors. Cells are numbered with the first index fastest, from
/// first_cell on. A coordinate is a fraction in units of cells: integers are faces of cells.
///
/// The number of stored cells is limited by the number of points, however large the box is. A box of more cells is
/// folded: a power of two of cells are stored, in a ring, and the place of a cell is a linear function of its indices,
/// modulo their number. Rows of cells remain rows. Points far apart may share a cell, as in a hash table. Distances
/// decide about pairs, so this only adds candidates. The strides are such that no two cells within the margins
/// `distinct` share one, and that lines and sheets in any direction cover the ring evenly. Long open axes of a folded
/// box have no end, and points may lie anywhere along them.
template <typename T, int D>
struct search_system {
  lattice<T, D> shape;
  vec<int, D> cells;        ///< along each axis; 0 along endless axes
  vec<cell_id, D> strides;  ///< of the number of a cell along each axis, modulo 2^32; 1 along the first
  cell_id count;            ///< stored
  cell_id mask;             ///< of the number of a cell: of folded cells count - 1, otherwise all bits
  vec<T, D> distinct;       ///< half the lengths of ranges that hold no stored cell twice; infinite if all ranges do
  cell_id first_cell;
  vec<T, D> from;              ///< origin of coordinates: the box's origin, or 0 along an endless axis
  vec<T, D> rate;              ///< cells per fraction; per length if the lattice is orthorhombic
  vec<T, D> cells_per_length;  ///< cells / height, rounded up
  vec<T, D> edge;              ///< of a cell, rounded down, if the lattice is orthorhombic
  vec<T, D> slack;             ///< bound on the rounding of coordinates and separations inside the box, in cells

  [[nodiscard]] QUADRAT_HD bool folded() const { return mask != ~cell_id{0}; }
  /// Stored cells from one row to the next, unless these are apart.
  [[nodiscard]] std::size_t row_length() const { return folded() ? count : static_cast<std::size_t>(cells[0]); }

  /// Monotonic in the fraction, also in floating point.
  [[nodiscard]] QUADRAT_HD T coordinate(const vec<T, D>& point, int axis) const {
    if (shape.orthorhombic) return (point[axis] - from[axis]) * rate[axis];
    return dot(shape.inverse[axis], point - from) * rate[axis];
  }

  /// Moves a coordinate along an axis without end into one cell, [0, 1], and returns the index of this cell, modulo
  /// 2^32. Exact.
  [[nodiscard]] QUADRAT_HD static cell_id take_index(T& coordinate) {
    constexpr T bound = T(1 << 30), turn = T(4) * bound;
    const T whole = std::floor(coordinate);
    coordinate -= whole;
    if (whole > -bound && whole < bound) return static_cast<cell_id>(static_cast<int>(whole));
    if (!(coordinate >= T(0))) coordinate = T(0);
    const T rest = std::fma(-std::floor(whole / turn), turn, whole);
    return rest >= T(0) && rest < turn ? static_cast<cell_id>(rest) : 0;
  }

  /// Bound on the rounding of this coordinate and of separations, in cells, in an orthorhombic box.
  [[nodiscard]] QUADRAT_HD T slack_at(T coordinate, int axis) const {
    return cells[axis] > 0 ? slack[axis] : endless_slack(slack[axis], coordinate);
  }

  /// The cell that stores a wrapped point. A point outside, by rounding along a periodic axis or anywhere along an open
  /// one, is stored in the nearest cell.
  [[nodiscard]] QUADRAT_HD cell_id cell_of(const vec<T, D>& point) const {
    cell_id number = 0;
    for (int axis = 0; axis < D; ++axis) {
      T at = coordinate(point, axis);
      const bool ends = cells[axis] > 0;
      number +=
          strides[axis] * (ends ? static_cast<cell_id>(clamped_index(cell_index(at), cells[axis])) : take_index(at));
    }
    return first_cell + (number & mask);
  }

  /// All cells, unwrapped along periodic axes, that can hold an image nearer than `distance` to a wrapped point: each
  /// image of each stored cell once. Allows for rounding.
  [[nodiscard]] QUADRAT_HD stored_range<D> reach(const vec<T, D>& point, T distance) const {
    stored_range<D> range{};
    for (int axis = 0; axis < D; ++axis) {
      T at = coordinate(point, axis);
      const T rounding =
          cells[axis] == 0 && shape.orthorhombic ? slack_at(at, axis) : slack[axis] * outside(point, axis);
      const T margin = distance * cells_per_length[axis] + rounding;
      range.all = range.all || margin > distinct[axis];
      if (cells[axis] == 0) range.home += strides[axis] * take_index(at);
      range.first[axis] = cell_index(at - margin);
      range.last[axis] = cell_index(at + margin);
      // Only a point that was reported and could not be wrapped has such a margin.
      if (shape.periodic[axis] && !(margin < T(1000) * static_cast<T>(cells[axis]))) {
        range.last[axis] = range.first[axis];
      }
      if (cells[axis] > 0 && !shape.periodic[axis]) {
        range.first[axis] = clamped_index(range.first[axis], cells[axis]);
        range.last[axis] = clamped_index(range.last[axis], cells[axis]);
      }
    }
    if (range.all) take_all(range);
    return range;
  }
  /// Makes a range one of images.
  QUADRAT_HD void take_all(stored_range<D>& range) const {
    range.home = 0;
    for (int axis = 0; axis < D; ++axis) {
      range.first[axis] = shape.periodic[axis] ? floor_division(range.first[axis], cells[axis]) * cells[axis] : 0;
      range.last[axis] = shape.periodic[axis] ? floor_division(range.last[axis], cells[axis]) * cells[axis] : 0;
    }
  }
  /// Whether rows of a range may continue from the end of the stored cells at their beginning.
  [[nodiscard]] QUADRAT_HD bool turns(const stored_range<D>& range) const {
    if (!folded() || range.all) return false;
    bool turn = false;
    for (int axis = 0; axis < D; ++axis) {
      turn = turn || (shape.periodic[axis] && (range.first[axis] < 0 || range.last[axis] >= cells[axis]));
    }
    const cell_id last_begin = count - 1 - static_cast<cell_id>(range.last[0] - range.first[0]);
    for (int z = D == 3 ? range.first[D - 1] : 0; !turn && z <= (D == 3 ? range.last[D - 1] : 0); ++z) {
      cell_id number = range.home + static_cast<cell_id>(range.first[0]) + static_cast<cell_id>(z) * strides[D - 1];
      number += static_cast<cell_id>(range.first[1]) * strides[1];
      for (int y = range.first[1]; y <= range.last[1]; ++y, number += strides[1]) {
        turn = turn || (number & mask) > last_begin;
      }
    }
    return turn;
  }
  /// The step from an index of a range to the next.
  [[nodiscard]] QUADRAT_HD int step(bool all, int axis) const { return all && cells[axis] > 0 ? cells[axis] : 1; }

 private:
  /// The factor by which the rounding of a coordinate grows outside the box, for points far away along open axes.
  [[nodiscard]] QUADRAT_HD T outside(const vec<T, D>& point, int axis) const {
    T sum = T(1);
    for (int k = 0; k < D; ++k) sum += std::fabs(shape.inverse[axis][k] * (point[k] - shape.origin[k]));
    return sum;
  }
};

/// The order of cells in a walk over a neighborhood.
struct walking_order {
  bool runs;   ///< cells along the first axis as one range of slots (strips, hybrid)
  int labels;  ///< cells are taken by position modulo this: 1, or 3 for modular and hybrid
};

/// Calls f(first cell, last cell, S) for the cells of a range, in the order given; S is their image.
template <typename T, int D, typename F>
QUADRAT_HD void for_each_image_run(const search_system<T, D>& system, const stored_range<D>& range,
                                   const walking_order& order, F&& f) {
  vec<int, D> shift{};
  // The contribution of an unwrapped index to the number of a cell; sets the image.
  const auto number_of = [&](int index, int axis) {
    if (system.shape.periodic[axis]) {
      shift[axis] = floor_division(index, system.cells[axis]);
      index -= shift[axis] * system.cells[axis];
    }
    return system.strides[axis] * static_cast<cell_id>(index);
  };
  // Calls body(number) for the unwrapped indices of an axis, by label.
  const int labels = range.all ? 1 : order.labels;
  const auto along = [&](int axis, auto&& body) {
    const int first = range.first[axis], step = labels * system.step(range.all, axis);
    for (int label = 0; label < labels; ++label) {
      int index = first + (label - first % labels + 2 * labels) % labels;
      for (; index <= range.last[axis]; index += step) body(number_of(index, axis));
    }
  };
  // f is called in one place for both kinds of order, so that kernels inline it once.
  const auto row = [&](cell_id begin) {
    const bool runs = order.runs || range.all;
    const int first = range.first[0], row_labels = runs ? 1 : labels;
    for (int label = 0; label < row_labels; ++label) {
      int index = first + (label - first % row_labels + 2 * row_labels) % row_labels;
      while (index <= range.last[0]) {
        const cell_id number = (begin + number_of(index, 0)) & system.mask;
        // Up to the end of the range, of the image, and of the stored cells.
        int end = range.last[0];
        if (system.shape.periodic[0]) {
          const int end_of_image = shift[0] * system.cells[0] + system.cells[0] - 1;
          end = end < end_of_image ? end : end_of_image;
        }
        cell_id more = runs ? static_cast<cell_id>(end - index) : 0;
        if (range.all || more > system.count - 1 - number) more = system.count - 1 - number;
        f(system.first_cell + number, system.first_cell + number + more, shift);
        index += range.all ? system.step(true, 0) : static_cast<int>(more) + row_labels;
      }
    }
  };
  if constexpr (D == 2) {
    along(1, [&](cell_id y) { row(range.home + y); });
  } else {
    along(2, [&](cell_id z) { along(1, [&](cell_id y) { row(range.home + z + y); }); });
  }
}

/// The requirements on cells.
template <typename T, int D>
struct cells_request {
  vec<T, D> edges;         ///< approximate edges of cells
  T reach;                 ///< the largest search distance
  std::size_t most_cells;  ///< of all systems together
  bool points_anywhere;    ///< open axes have no end
  /// For each box, which of its open axes have no end; nullptr: all or none, as above.
  const vec<bool, D>* endless_of_box = nullptr;
};

/// Cells for each box, numbered consecutively. The largest boxes are folded if all together would have more than
/// `most_cells`. Throws argument_error when the reach spans more than 498 images of a box, and for a box that loses
/// positions to rounding: vectors nearly dependent, an origin far away.
template <typename T, int D>
[[nodiscard]] std::vector<search_system<T, D>> make_search_systems(std::span<const lattice<T, D>> boxes,
                                                                   const cells_request<T, D>& request);

/// The same for a grid: cells are found by the same expression.
template <typename T, int D>
[[nodiscard]] search_system<T, D> make_search_system(const grid<T, D>& space);

/// An upper bound on the number of images of a point nearer than `reach` to another.
template <typename T, int D>
[[nodiscard]] double most_images(const lattice<T, D>& shape, T reach) {
  double product = 1;
  for (int axis = 0; axis < D; ++axis) {
    // Images between two parallel planes, and one more for rounding.
    if (shape.periodic[axis]) product *= 2 * static_cast<double>(reach) / static_cast<double>(shape.height(axis)) + 2;
  }
  return product;
}

/// The number of cells of all systems.
template <typename T, int D>
[[nodiscard]] std::size_t cell_count(const std::vector<search_system<T, D>>& systems) {
  return systems.empty() ? 1 : std::size_t{systems.back().first_cell} + systems.back().count;
}

}  // namespace quadrat::detail
