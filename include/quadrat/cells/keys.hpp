// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/fault.hpp"

/// Functions from elements to buckets: host-device functors `cell_id operator()(std::size_t i) const` whose result is
/// below the number of buckets for any data. Bad data raise a fault for element i; good data cost nothing.
/// `at(i, read(i))` is the same in two steps, for kernels that load several elements before they use the first. Over a
/// `wide_row_major_numbering` the result is a std::uint64_t.

namespace quadrat {

/// Keys computed by the caller. A key that is not below the number of buckets is a fault and goes to bucket 0.
struct given_keys {
  const std::uint32_t* keys;
  std::uint32_t bucket_count;
  fault_flag faults;

  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }

  [[nodiscard]] QUADRAT_HD std::uint32_t read(std::size_t i) const { return keys[i]; }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t i, std::uint32_t key) const {
    if (key < bucket_count) return key;
    faults.raise(fault_kind::key_range, i);
    return 0;
  }
};

/// Arbitrary 64-bit keys, spread over the buckets by hashing: the hash table with chaining of uniform-grid-atomics,
/// introduction.
struct hashed_keys {
  const std::uint64_t* keys;
  std::uint32_t bucket_count;

  /// The finalizer of splitmix64 (Steele, Lea, Flood 2014): every bit of the key moves every bit of the result.
  [[nodiscard]] QUADRAT_HD static std::uint64_t hash(std::uint64_t key) {
    key ^= key >> 30;
    key *= 0xbf58476d1ce4e5b9u;
    key ^= key >> 27;
    key *= 0x94d049bb133111ebu;
    return key ^ (key >> 31);
  }
  /// The high half of the hash scaled to the number of buckets, which need not be a power of two.
  [[nodiscard]] QUADRAT_HD cell_id bucket_of(std::uint64_t key) const {
    return static_cast<cell_id>(((hash(key) >> 32) * bucket_count) >> 32);
  }
  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }

  [[nodiscard]] QUADRAT_HD std::uint64_t read(std::size_t i) const { return keys[i]; }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t, std::uint64_t key) const { return bucket_of(key); }
};

/// Raises a fault for point i if it is outside the box or, if points may lie outside, not finite.
template <typename T, int D>
QUADRAT_HD void check_point(const box<T, D>& domain, const vec<T, D>& point, std::size_t i, const fault_flag& faults,
                            bool accept_outside = false) {
  if (domain.contains(point)) return;
  bool finite = true;
  for (int axis = 0; axis < D; ++axis) finite = finite && point[axis] - point[axis] == T(0);
  if (finite && accept_outside) return;
  faults.raise(finite ? fault_kind::outside : fault_kind::not_finite, i);
}

/// Stores a particle by its center.
template <typename T, int D>
struct center_anchor {
  /// The point whose cell stores a particle at `point`.
  [[nodiscard]] QUADRAT_HD vec<T, D> operator()(const box<T, D>& domain, const vec<T, D>& point) const {
    return domain.wrap(point);
  }
};

/// Stores a particle by the low vertex of its axis-aligned bounding box of half-width `radius`: the loose grid of
/// uniform-grid-atomics, section 1. Low vertices are as far apart as the particles.
template <typename T, int D>
struct low_vertex_anchor {
  T radius;

  [[nodiscard]] QUADRAT_HD vec<T, D> operator()(const box<T, D>& domain, const vec<T, D>& point) const {
    vec<T, D> vertex = domain.wrap(point);
    for (int axis = 0; axis < D; ++axis) vertex[axis] -= radius;
    return domain.wrap(vertex);
  }
};

/// The number of the cell that stores a point. A point outside the box goes to the nearest cell, one that is not finite
/// to the first. Either is a fault, unless it is finite and `accept_outside` is set.
template <typename T, int D, typename Numbering, typename Anchor>
struct cell_key {
  points_view<T, D> points;
  grid<T, D> space;
  Numbering numbering;
  Anchor anchor;
  fault_flag faults;
  bool accept_outside;

  QUADRAT_HD auto operator()(std::size_t i) const { return at(i, read(i)); }

  [[nodiscard]] QUADRAT_HD vec<T, D> read(std::size_t i) const { return points[i]; }
  [[nodiscard]] QUADRAT_HD auto at(std::size_t i, const vec<T, D>& point) const {
    check_point(space.domain, point, i, faults, accept_outside);
    return numbering.id(space.cell_of(anchor(space.domain, point)));
  }
};

}  // namespace quadrat
