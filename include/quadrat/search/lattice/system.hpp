// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

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

/// The box of one system, cut into cells along its vectors. Cells are numbered with the first index fastest, from
/// first_cell on. A coordinate is a fraction in units of cells: integers are faces of cells.
///
/// The number of stored cells is limited by the number of points, however large the box is: long axes are folded. Along
/// a folded axis the stored cells repeat, so that points far apart may share a cell, as in a hash table, but rows of
/// cells remain rows. Pairs are decided by distance, so shared cells add candidates and nothing else. An integer number
/// of repeats covers a periodic axis; along an open axis they have no end, and points may lie anywhere.
template <typename T, int D>
struct search_system {
  lattice<T, D> shape;
  vec<int, D> cells;    ///< stored
  vec<int, D> repeats;  ///< of the stored cells along each axis: 1 if it is not folded, 0 if they have no end
  cell_id first_cell;
  vec<T, D> from;              ///< where coordinates are 0: the origin, or 0 along an axis whose repeats have no end
  vec<T, D> rate;              ///< cells per fraction; per length if the lattice is orthorhombic
  vec<T, D> cells_per_length;  ///< cells / height, rounded up
  vec<T, D> edge;              ///< of a cell, rounded down, if the lattice is orthorhombic
  vec<T, D> slack;             ///< bound on the rounding of coordinates and separations inside the box, in cells

  /// Never decreases as the fraction grows, in floating point too.
  [[nodiscard]] QUADRAT_HD T coordinate(const vec<T, D>& point, int axis) const {
    if (shape.orthorhombic) return (point[axis] - from[axis]) * rate[axis];
    return dot(shape.inverse[axis], point - from) * rate[axis];
  }

  /// Moves a coordinate along a folded axis into the stored cells, [0, cells]. Sets `repeat` to the repeat that it was
  /// in, if these have an end. Exact, except for coordinates whose rounding spans all stored cells.
  [[nodiscard]] QUADRAT_HD T folded(T coordinate, int axis, int& repeat) const {
    const T n = static_cast<T>(cells[axis]);
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
    }
    return rest >= T(0) && rest <= n ? rest : T(0);
  }

  /// The image of the box that a repeat belongs to, at most one box away.
  [[nodiscard]] QUADRAT_HD int image_of_repeat(int repeat, int axis) const {
    if (repeats[axis] == 0) return 0;
    return repeat < 0 ? -1 : (repeat >= repeats[axis] ? 1 : 0);
  }

  /// Bound on the rounding of this coordinate and of separations, in cells, in an orthorhombic box.
  [[nodiscard]] QUADRAT_HD T slack_at(T coordinate, int axis) const {
    if (repeats[axis] > 0) return slack[axis];
    constexpr T epsilon = sizeof(T) == 4 ? T(1.1920929e-7) : T(2.220446049250313e-16);
    return slack[axis] + 4 * epsilon * std::fabs(coordinate);
  }

  /// floor, saturated to +-2^30; NaN gives 0.
  [[nodiscard]] QUADRAT_HD static int unwrapped_index(T coordinate) {
    constexpr T bound = T(1 << 30);
    const T index = std::floor(coordinate);
    if (!(index > -bound)) return index <= -bound ? -(1 << 30) : 0;
    return index < bound ? static_cast<int>(index) : (1 << 30);
  }

  [[nodiscard]] QUADRAT_HD int clamped(int index, int axis) const {
    return index < 0 ? 0 : (index >= cells[axis] ? cells[axis] - 1 : index);
  }

  /// The cell that stores a wrapped point. A point outside, by rounding along a periodic axis or anywhere along an open
  /// one, is stored in the nearest cell.
  [[nodiscard]] QUADRAT_HD cell_id cell_of(const vec<T, D>& point) const {
    cell_id id = 0;
    for (int axis = D - 1; axis >= 0; --axis) {
      T at = coordinate(point, axis);
      int repeat = 0;
      if (repeats[axis] != 1) at = folded(at, axis, repeat);
      const int index = clamped(unwrapped_index(at), axis);
      id = id * static_cast<cell_id>(cells[axis]) + static_cast<cell_id>(index);
    }
    return first_cell + id;
  }

  /// All cells, unwrapped along periodic axes and along folded ones, that can hold an image nearer than `distance` to a
  /// wrapped point: each image of each cell once. Allows for rounding.
  [[nodiscard]] QUADRAT_HD cell_range<D> reach(const vec<T, D>& point, T distance) const {
    cell_range<D> range{};
    for (int axis = 0; axis < D; ++axis) {
      T at = coordinate(point, axis);
      const T rounding =
          repeats[axis] == 0 && shape.orthorhombic ? slack_at(at, axis) : slack[axis] * outside(point, axis);
      const T margin = distance * cells_per_length[axis] + rounding;
      if (repeats[axis] == 0) {
        int repeat = 0;
        at = folded(at, axis, repeat);
        range.first[axis] = first_of_stored(at, margin, axis);
        range.last[axis] = last_of_stored(at, margin, axis);
        continue;
      }
      range.first[axis] = unwrapped_index(at - margin);
      range.last[axis] = unwrapped_index(at + margin);
      // Such a margin has a point only that has been reported and could not be wrapped.
      if (shape.periodic[axis] && !(margin < T(1000) * static_cast<T>(cells[axis]) * static_cast<T>(repeats[axis]))) {
        range.last[axis] = range.first[axis];
      }
      if (!shape.periodic[axis]) {
        range.first[axis] = clamped(range.first[axis], axis);
        range.last[axis] = clamped(range.last[axis], axis);
      }
    }
    return range;
  }

  /// First and last unwrapped index within a margin of a coordinate that `folded` gave, so that each stored cell is in
  /// the range at most once.
  [[nodiscard]] QUADRAT_HD int first_of_stored(T at, T margin, int axis) const {
    if (2 * margin + T(2) <= static_cast<T>(cells[axis])) return unwrapped_index(at - margin);
    return 0;
  }
  [[nodiscard]] QUADRAT_HD int last_of_stored(T at, T margin, int axis) const {
    if (2 * margin + T(2) <= static_cast<T>(cells[axis])) return unwrapped_index(at + margin);
    return cells[axis] - 1;
  }

 private:
  /// By what factor the rounding of a coordinate grows outside the box, where open axes let points lie far away.
  [[nodiscard]] QUADRAT_HD T outside(const vec<T, D>& point, int axis) const {
    T sum = T(1);
    for (int k = 0; k < D; ++k) sum += std::fabs(shape.inverse[axis][k] * (point[k] - shape.origin[k]));
    return sum;
  }
};

