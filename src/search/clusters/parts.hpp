// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "quadrat/cells/keys.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/sort.hpp"
#include "search/clusters/cells.hpp"
#include "search/search.hpp"

/// Cells of about the cutoff, cut into parts in which all points are linked. Points are sorted by cell (in the
/// order of buckets), then along a Morton curve in the cell, on which a part is one stretch.
namespace quadrat::detail {

/// A point in the order of cells: its wrapped position and the number of its part.
template <typename T, int D>
struct alignas(sizeof(T) == 4 ? 16 : 8) cluster_point {
  /// This bit of `part` is set for points that are not core points.
  static constexpr std::uint32_t not_core = 0x80000000u;

  vec<T, D> position;
  std::uint32_t part_and_core;

  [[nodiscard]] QUADRAT_HD std::uint32_t part() const { return part_and_core & ~not_core; }
  [[nodiscard]] QUADRAT_HD bool is_core() const { return (part_and_core & not_core) == 0; }
};

/// Bits of the hash of a cell in the keys of points, where cells share buckets.
inline constexpr int hash_bits_of_tables = 6;

/// The division of cells into parts, and the sorting keys of points: bucket, hash of the cell if cells share buckets,
/// place in the cell along a Morton curve. Since each cell has 2^k parts along each axis, the first bits of the place
/// are the part.
template <typename T, int D>
struct cluster_parts {
  cluster_cells<T, D> cells;
  double parts;  ///< of a cell along each axis: a power of two
  /// Whether keys do not determine the part, because cells share buckets, are rounded, or have too many parts.
  /// Coordinates then tell parts apart.
  bool shared;
  int hash_bits;
  int place_bits;  ///< along each axis
  int fine_bits;   ///< last bits of a key, which do not depend on the part

  template <bool Several>
  [[nodiscard]] QUADRAT_HD std::uint64_t key_of(const vec<T, D>& wrapped) const {
    const vec<double, D> at = cells.coordinates(wrapped);
    std::uint64_t key = cells.template bucket_at<Several>(at);
    if (hash_bits > 0) key = key << hash_bits | hash_of(at) >> (64 - hash_bits);
    vec<std::uint64_t, D> place{};
    const double places = static_cast<double>(std::uint64_t{1} << place_bits);
    for (int axis = 0; axis < D; ++axis) {
      const double along = std::floor(cells.place_of(at[axis], axis) * places);
      place[axis] = static_cast<std::uint64_t>(along < places - 1 ? (along > 0 ? along : 0) : places - 1);
    }
    for (int b = place_bits - 1; b >= 0; --b) {
      for (int axis = D - 1; axis >= 0; --axis) key = key << 1 | (place[axis] >> b & 1u);
    }
    return key;
  }
  [[nodiscard]] QUADRAT_HD cell_id bucket_of_key(std::uint64_t key) const {
    return static_cast<cell_id>(key >> (hash_bits + D * place_bits));
  }
  /// For shared parts: whether two points whose keys differ at most in the fine bits are in one part. If so, they are
  /// linked.
  [[nodiscard]] QUADRAT_HD bool same_part(const vec<T, D>& a, const vec<T, D>& b) const {
    return a == b || (cells.is_exact(a) && cells.is_exact(b) && part_of(a) == part_of(b));
  }

