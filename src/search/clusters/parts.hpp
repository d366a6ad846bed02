// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "quadrat/cells/keys.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "search/search.hpp"

/// Cells of about the linking length, cut into parts in which all points are linked. Points are sorted by cell, then by
/// part, then along a Morton curve inside the part.
namespace quadrat::detail {

/// A point in the order of cells: its wrapped position and the number of its part.
template <typename T, int D>
struct alignas(sizeof(T) == 4 ? 16 : 8) cluster_point {
  /// Set in `part` of points that are no core points.
  static constexpr std::uint32_t not_core = 0x80000000u;

  vec<T, D> position;
  std::uint32_t part_and_core;

  [[nodiscard]] QUADRAT_HD std::uint32_t part() const { return part_and_core & ~not_core; }
  [[nodiscard]] QUADRAT_HD bool is_core() const { return (part_and_core & not_core) == 0; }
};

/// How the cells of a system are cut into parts. Coordinates of parts are computed in double precision, in which they
/// are exact enough for float positions anywhere.
template <typename T, int D>
struct cluster_parts {
  search_system<T, D> system;
  vec<double, D> rate;  ///< parts per fraction; per length if the lattice is orthorhombic
  vec<int, D> parts;    ///< of a cell along each axis
  /// Whether a cell and the place of a part in it do not determine the part: cells are folded, rounded, or cut into too
  /// many parts. Keys then have a hash of the part, and parts are told apart by their coordinates.
  bool hashed;
  int part_bits;  ///< of a key

  static constexpr int fine_bits_along_axis = 12 / D;
  static constexpr int fine_bits = D * fine_bits_along_axis;
  static constexpr int most_part_bits = 16;

  [[nodiscard]] QUADRAT_HD vec<double, D> coordinates(const vec<T, D>& wrapped) const {
    const vec<double, D> offset = cast<double>(wrapped) - cast<double>(system.from);
    vec<double, D> result{};
    for (int axis = 0; axis < D; ++axis) {
      const double along =
          system.shape.orthorhombic ? offset[axis] : dot(cast<double>(system.shape.inverse[axis]), offset);
      result[axis] = along * rate[axis];
    }
    return result;
  }
  /// The coordinates of a point's part. Points of equal parts are linked.
  [[nodiscard]] QUADRAT_HD vec<double, D> part_of(const vec<T, D>& wrapped) const {
    vec<double, D> at = coordinates(wrapped);
    for (int axis = 0; axis < D; ++axis) at[axis] = std::floor(at[axis]) + 0.0;  // no negative zero
    return at;
  }

  /// cell, part, place in the part
  [[nodiscard]] QUADRAT_HD std::uint64_t key_of(const vec<T, D>& wrapped) const {
    const vec<double, D> at = coordinates(wrapped);
    const vec<double, D> part = part_of(wrapped);
    std::uint64_t fine = 0;
    for (int axis = 0; axis < D; ++axis) {
      constexpr int most = (1 << fine_bits_along_axis) - 1;
      const int place = static_cast<int>((at[axis] - part[axis]) * (most + 1));
      const auto bits = static_cast<std::uint64_t>(place < most ? place : most);
      for (int b = 0; b < fine_bits_along_axis; ++b) fine |= (bits >> b & 1u) << (b * D + axis);
    }
    const std::uint64_t number = hashed ? hash_of(part) : place_of(wrapped, part);
    return (static_cast<std::uint64_t>(system.cell_of(wrapped)) << part_bits | number) << fine_bits | fine;
  }
  [[nodiscard]] QUADRAT_HD cell_id cell_of_key(std::uint64_t key) const {
    return static_cast<cell_id>(key >> (fine_bits + part_bits));
  }

