// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quadrat/core/lattice.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/fault.hpp"
#include "search/kernels.hpp"
#include "search/pairs/counting.hpp"

/// The points of pair_counts, as host-device code.
namespace quadrat::detail {

/// Faults of regions; those of weights begin at query_fault_base.
inline constexpr std::uint64_t region_fault_base = 2 * query_fault_base;

/// Index: slot. Stores points, weights and regions in the order of cells, and checks weights, regions and the length of
/// unit vectors.
template <typename T>
struct place_counted_points {
  lattice<T, 3> shape;
  points_view<T, 3> points;
  const T* weights;              ///< by point, or nullptr
  const std::uint32_t* regions;  ///< by point, or nullptr
  std::uint32_t region_count;
  bool unit;
  const particle_id* elements;
  fault_flag faults;
  search_point<T, 3>* records;  ///< or nullptr
  T* component[3];              ///< or nullptr
  T* weights_of_slots;
  std::uint32_t* regions_of_slots;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id i = elements[slot];
    vec<int, 3> boxes{};
    const vec<T, 3> point = shape.wrap(points[i], boxes);
    if (unit && !(std::fabs(squared_norm(point) - T(1)) < T(1e-4))) faults.raise(fault_kind::value_range, i);
    if (records != nullptr) records[slot] = {point, i};
    for (int axis = 0; axis < 3; ++axis) {
      if (component[axis] != nullptr) component[axis][slot] = point[axis];
    }
    if (regions != nullptr) {
      if (regions[i] >= region_count) faults.raise(fault_kind::value_range, region_fault_base + i);
      regions_of_slots[slot] = regions[i];
    }
    if (weights == nullptr) return;
    if (!(weights[i] - weights[i] == T(0))) faults.raise(fault_kind::value_range, query_fault_base + i);
    weights_of_slots[slot] = weights[i];
  }
};

template <typename T>
struct magnitude_of {
  const T* values;

  QUADRAT_HD T operator()(std::size_t i) const { return std::fabs(values[i]); }
};

/// The square of a weight in steps: its high or its low part.
template <typename T>
struct part_of_square {
  const T* weights;
  double steps;
  bool high;

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    const std::int64_t square = fixed_point(static_cast<double>(weights[i]) * static_cast<double>(weights[i]), steps);
    return high ? high_part(square) : low_part(square);
  }
};

/// Words of the pairs of points with themselves.
enum own_word : std::size_t { own_points, squares_low, squares_high, own_words };

/// Index: point. Adds its pair with itself to the words of its region.
template <typename T>
struct add_own_pair {
  const std::uint32_t* regions;
  const T* weights;  ///< or nullptr
  double steps;
  std::uint64_t* words;  ///< [region][own_word]

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint64_t* const to = words + own_words * regions[i];
    atomic_add(to + own_points, std::uint64_t{1});
    if (weights == nullptr) return;
    atomic_add(to + squares_low, part_of_square<T>{weights, steps, false}(i));
    atomic_add(to + squares_high, part_of_square<T>{weights, steps, true}(i));
  }
};

/// A set of points with their weights and regions, as the caller gave them. `name`: of one of them, in messages.
template <typename T, int D>
struct counted_set {
  const points_view<T, D>& points;
  const T* weights;
  const std::uint32_t* regions;
  const char* name;
};

}  // namespace quadrat::detail
