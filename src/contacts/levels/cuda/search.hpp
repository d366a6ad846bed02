// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/levels/grids.hpp"
#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/types.hpp"

/// The search of the method `levels` on CUDA: a warp takes 32 slots, its lanes search for partners, and the pairs wait
/// in a queue in shared memory until the whole warp turns them into records, one per lane, with coalesced writes.
/// Neither the number of contacts of a body nor the size of a bin leaves lanes idle.
namespace quadrat::detail {

/// Slots that a warp takes.
inline constexpr std::uint32_t warp_chunk = 32;

/// A body as the search reads it, by slot: its wrapped center, and the radius of its bounding sphere, which determines
/// its level.
template <typename T>
struct alignas(16) warp_body {
  vec<T, 3> center;
  T radius;
};

/// The other data of an ellipsoid, by slot.
template <typename T>
struct warp_ellipsoid {
  vec<T, 3> size;
  quaternion<T> orientation;  ///< a unit quaternion
};

/// A level as the search reads it.
template <typename T>
struct warp_level {
  vec<T, 3> lower;
  vec<T, 3> inverse_edge;
  vec<T, 3> edge;
  vec<T, 3> slack;  ///< in cells
  vec<int, 3> cells;
  vec<bool, 3> repeats;  ///< axes around which the cells go: periodic or folded
  vec<bool, 3> folded;
  /// Whether no row of cells can come both before and after another around such an axis, if no body is far.
  bool ordered;
  cell_id first_cell;
  T widest;
};

/// Bodies in the order of the cells of all levels. Arrays are by slot, except the centers.
template <typename T>
struct warp_search {
  warp_level<T> levels[most_levels];
  int level_count;
  box<T, 3> domain;
  const std::uint32_t* offsets;  ///< first slot of each cell, and the end
  const warp_body<T>* records;
  const particle_id* ids;
  const warp_ellipsoid<T>* ellipsoids;  ///< nullptr: spheres
  const vec<T, 3>* half_extents;        ///< of ellipsoids' boxes
  const std::uint32_t* groups;          ///< nullptr: all bodies interact
  const std::uint64_t* far;             ///< not 0 if a body is far (level_grids::is_far) or wider than planned
  const std::uint64_t* largest;         ///< bits of a radius, if a body is wider than planned
  const plane<T>* planes;
  std::uint32_t plane_count;
  std::uint32_t count;
  points_view<T, 3> centers;  ///< by body, as given: contact points are relative to these
  std::uint32_t masks[32];
};

/// Where records go. With `begins`, those of chunk c are written from begins[c] on, in a fixed order; without, in any
/// order. Nothing is written beyond the capacity, but everything is counted.
template <typename T>
struct warp_sink {
  contact<T>* records;          ///< nullptr if capacity is 0
  std::uint64_t capacity;       ///< of `records`
  std::uint64_t* size;          ///< without `begins`: number of records; zero at first
  const std::uint64_t* begins;  ///< by chunk
  std::uint32_t* counts;        ///< for counting only: number of contacts by chunk
};

template <typename T>
[[nodiscard]] warp_level<T> warp_level_of(const level_grids<T>& grids, int level) {
  const grid<T, 3>& space = grids.space[level];
  warp_level<T> shape{space.domain.lower,      space.inverse_edge, {}, {}, space.cells, {}, grids.folded[level], true,
                      grids.first_cell[level], grids.widest[level]};
  for (int axis = 0; axis < 3; ++axis) {
    shape.repeats[axis] = grids.repeats(level, axis);
    shape.edge[axis] = grids.edge(level, axis);
    shape.slack[axis] = space.slack[axis] * space.inverse_edge[axis];
    // Of two bodies, with the rounding of one that is nearly far.
    const T rows = 4 * (shape.widest * shape.inverse_edge[axis] + shape.slack[axis]) + (shape.folded[axis] ? 6 : 4);
    if (shape.repeats[axis] && !(rows < static_cast<T>(shape.cells[axis]))) shape.ordered = false;
  }
  return shape;
}

/// Ellipsoids if `ellipsoids` is set, spheres otherwise. Asynchronous.
template <typename T>
void search_by_warps(const cuda_context& context, const warp_search<T>& search, const warp_sink<T>& sink);

}  // namespace quadrat::detail