 private:
  [[nodiscard]] QUADRAT_HD vec<double, D> part_of(const vec<T, D>& wrapped) const {
    vec<double, D> at = cells.coordinates(wrapped);
    for (int axis = 0; axis < D; ++axis) at[axis] = std::floor(at[axis] * parts);
    return at;
  }
  /// The hash of a cell.
  [[nodiscard]] QUADRAT_HD static std::uint64_t hash_of(const vec<double, D>& at) {
    std::uint64_t hash = 0;
    for (int axis = 0; axis < D; ++axis) {
      const auto index = static_cast<std::int64_t>(std::floor(at[axis]));
      hash = hashed_keys::hash((hash ^ static_cast<std::uint64_t>(index)) + 0x9e3779b97f4a7c15u);
    }
    return hash;
  }
};

/// Host: cuts cells so that the diameter of a part is at most 0.97 cutoffs, which leaves room for rounding. `buckets`
/// and `hash_bits` are those of all systems.
template <typename T, int D>
[[nodiscard]] cluster_parts<T, D> make_cluster_parts(const cluster_cells<T, D>& cells, T cutoff, std::uint32_t buckets,
                                                     int hash_bits) {
  cluster_parts<T, D> result{};
  result.cells = cells;
  result.shared = cells.table > 0 || cells.buckets == 1;
  result.hash_bits = hash_bits;
  const lattice<T, D>& shape = cells.shape;
  double sum = 0, squares = 0, rounded = 0;
  for (int axis = 0; axis < D; ++axis) {
    const double length = shape.orthorhombic ? 1.0 : std::sqrt(squared_norm(cast<double>(shape.vectors[axis])));
    const double edge = length / cells.rate[axis] / static_cast<double>(cutoff);
    sum += edge;
    squares += edge * edge;
    // By rounding, points may lie slightly outside the box.
    double size = size_in_box(shape, axis);
    for (int k = 0; k < D && !shape.orthorhombic; ++k) {
      size += std::fabs(static_cast<double>(shape.inverse[axis][k] * shape.origin[k]));
    }
    const double outside = 16.0 * std::numeric_limits<T>::epsilon() * size * cells.cells[axis];
    rounded = std::fmax(rounded, cells.allowed[axis] + outside);
  }
  const double diameter = shape.orthorhombic ? std::sqrt(squares) : sum;
  const int part_bits = std::max(0, static_cast<int>(std::ceil(std::log2(diameter / 0.97))));
  result.parts = std::ldexp(1.0, part_bits);
  const int most_bits = (63 - key_bits_for(buckets) - result.hash_bits) / D;
  constexpr int fine = 12 / D;
  result.place_bits = std::min(part_bits + fine, most_bits);
  result.fine_bits = D * std::max(0, result.place_bits - part_bits);
  // A third of the room that the diameter leaves, on either side.
  result.shared = result.shared || part_bits > most_bits || rounded * result.parts > 0.01;
  return result;
}

/// Host: cells and parts of several systems, with keys of one form. `counts`: the points of each system.
template <typename T, int D>
[[nodiscard]] std::vector<cluster_parts<T, D>> make_parts_of_systems(const std::vector<lattice<T, D>>& shapes,
                                                                     const std::vector<std::uint32_t>& counts, T cutoff,
                                                                     bool accept_outside) {
  // A table of buckets for fewer points would be larger than they are.
  constexpr std::uint32_t few = 24;
  std::vector<cluster_cells<T, D>> cells;
  std::uint64_t buckets = 0;
  int hash_bits = 0;
  for (std::size_t system = 0; system < shapes.size(); ++system) {
    cells.push_back(make_cluster_cells(shapes[system], cutoff, accept_outside, counts[system]));
    if (counts[system] < few) put_into_one_bucket(cells.back());
    cells.back().first_bucket = static_cast<std::uint32_t>(buckets);
    buckets += cells.back().buckets;
    if (cells.back().table > 0) hash_bits = hash_bits_of_tables;
  }
  require(buckets <= 0xffffffffu, "the systems have ", buckets, " cells; at most 2^32 - 1 are possible");
  std::vector<cluster_parts<T, D>> result;
  int place_bits = 0;
  for (const cluster_cells<T, D>& each : cells) {
    result.push_back(make_cluster_parts(each, cutoff, static_cast<std::uint32_t>(buckets), hash_bits));
    place_bits = std::max(place_bits, result.back().place_bits);
  }
  for (cluster_parts<T, D>& each : result) {
    each.fine_bits += D * (place_bits - each.place_bits);
    each.place_bits = place_bits;
  }
  return result;
}

/// The only system, passed to kernels by value.
template <typename T, int D>
struct one_cluster_system {
  static constexpr bool several = false;

  cluster_parts<T, D> parts;

  [[nodiscard]] QUADRAT_HD bool has(std::size_t) const { return true; }
  [[nodiscard]] QUADRAT_HD const cluster_parts<T, D>& of_point(std::size_t) const { return parts; }
  [[nodiscard]] QUADRAT_HD const cluster_parts<T, D>& of_slot(std::size_t) const { return parts; }
};

/// Several systems, in the memory of the context.
template <typename T, int D>
struct cluster_systems {
  static constexpr bool several = true;

