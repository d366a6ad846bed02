// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/levels/grids.hpp"
#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/types.hpp"

/// The search of the method `levels` on CUDA: a warp takes 32 slots, its lanes look for partners, and what they find
/// stands in a queue in shared memory until the whole warp turns it into records, a lane each, that are written side by
/// side. So neither the number of contacts of a body nor the size of a bin leaves lanes without work.
namespace quadrat::detail {

/// Slots that a warp takes.
inline constexpr std::uint32_t warp_chunk = 32;

/// A body as the search reads it, by slot: its center, brought home, and the radius of the smallest sphere around it.
/// The levels of a search are by these radii.
template <typename T>
struct alignas(16) warp_body {
  vec<T, 3> center;
  T radius;
};

/// What else there is to an ellipsoid, by slot.
template <typename T>
struct warp_ellipsoid {
  vec<T, 3> size;
  quaternion<T> orientation;  ///< of length one
};

/// A level as the search reads it.
template <typename T>
struct warp_level {
  vec<T, 3> lower;
  vec<T, 3> inverse_edge;
  vec<T, 3> edge;
  vec<T, 3> slack;  ///< in cells
  vec<int, 3> cells;
  vec<bool, 3> periodic;
  /// Whether no row of cells can be met both before and after another one around a periodic axis.
  bool ordered;
  cell_id first_cell;
  T widest;
};

/// Bodies in the order of the cells of all levels. Arrays are by slot, but for the centers.
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
  const std::uint32_t* groups;          ///< nullptr: all bodies meet
  const plane<T>* planes;
  std::uint32_t plane_count;
  std::uint32_t count;
  points_view<T, 3> centers;  ///< by body, as the caller has them: contacts stand there
  std::uint32_t masks[32];
};

/// Where records go. With `begins`, those of chunk c are written from begins[c] on, in an order that is always the
/// same; without, wherever there is room. Beyond the capacity nothing is written, but all is counted.
template <typename T>
struct warp_sink {
  contact<T>* records;          ///< nullptr where capacity is 0
  std::uint64_t capacity;       ///< of `records`
  std::uint64_t* size;          ///< without `begins`: how many there are; zero at first
  const std::uint64_t* begins;  ///< by chunk
  std::uint32_t* counts;        ///< where contacts are only counted: how many, by chunk
};

template <typename T>
[[nodiscard]] warp_level<T> warp_level_of(const level_grids<T>& grids, int level) {
  const grid<T, 3>& space = grids.space[level];
  warp_level<T> shape{space.domain.lower,      space.inverse_edge, {}, {}, space.cells, space.domain.periodic, true,
                      grids.first_cell[level], grids.widest[level]};
  for (int axis = 0; axis < 3; ++axis) {
    shape.edge[axis] = space.edge(axis);
    shape.slack[axis] = space.slack[axis] * space.inverse_edge[axis];
    const T rows = 4 * (shape.widest * shape.inverse_edge[axis] + shape.slack[axis]) + 4;
    if (shape.periodic[axis] && !(rows < static_cast<T>(shape.cells[axis]))) shape.ordered = false;
  }
  return shape;
}

/// Spheres, or ellipsoids where there are some. Asynchronous.
template <typename T>
void search_by_warps(const cuda_context& context, const warp_search<T>& search, const warp_sink<T>& sink);

}  // namespace quadrat::detail
