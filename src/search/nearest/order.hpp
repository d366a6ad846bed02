// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "quadrat/core/curves.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/fault.hpp"
#include "search/nearest/tree.hpp"

/// Puts points in the order of a Hilbert curve. The curve has 2^30 cells in the cube around all points. Where many
/// points share a cell, because others are far away, a curve through the bounding cube of these points orders them
/// again: as often as it takes, so that every crowd is resolved, whatever its scale.
namespace quadrat::detail {

/// Levels of the curve: 30 bits.
template <int D>
inline constexpr int nearest_curve_bits = D == 2 ? 15 : 10;
/// The most different points that may share a cell, in no particular order.
inline constexpr std::size_t nearest_crowd = 16;

template <typename T, int D>
struct nearest_bounds {
  vec<T, D> low;
  vec<T, D> high;

  [[nodiscard]] QUADRAT_HD static nearest_bounds none() {
    return {vec<T, D>::filled(nearest_infinity<T>), vec<T, D>::filled(-nearest_infinity<T>)};
  }
  QUADRAT_HD void add(const nearest_bounds& other) {
    for (int axis = 0; axis < D; ++axis) {
      low[axis] = other.low[axis] < low[axis] ? other.low[axis] : low[axis];
      high[axis] = other.high[axis] > high[axis] ? other.high[axis] : high[axis];
    }
  }

  [[nodiscard]] QUADRAT_HD T largest_length(T scale) const {
    T extent = T(0);
    for (int axis = 0; axis < D; ++axis) {
      const T length = high[axis] * scale - low[axis] * scale;
      extent = length > extent ? length : extent;
    }
    return extent;
  }

  /// The place on the curve through the bounding cube; points outside go to its surface.
  [[nodiscard]] QUADRAT_HD std::uint32_t place_on_curve(const vec<T, D>& point) const {
    constexpr int cells = 1 << nearest_curve_bits<D>;
    T scale = T(1);
    T extent = largest_length(scale);
    if (extent - extent != T(0)) extent = largest_length(scale = T(0.5));  // a difference has overflowed
    vec<int, D> cell{};
    for (int axis = 0; axis < D; ++axis) {
      const T at = (point[axis] * scale - low[axis] * scale) / extent * static_cast<T>(cells);  // NaN for one place
      if (at > T(0)) cell[axis] = at < static_cast<T>(cells) ? static_cast<int>(at) : cells - 1;
    }
    hilbert_numbering<D> curve;
    curve.bits = nearest_curve_bits<D>;
    return curve.id(cell);
  }
};

struct join_nearest_bounds {
  template <typename T, int D>
  QUADRAT_HD nearest_bounds<T, D> operator()(nearest_bounds<T, D> a, const nearest_bounds<T, D>& b) const {
    a.add(b);
    return a;
  }
};

/// Whether a point can be searched for, or what is wrong with it.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD fault_kind nearest_fault(const lattice<T, D>& shape, const vec<T, D>& point) {
  bool near = true;
  for (int axis = 0; axis < D; ++axis) {
    if (!(point[axis] - point[axis] == T(0))) return fault_kind::not_finite;
    if (shape.periodic[axis]) near = near && std::fabs(shape.fraction(point, axis)) <= T(lattice<T, D>::most_boxes);
  }
  return near ? fault_kind::none : fault_kind::outside;
}

/// Wraps points into the box; those that are at fault go to the origin.
template <typename T, int D>
struct wrap_nearest_points {
  points_view<T, D> points;
  lattice<T, D> shape;
  vec<T, D>* wrapped;
  vec<int, D>* boxes;  ///< nullptr: not needed
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t i) const {
    const vec<T, D> point = points[i];
    const fault_kind fault = nearest_fault(shape, point);
    vec<int, D> away{};
    wrapped[i] = fault == fault_kind::none ? shape.wrap(point, away) : shape.origin;
    if (boxes != nullptr) boxes[i] = away;
    if (fault != fault_kind::none) faults.raise(fault, i);
  }
};

template <typename T, int D>
struct nearest_bounds_of_point {
  const vec<T, D>* wrapped;
  QUADRAT_HD nearest_bounds<T, D> operator()(std::size_t i) const { return {wrapped[i], wrapped[i]}; }
};

/// The key of each point in the first order.
template <typename T, int D>
struct key_nearest_points {
  const vec<T, D>* wrapped;
  const nearest_bounds<T, D>* bounds;
  std::uint32_t* keys;
  QUADRAT_HD void operator()(std::size_t i) const { keys[i] = bounds->place_on_curve(wrapped[i]); }
};

