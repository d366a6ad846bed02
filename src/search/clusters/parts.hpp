// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "quadrat/cells/keys.hpp"
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

  [[nodiscard]] QUADRAT_HD std::uint64_t key_of(const vec<T, D>& wrapped) const {
    const vec<double, D> at = cells.coordinates(wrapped);
    std::uint64_t key = cells.bucket_at(at);
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

/// Host: cuts cells so that the diameter of a part is at most 0.97 cutoffs, which leaves room for rounding.
template <typename T, int D>
[[nodiscard]] cluster_parts<T, D> make_cluster_parts(const cluster_cells<T, D>& cells, T cutoff) {
  cluster_parts<T, D> result{};
  result.cells = cells;
  result.shared = cells.table > 0;
  result.hash_bits = cells.table > 0 ? 6 : 0;
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
  const int most_bits = (63 - key_bits_for(cells.buckets) - result.hash_bits) / D;
  constexpr int fine = 12 / D;
  result.place_bits = std::min(part_bits + fine, most_bits);
  result.fine_bits = D * std::max(0, result.place_bits - part_bits);
  // A third of the room that the diameter leaves, on either side.
  result.shared = result.shared || part_bits > most_bits || rounded * result.parts > 0.01;
  return result;
}

/// Index: point. The key that a point is sorted by. An invalid point is a fault and goes to the first cell.
template <typename T, int D>
struct cluster_key {
  search_key<T, D> key;
  cluster_parts<T, D> parts;

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    const vec<T, D> point = key.search.points[i];
    if (!key.check_in(parts.cells.shape, point, i)) return 0;
    vec<int, D> boxes{};
    return parts.key_of(parts.cells.shape.wrap(point, boxes));
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
  std::uint32_t* cell_counts;  ///< of buckets: 0 at first
  std::uint64_t* has_crowded;  ///< 0 at first; 1: there is a cell with `crowded` points or more

  QUADRAT_HD void operator()(std::size_t k) const {
    const cell_id cell = parts.bucket_of_key(keys[k]);
    const bool first = k == 0 || parts.bucket_of_key(keys[k - 1]) != cell;
    const bool last = k + 1 == count || parts.bucket_of_key(keys[k + 1]) != cell;
    begins[k] = first || !same_part(k - 1, k) ? 1 : 0;
    // end - begin, modulo 2^32.
    if (first) atomic_add(cell_counts + cell, ~static_cast<std::uint32_t>(k) + 1);
    if (last) atomic_add(cell_counts + cell, static_cast<std::uint32_t>(k) + 1);
    if (first && k + crowded <= count && parts.bucket_of_key(keys[k + crowded - 1]) == cell) {
      atomic_max(has_crowded, std::uint64_t{1});
    }
  }

  static constexpr std::size_t crowded = 24;

 private:
  [[nodiscard]] QUADRAT_HD bool same_part(std::size_t a, std::size_t b) const {
    if (keys[a] >> parts.fine_bits != keys[b] >> parts.fine_bits) return false;
    return !parts.shared || parts.same_part(wrapped(a), wrapped(b));
  }
  [[nodiscard]] QUADRAT_HD vec<T, D> wrapped(std::size_t k) const {
    vec<int, D> boxes{};
    return parts.cells.shape.wrap(points[elements[k]], boxes);
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
    placed[k] = {parts.cells.shape.wrap(points[elements[k]], boxes), before - 1};
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
