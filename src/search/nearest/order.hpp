// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quadrat/core/curves.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/fault.hpp"
#include "search/nearest/tree.hpp"

/// Puts points in the order of a Hilbert curve, which has 2^30 cells in the cube around all points. If other points are
/// far away, crowds of points share a cell and are in no order.
namespace quadrat::detail {

/// Levels of the curve: 30 bits.
template <int D>
inline constexpr int nearest_curve_bits = D == 2 ? 15 : 10;
/// Whether there are too many crowded places. A crowd of m points costs m searches through its m / 8 leaves. The limit
/// is four leaves per point of the set.
[[nodiscard]] constexpr bool is_crowded(std::uint64_t crowded, std::size_t points) {
  return crowded * crowded > std::uint64_t{32} * points;
}

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
      const T at = (point[axis] * scale - low[axis] * scale) / extent * static_cast<T>(cells);  // NaN if all coincide
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

/// Whether a point is valid, or what is wrong with it.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD fault_kind nearest_fault(const lattice<T, D>& shape, const vec<T, D>& point) {
  bool near = true;
  for (int axis = 0; axis < D; ++axis) {
    if (!(point[axis] - point[axis] == T(0))) return fault_kind::not_finite;
    if (shape.periodic[axis]) near = near && std::fabs(shape.fraction(point, axis)) <= T(lattice<T, D>::most_boxes);
  }
  return near ? fault_kind::none : fault_kind::outside;
}

/// Wraps points into the box; invalid points go to the origin.
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

/// The key of each query: its place on the curve or, if the points are in the order of halves, a nearby leaf. An
/// invalid query is reported and gets an arbitrary key.
template <typename T, int D>
struct key_nearest_queries {
  points_view<T, D> queries;
  lattice<T, D> shape;
  nearest_tree<T, D> tree;
  const nearest_bounds<T, D>* bounds;  ///< nullptr: points are in the order of halves
  std::uint32_t* keys;
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t i) const {
    const vec<T, D> query = queries[i];
    const fault_kind fault = nearest_fault(shape, query);
    vec<int, D> away{};
    keys[i] = 0;
    if (fault != fault_kind::none) return faults.raise(fault, i);
    const vec<T, D> at = shape.wrap(query, away);
    keys[i] = bounds != nullptr ? bounds->place_on_curve(at) : leaf_towards(tree, at);
  }
};

/// Whether this place in the order is crowded: 1 if four before it are in the same cell of the curve, though not all
/// at one position.
template <typename T, int D>
struct mark_nearest_crowds {
  const std::uint32_t* keys;  ///< in order
  const particle_id* ids;     ///< in order
  const vec<T, D>* wrapped;   ///< by id

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    return i >= 4 && keys[i] == keys[i - 4] && wrapped[ids[i]] != wrapped[ids[i - 1]] ? 1 : 0;
  }
};

}  // namespace quadrat::detail
