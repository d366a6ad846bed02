// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "search/kernels.hpp"

/// Updates of a list with a skin: whether it is still complete after points have moved, and its entries at the new
/// positions.
namespace quadrat::detail {

/// The data that the last build keeps for updates, by point.
template <typename T, int D>
struct neighbor_memory {
  vec<T, D>* positions;
  std::uint64_t* properties;  ///< neighbor_search::properties_of
  /// The shift in boxes from the image nearest to the remembered position to the position that entries refer to;
  /// nullptr if entries do not depend on it.
  vec<int, D>* boxes;
  vec<int, D>* turns;  ///< the change of `boxes` in the last call of update
};

/// The arrays of neighbor_memory.
template <typename Context, typename T, int D>
struct remembered_points {
  array<vec<T, D>, Context> positions;
  array<std::uint64_t, Context> properties;
  array<vec<int, D>, Context> boxes;
  array<vec<int, D>, Context> turns;

  void resize(const Context& context, std::size_t points, bool keeps_boxes) {
    positions.resize_discarding(context, points);
    properties.resize_discarding(context, points);
    if (!keeps_boxes) return;
    boxes.resize_discarding(context, points);
    turns.resize_discarding(context, points);
  }
  [[nodiscard]] neighbor_memory<T, D> memory(bool keeps_boxes) {
    return {positions.data(), properties.data(), keeps_boxes ? boxes.data() : nullptr, turns.data()};
  }
  [[nodiscard]] std::size_t bytes() const {
    return positions.bytes() + properties.bytes() + boxes.bytes() + turns.bytes();
  }
};

/// Index: point.
template <typename T, int D>
struct remember_points {
  neighbor_search<T, D> search;
  neighbor_memory<T, D> memory;

  QUADRAT_HD void operator()(std::size_t i) const {
    memory.positions[i] = search.points[i];
    if (search.has_properties()) memory.properties[i] = search.properties_of(i);
    if (memory.boxes != nullptr) memory.boxes[i] = {};
  }
};

/// Index: point. Sets the word `moved` if the list must be rebuilt: a point has moved by more than half of the skin,
/// modulo the box, is invalid, or has changed its properties. Otherwise stores by how many boxes each point has been
/// wrapped, and sets `turned` if that has changed.
template <typename T, int D>
struct find_movers {
  search_key<T, D> key;
  neighbor_memory<T, D> memory;
  std::uint64_t* moved;
  std::uint64_t* turned;

  QUADRAT_HD void operator()(std::size_t i) const {
    const neighbor_search<T, D>& search = key.search;
    const lattice<T, D>& shape = search.systems[search.system_at(search.system_of_point, i)].shape;
    const vec<T, D> point = search.points[i];
    vec<int, D> boxes{};
    const bool stays = key.fault_of(shape, point) == fault_kind::none && is_near(i, shape, point, boxes) &&
                       (!search.has_properties() || search.properties_of(i) == memory.properties[i]);
    if (!stays) {
      atomic_max(moved, std::uint64_t{1});
    } else if (memory.boxes != nullptr) {
      const vec<int, D> turn = boxes - memory.boxes[i];
      memory.boxes[i] = boxes;
      memory.turns[i] = turn;
      if (!(turn == vec<int, D>{})) atomic_max(turned, std::uint64_t{1});
    }
  }

 private:
  /// Within half of the skin, less a bound on the rounding of the motion and of the separation of two points. Only
  /// translations along periodic axes round.
  [[nodiscard]] QUADRAT_HD bool is_near(std::size_t i, const lattice<T, D>& shape, const vec<T, D>& point,
                                        vec<int, D>& boxes) const {
    const vec<T, D> before = memory.positions[i];
    vec<T, D> motion = point - before;
    bool wraps = false;
    for (int axis = 0; axis < D; ++axis) {
      if (!shape.periodic[axis]) continue;
      wraps = true;
      // Valid points differ by at most twice `most_boxes`.
      boxes[axis] = static_cast<int>(std::floor(fraction_of(shape, motion, axis) + T(0.5)));
    }
    motion = motion - shape.translation(boxes);
    T size = key.search.reach;
    for (int k = 0; k < D; ++k) {
      if (!wraps || (shape.orthorhombic && !shape.periodic[k])) continue;
      size += std::fabs(point[k]) + std::fabs(before[k]) + std::fabs(shape.origin[k]);
      for (int m = 0; m < D; ++m) size += std::fabs(shape.vectors[m][k]);
    }
    constexpr T rounding = sizeof(T) == 4 ? T(5e-7) : T(1e-15);  // four epsilon
    const T limit = key.search.skin / 2 - rounding * size;
    return limit > T(0) && squared_norm(motion) <= limit * limit;
  }
  [[nodiscard]] QUADRAT_HD static T fraction_of(const lattice<T, D>& shape, const vec<T, D>& motion, int axis) {
    return shape.orthorhombic ? motion[axis] / shape.vectors[axis][axis] : dot(shape.inverse[axis], motion);
  }
};

/// Index: row * lanes + lane. Computes the shifts, vectors and distances of a row's entries from the points as they are
/// now, by the expression of the search. The order by (j, S) stays: all images of one j get the same turns.
template <typename T, int D>
struct refresh_row {
  neighbor_search<T, D> search;
  neighbor_sink<T, D> sink;
  const vec<int, D>* turns;
  unsigned lanes;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t row = i / lanes;
    const search_query<T, D> query = search.query_of_row(row);
    const shift_map<D>* maps = search.maps;
    const std::uint64_t begin = sink.begin(row);
    const std::uint64_t end = begin + sink.counts[row];
    for (std::uint64_t at = begin + i % lanes; at < end; at += lanes) {
      const particle_id j = sink.neighbors[at];
      vec<int, D> shift = sink.shifts[at];
      if (maps != nullptr) shift = maps[query.system].to_searched(shift);
      shift += turns[row] - turns[j];
      sink.shifts[at] = maps != nullptr ? maps[query.system].to_given(shift) : shift;
      if (sink.vectors == nullptr && sink.squared_distances == nullptr) continue;
      vec<int, D> boxes{};
      const vec<T, D> there = search.wrapped_point(j, query.system, boxes);
      const lattice<T, D>& shape = search.systems[query.system].shape;
      const vec<T, D> r = search.separation(query.position, there, shape.translation(shift - query.boxes + boxes));
      if (sink.vectors != nullptr) sink.vectors[at] = r;
      if (sink.squared_distances != nullptr) sink.squared_distances[at] = squared_norm(r);
    }
  }
};

}  // namespace quadrat::detail