/// The key of each query. A query at fault is reported, and has some place.
template <typename T, int D>
struct key_nearest_queries {
  points_view<T, D> queries;
  lattice<T, D> shape;
  const nearest_bounds<T, D>* bounds;
  std::uint32_t* keys;
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t i) const {
    const vec<T, D> query = queries[i];
    const fault_kind fault = nearest_fault(shape, query);
    vec<int, D> away{};
    keys[i] = fault == fault_kind::none ? bounds->place_on_curve(shape.wrap(query, away)) : 0;
    if (fault != fault_kind::none) faults.raise(fault, i);
  }
};

/// An order, and whether some crowd in it is still to be resolved.
template <typename Key, typename T, int D>
struct mark_nearest_crowds {
  const Key* keys;           ///< in order
  const particle_id* ids;    ///< in order
  const vec<T, D>* wrapped;  ///< by id
  std::size_t count;
  std::uint64_t* crowded;  ///< set to 1

  QUADRAT_HD void operator()(std::size_t i) const {
    if (i == 0 || keys[i] != keys[i - 1] || wrapped[ids[i]] == wrapped[ids[i - 1]]) return;
    std::size_t first = i - 1, last = i;
    while (first > 0 && last - first <= nearest_crowd && keys[first - 1] == keys[i]) --first;
    while (last + 1 < count && last - first <= nearest_crowd && keys[last + 1] == keys[i]) ++last;
    if (last - first >= nearest_crowd) *crowded = 1;
  }
};

/// 1 where a cell ends: the sum of all before is the number of the cell.
template <typename Key>
struct mark_nearest_cells {
  const Key* keys;
  std::size_t count;
  std::uint32_t* ends;
  QUADRAT_HD void operator()(std::size_t i) const { ends[i] = i + 1 < count && keys[i] != keys[i + 1] ? 1 : 0; }
};

/// Integers in the order of numbers that are not NaN.
[[nodiscard]] QUADRAT_HD inline std::uint64_t ordered_bits(double value) {
  std::uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return bits >> 63 != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}
[[nodiscard]] QUADRAT_HD inline double number_of_ordered_bits(std::uint64_t bits) {
  bits = bits >> 63 != 0 ? bits & ~(std::uint64_t{1} << 63) : ~bits;
  double value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// The bounding box of each cell: 2 D words, first the largest complement of a lower bound, then the upper bounds, 0 at
/// first. A body does a stretch of points, and few atomic operations.
template <typename T, int D>
struct bound_nearest_cells {
  static constexpr std::size_t stretch = 64;
  const particle_id* ids;
  const vec<T, D>* wrapped;
  const std::uint32_t* cells;  ///< of each place in the order
  std::size_t count;
  std::uint64_t* bounds;

  QUADRAT_HD void operator()(std::size_t part) const {
    const std::size_t last = (part + 1) * stretch < count ? (part + 1) * stretch : count;
    nearest_bounds<T, D> box = nearest_bounds<T, D>::none();
    for (std::size_t i = part * stretch; i < last; ++i) {
      box.add({wrapped[ids[i]], wrapped[ids[i]]});
      if (i + 1 < last && cells[i + 1] == cells[i]) continue;
      std::uint64_t* const words = bounds + std::size_t{2} * D * cells[i];
      for (int axis = 0; axis < D; ++axis) {
        atomic_max(words + axis, ~ordered_bits(static_cast<double>(box.low[axis])));
        atomic_max(words + D + axis, ordered_bits(static_cast<double>(box.high[axis])));
      }
      box = nearest_bounds<T, D>::none();
    }
  }
};

/// The key of each place in the next order: its cell, then its place on a curve of that cell.
template <typename T, int D>
struct key_nearest_cells {
  const particle_id* ids;
  const vec<T, D>* wrapped;
  const std::uint32_t* cells;
  const std::uint64_t* bounds;
  std::uint64_t* keys;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint64_t* const words = bounds + std::size_t{2} * D * cells[i];
    nearest_bounds<T, D> box{};
    for (int axis = 0; axis < D; ++axis) {
      box.low[axis] = static_cast<T>(number_of_ordered_bits(~words[axis]));
      box.high[axis] = static_cast<T>(number_of_ordered_bits(words[D + axis]));
    }
    keys[i] = static_cast<std::uint64_t>(cells[i]) << 30 | box.place_on_curve(wrapped[ids[i]]);
  }
};

}  // namespace quadrat::detail