 private:
  [[nodiscard]] QUADRAT_HD static std::uint64_t hash_of(const vec<double, D>& part) {
    std::uint64_t hash = 0;
    for (int axis = 0; axis < D; ++axis) {
      std::uint64_t bits = 0;
      memcpy(&bits, &part[axis], sizeof(bits));
      hash = hashed_keys::hash((hash ^ bits) + 0x9e3779b97f4a7c15u);
    }
    return hash >> (64 - most_part_bits);
  }
  /// The place of a part among those of its cell; the nearest one if rounding has put the point into the next cell.
  [[nodiscard]] QUADRAT_HD std::uint64_t place_of(const vec<T, D>& wrapped, const vec<double, D>& part) const {
    std::uint64_t number = 0;
    for (int axis = D - 1; axis >= 0; --axis) {
      const int cell = system.clamped(system.unwrapped_index(system.coordinate(wrapped, axis)), axis);
      const double last = parts[axis] - 1;
      double place = part[axis] - static_cast<double>(cell) * static_cast<double>(parts[axis]);
      place = place > 0 ? (place < last ? place : last) : 0;
      number = number * static_cast<std::uint64_t>(parts[axis]) + static_cast<std::uint64_t>(place);
    }
    return number;
  }
};

/// Host: cuts the cells of a system so that the diameter of a part is at most 0.9 linking lengths, which leaves room
/// for rounding.
template <typename T, int D>
[[nodiscard]] cluster_parts<T, D> make_cluster_parts(const search_system<T, D>& system, T link) {
  cluster_parts<T, D> result{};
  result.system = system;
  result.hashed = false;
  double count = 1;
  for (int axis = 0; axis < D; ++axis) {
    const auto rate = static_cast<double>(system.rate[axis]);
    const double edge =
        (system.shape.orthorhombic ? 1.0 : std::sqrt(squared_norm(cast<double>(system.shape.vectors[axis])))) / rate;
    const double shares = system.shape.orthorhombic ? std::sqrt(static_cast<double>(D)) : D;
    const double parts = std::fmin(std::fmax(std::ceil(edge * shares / (0.9 * static_cast<double>(link))), 1.0), 1e9);
    result.parts[axis] = static_cast<int>(parts);
    result.rate[axis] = rate * parts;
    // Half of what the diameter leaves, on either side.
    result.hashed =
        result.hashed || system.repeats[axis] != 1 || static_cast<double>(system.slack[axis]) * parts > 0.02;
    count *= parts;
  }
  result.hashed = result.hashed || count > (1 << cluster_parts<T, D>::most_part_bits);
  result.part_bits = cluster_parts<T, D>::most_part_bits;
  while (!result.hashed && result.part_bits > 0 && (1 << (result.part_bits - 1)) >= count) --result.part_bits;
  return result;
}

/// Index: point. The key that a point is sorted by. An invalid point is a fault and goes to the first cell.
template <typename T, int D>
struct cluster_key {
  search_key<T, D> key;
  cluster_parts<T, D> parts;

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    const vec<T, D> point = key.search.points[i];
    if (!key.check_in(parts.system.shape, point, i)) return 0;
    vec<int, D> boxes{};
    return parts.key_of(parts.system.shape.wrap(point, boxes));
  }
};

/// Index: slot. Whether a part begins here, and the number of points in each cell.
template <typename T, int D>
struct mark_parts {
  cluster_parts<T, D> parts;
  points_view<T, D> points;
  const std::uint64_t* keys;
  const particle_id* elements;
  std::size_t count;
  std::uint32_t* begins;       ///< by slot: 1 or 0
  std::uint32_t* cell_counts;  ///< 0 at first
  std::uint64_t* has_crowded;  ///< 0 at first; 1: there is a cell with `crowded` points or more

  QUADRAT_HD void operator()(std::size_t k) const {
    const cell_id cell = parts.cell_of_key(keys[k]);
    const bool first = k == 0 || parts.cell_of_key(keys[k - 1]) != cell;
    const bool last = k + 1 == count || parts.cell_of_key(keys[k + 1]) != cell;
    begins[k] = first || !same_part(k - 1, k) ? 1 : 0;
    // end - begin, modulo 2^32.
    if (first) atomic_add(cell_counts + cell, ~static_cast<std::uint32_t>(k) + 1);
    if (last) atomic_add(cell_counts + cell, static_cast<std::uint32_t>(k) + 1);
    if (first && k + crowded <= count && parts.cell_of_key(keys[k + crowded - 1]) == cell) {
      atomic_max(has_crowded, std::uint64_t{1});
    }
  }

  static constexpr std::size_t crowded = 24;

 private:
  [[nodiscard]] QUADRAT_HD bool same_part(std::size_t a, std::size_t b) const {
    constexpr int fine = cluster_parts<T, D>::fine_bits;
    if (keys[a] >> fine != keys[b] >> fine) return false;
    if (!parts.hashed) return true;
    return parts.part_of(wrapped(a)) == parts.part_of(wrapped(b));
  }
  [[nodiscard]] QUADRAT_HD vec<T, D> wrapped(std::size_t k) const {
    vec<int, D> boxes{};
    return parts.system.shape.wrap(points[elements[k]], boxes);
  }
};

/// Index: slot. Stores the points in the order of cells, and where parts begin.
template <typename T, int D>
struct place_cluster_points {
  cluster_parts<T, D> parts;
  points_view<T, D> points;
  const particle_id* elements;
  std::size_t count;
  const std::uint32_t* parts_before;  ///< by slot, with the total
  cluster_point<T, D>* placed;
  std::uint32_t* part_begins;
  std::uint32_t* parents;
  std::uint64_t* part_count;

  QUADRAT_HD void operator()(std::size_t k) const {
    vec<int, D> boxes{};
    const std::uint32_t before = parts_before[k + 1];
    placed[k] = {parts.system.shape.wrap(points[elements[k]], boxes), before - 1};
    if (parts_before[k] != before) {
      part_begins[before - 1] = static_cast<std::uint32_t>(k);
      parents[before - 1] = before - 1;
    }
    if (k + 1 != count) return;
    part_begins[before] = static_cast<std::uint32_t>(count);
    *part_count = before;
  }
};

}  // namespace quadrat::detail