/// How a neighborhood is walked.
struct walking_order {
  bool runs;   ///< cells along the first axis as one range of slots (strips, hybrid)
  int labels;  ///< cells are taken by position modulo this: 1, or 3 for modular and hybrid
};

/// Calls f(first cell, last cell, S) for the cells of a range, in the order given; S is their image.
template <typename T, int D, typename F>
QUADRAT_HD void for_each_image_run(const search_system<T, D>& system, const cell_range<D>& range,
                                   const walking_order& order, F&& f) {
  vec<int, D> shift{};
  // Where the stored cells begin that an unwrapped index belongs to; sets the image.
  const auto begin_of_repeat = [&](int index, int axis) {
    if (!system.shape.periodic[axis] && system.repeats[axis] == 1) return 0;
    const int repeat = floor_division(index, system.cells[axis]);
    shift[axis] = system.repeats[axis] == 1 ? repeat : 0;
    if (system.repeats[axis] > 1) shift[axis] = floor_division(repeat, system.repeats[axis]);
    return repeat * system.cells[axis];
  };
  // Calls body(stored index) for the unwrapped indices of an axis, by label.
  const auto along = [&](int axis, auto&& body) {
    const int first = range.first[axis];
    for (int label = 0; label < order.labels; ++label) {
      int index = first + (label - first % order.labels + 2 * order.labels) % order.labels;
      for (; index <= range.last[axis]; index += order.labels) body(index - begin_of_repeat(index, axis));
    }
  };
  // f is called in one place for both kinds of order, so that kernels inline it once.
  const auto row = [&](int outer) {
    const cell_id begin = system.first_cell + static_cast<cell_id>(outer) * static_cast<cell_id>(system.cells[0]);
    const int first = range.first[0], labels = order.runs ? 1 : order.labels;
    for (int label = 0; label < labels; ++label) {
      int index = first + (label - first % labels + 2 * labels) % labels;
      while (index <= range.last[0]) {
        const int home = begin_of_repeat(index, 0);
        const int end = range.last[0] < home + system.cells[0] ? range.last[0] : home + system.cells[0] - 1;
        const int last = order.runs ? end : index;
        f(begin + static_cast<cell_id>(index - home), begin + static_cast<cell_id>(last - home), shift);
        index = last + labels;
      }
    }
  };
  if constexpr (D == 2) {
    along(1, row);
  } else {
    along(2, [&](int z) { along(1, [&](int y) { row(z * system.cells[1] + y); }); });
  }
}

/// What cells are made for.
template <typename T, int D>
struct cells_request {
  vec<T, D> edges;         ///< about those of cells
  T reach;                 ///< the largest distance that will be asked for
  std::size_t most_cells;  ///< of all systems together
  bool points_anywhere;    ///< open axes have no end
  /// For each box, which of its open axes have no end; nullptr: all or none, as above.
  const vec<bool, D>* endless_of_box = nullptr;
};

/// Cells for each box, numbered through: longer axes are folded where all together would be more than `most_cells`, and
/// cells are made larger where that is not enough. Throws argument_error when the reach spans more than 498 images of a
/// box, and for a box that loses positions to rounding: vectors nearly dependent, an origin far away.
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
  if (systems.empty()) return 1;
  std::size_t count = 1;
  for (int axis = 0; axis < D; ++axis) count *= static_cast<std::size_t>(systems.back().cells[axis]);
  return systems.back().first_cell + count;
}

}  // namespace quadrat::detail
