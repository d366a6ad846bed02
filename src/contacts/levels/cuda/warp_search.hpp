// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/levels/grids.hpp"
#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/types.hpp"

/// The search of the method `levels` on CUDA: a warp takes 32 slots, and its lanes search for partners. Pairs wait in a
/// queue in shared memory until the whole warp turns them into records, one per lane, with coalesced writes. Lanes stay
/// busy whatever the number of contacts of a body and the size of a bin.
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

/// The moves of a row on its ring of cells, relative to the previous and the next row, if the stored rows repeat. At
/// the end of a periodic box the repeats begin again at another place.
struct row_steps {
  int back, forth;  ///< from 0 to the number of stored cells
  int back_of_first, forth_of_last;
};

/// A level as the search reads it.
template <typename T>
struct warp_level {
  ring_cells<T> cells;
  vec<bool, 3> around;  ///< axes around which cells wrap: periodic or repeated
  row_steps steps[3];   ///< along y and z
  bool rings;           ///< whether rows are moved
  /// Whether no row of cells can be both before and after another around such an axis, if no body is far.
  bool ordered;
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

/// The destination of records. With `begins`, records of chunk c are written from begins[c] on, in a fixed order;
/// otherwise in any order. Records beyond the capacity are counted but not written.
template <typename T>
struct warp_sink {
  contact<T>* records;          ///< nullptr if capacity is 0
  std::uint64_t capacity;       ///< of `records`
  std::uint64_t* size;          ///< without `begins`: number of records; zero at first
  const std::uint64_t* begins;  ///< by chunk
  std::uint32_t* counts;        ///< for counting only: number of contacts by chunk
};

/// The moves of rows along an axis of a level.
template <typename T>
[[nodiscard]] row_steps row_steps_of(const ring_cells<T>& cells, int axis) {
  const auto moved = [&](int repeats) {
    vec<int, 3> repeat{};
    repeat[axis] = repeats;
    return cells.row_start(repeat);
  };
  const int last = cells.repeats[axis] - 1;
  return {moved(-1), moved(1), moved(last < 0 ? -1 : last), moved(last < 0 ? 1 : -last)};
}

template <typename T>
[[nodiscard]] warp_level<T> warp_level_of(const level_grids<T>& grids, int level) {
  warp_level<T> shape{grids.cells[level], {}, {}, false, true, grids.widest[level]};
  const ring_cells<T>& cells = shape.cells;
  for (int axis = 0; axis < 3; ++axis) {
    shape.around[axis] = grids.goes_around(level, axis);
    if (axis > 0) shape.steps[axis] = row_steps_of(cells, axis);
    shape.rings = shape.rings || cells.steps[axis] != 0;
    // The reach of two bodies, with the rounding of a body that is nearly far.
    const T rows = 4 * (shape.widest * cells.cells_per_length[axis] + cells.slack[axis]) + 4;
    if (shape.around[axis] && !(rows <= static_cast<T>(cells.cells[axis]))) shape.ordered = false;
  }
  return shape;
}

/// Ellipsoids if `ellipsoids` is set, spheres otherwise. Asynchronous.
template <typename T>
void search_by_warps(const cuda_context& context, const warp_search<T>& search, const warp_sink<T>& sink);

}  // namespace quadrat::detail