  const cluster_parts<T, D>* parts;
  std::uint32_t count;
  const std::uint32_t* numbers;  ///< by point
  const particle_id* elements;   ///< by slot, once points are sorted

  /// Whether the system of a point exists.
  [[nodiscard]] QUADRAT_HD bool has(std::size_t i) const { return numbers[i] < count; }
  [[nodiscard]] QUADRAT_HD const cluster_parts<T, D>& of_point(std::size_t i) const {
    return parts[has(i) ? numbers[i] : 0];
  }
  [[nodiscard]] QUADRAT_HD const cluster_parts<T, D>& of_slot(std::size_t k) const { return of_point(elements[k]); }
};

/// Index: point. Counts the points of each system.
struct count_system_points {
  const std::uint32_t* numbers;
  std::uint32_t* counts;  ///< 0 at first
  std::uint32_t count;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (numbers[i] < count) atomic_add(counts + numbers[i], 1u);
  }
};

/// Index: point. The key that a point is sorted by. An invalid point is a fault and goes to the first cell.
template <typename T, int D, typename Systems>
struct cluster_key {
  search_key<T, D> key;
  Systems systems;

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    if (!systems.has(i)) {
      key.faults.raise(fault_kind::key_range, i);
      return 0;
    }
    const cluster_parts<T, D>& parts = systems.of_point(i);
    const vec<T, D> point = key.search.points[i];
    if (!key.check_in(parts.cells.shape, point, i)) return 0;
    vec<int, D> boxes{};
    return parts.template key_of<Systems::several>(parts.cells.shape.wrap(point, boxes));
  }
};

/// Index: slot. Whether a part begins here, and the number of points in each cell.
template <typename T, int D, typename Systems>
struct mark_parts {
  Systems systems;
  points_view<T, D> points;
  const std::uint64_t* keys;
  const particle_id* elements;
  std::size_t count;
  std::uint32_t* begins;       ///< by slot: 1 or 0
  std::uint32_t* cell_counts;  ///< of buckets: 0 at first
  std::uint64_t* has_crowded;  ///< 0 at first; 1: there is a cell with `crowded` points or more

  QUADRAT_HD void operator()(std::size_t k) const {
    const cluster_parts<T, D>& parts = systems.of_slot(k);
    const cell_id cell = parts.bucket_of_key(keys[k]);
    const bool first = k == 0 || parts.bucket_of_key(keys[k - 1]) != cell;
    const bool last = k + 1 == count || parts.bucket_of_key(keys[k + 1]) != cell;
    begins[k] = first || !same_part(parts, k - 1, k) ? 1 : 0;
    // end - begin, modulo 2^32.
    if (first) atomic_add(cell_counts + cell, ~static_cast<std::uint32_t>(k) + 1);
    if (last) atomic_add(cell_counts + cell, static_cast<std::uint32_t>(k) + 1);
    if (first && k + crowded <= count && parts.bucket_of_key(keys[k + crowded - 1]) == cell) {
      atomic_max(has_crowded, std::uint64_t{1});
    }
  }

  static constexpr std::size_t crowded = 24;

 private:
  [[nodiscard]] QUADRAT_HD bool same_part(const cluster_parts<T, D>& parts, std::size_t a, std::size_t b) const {
    if (keys[a] >> parts.fine_bits != keys[b] >> parts.fine_bits) return false;
    return !parts.shared || parts.same_part(wrapped(parts, a), wrapped(parts, b));
  }
  [[nodiscard]] QUADRAT_HD vec<T, D> wrapped(const cluster_parts<T, D>& parts, std::size_t k) const {
    vec<int, D> boxes{};
    return parts.cells.shape.wrap(points[elements[k]], boxes);
  }
};

/// Index: slot. Stores the points in the order of cells, and where parts begin.
template <typename T, int D, typename Systems>
struct place_cluster_points {
  Systems systems;
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
    placed[k] = {systems.of_slot(k).cells.shape.wrap(points[elements[k]], boxes), before - 1};
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
