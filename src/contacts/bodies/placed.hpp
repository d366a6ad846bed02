// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// Searches give every box a positive extent.
template <typename T>
inline constexpr T least_extent = std::numeric_limits<T>::min();

/// The data of a body for pair searches: 32 bytes in float, 56 in double.
template <typename T>
struct placed_body {
  vec<T, 3> center;  ///< wrapped along periodic axes
  vec<T, 3> half;    ///< half extents of its box; for a sphere its radius
  particle_id id;
  std::uint32_t group;

  [[nodiscard]] QUADRAT_HD T widest() const { return std::fmax(half[0], std::fmax(half[1], half[2])); }
};

/// A distance plus a bound on the rounding of sums and products of such distances. It suffices for spheres: if
/// spheres_touch holds, centers are closer along each axis than the widened sum of radii.
template <typename T>
[[nodiscard]] QUADRAT_HD T widened(T distance) {
  return distance * (T(1) + T(16) * rounding_unit<T>);
}

/// The distance from its center at which a body is searched along an axis. Open axes need no allowance for rounding:
/// rounded subtraction and floor are monotonic, so that overlapping boxes have overlapping index ranges.
template <typename T>
[[nodiscard]] QUADRAT_HD T search_margin(const grid<T, 3>& space, T distance, int axis) {
  return widened(distance) + (space.domain.periodic[axis] ? space.slack[axis] : T(0));
}

/// The indices of a bin along the axes.
template <typename T>
[[nodiscard]] QUADRAT_HD vec<int, 3> bin_position(const grid<T, 3>& space, cell_id bin) {
  const auto nx = static_cast<cell_id>(space.cells[0]), ny = static_cast<cell_id>(space.cells[1]);
  return {static_cast<int>(bin % nx), static_cast<int>(bin / nx % ny), static_cast<int>(bin / nx / ny)};
}

/// Bins that a body touches along an axis: unwrapped along periodic axes (possibly more than the axis has), clamped to
/// the grid along open ones.
template <typename T>
[[nodiscard]] QUADRAT_HD index_range touched_along(const grid<T, 3>& space, const placed_body<T>& body, int axis) {
  const T margin = search_margin(space, body.half[axis], axis);
  index_range range{space.unwrapped_index(body.center[axis] - margin, axis),
                    space.unwrapped_index(body.center[axis] + margin, axis)};
  if (!space.domain.periodic[axis]) range = {space.wrapped(range.first, axis), space.wrapped(range.last, axis)};
  return range;
}

/// Number of distinct bins of such a range.
template <typename T>
[[nodiscard]] QUADRAT_HD int distinct(const grid<T, 3>& space, const index_range& range, int axis) {
  const std::int64_t width = std::int64_t{range.last} - range.first + 1;
  return width < space.cells[axis] ? static_cast<int>(width) : space.cells[axis];
}

/// Bins along an axis that both bodies touch, in the frame of a, with b as its image nearest to a. Not empty if their
/// boxes meet.
template <typename T>
[[nodiscard]] QUADRAT_HD index_range common_along(const grid<T, 3>& space, const placed_body<T>& a,
                                                  const placed_body<T>& b, int axis) {
  const index_range of_a = touched_along(space, a, axis);
  index_range of_b = touched_along(space, b, axis);
  if (space.domain.periodic[axis]) {
    const T apart = b.center[axis] - a.center[axis];
    const T half = space.domain.length[axis] * T(0.5);
    const int shift = apart >= half ? -space.cells[axis] : (apart < -half ? space.cells[axis] : 0);
    of_b.first += shift;
    of_b.last += shift;
  }
  return {of_a.first > of_b.first ? of_a.first : of_b.first, of_a.last < of_b.last ? of_a.last : of_b.last};
}

/// The most boxes that a center may lie away along a periodic axis, such that its wrapped position is resolved and
/// shifts are exact.
template <typename T>
inline constexpr T most_boxes_away = sizeof(T) == 4 ? T(0x1p20) : T(0x1p30);

template <typename T>
[[nodiscard]] QUADRAT_HD bool too_far(const box<T, 3>& domain, const vec<T, 3>& center) {
  bool result = false;
  for (int axis = 0; axis < 3; ++axis) {
    result = result || (domain.periodic[axis] && !(std::fabs(domain.fraction(center, axis)) <= most_boxes_away<T>));
  }
  return result;
}

/// The shift, in boxes, from b to its image at `offset` from a, for centers as the caller gave them.
template <typename T>
[[nodiscard]] QUADRAT_HD vec<int, 3> shift_between(const box<T, 3>& domain, const vec<T, 3>& a, const vec<T, 3>& b,
                                                   const vec<T, 3>& offset) {
  vec<int, 3> shift{};
  for (int axis = 0; axis < 3; ++axis) {
    if (!domain.periodic[axis]) continue;
    shift[axis] = static_cast<int>(std::rint((offset[axis] - (b[axis] - a[axis])) / domain.length[axis]));
  }
  return shift;
}

/// The groups that interact. Bodies without groups are in group 0.
struct group_filter {
  std::uint32_t masks[32];

  explicit group_filter(const pair_masks& given) : masks{} {
    for (std::size_t group = 0; group < 32; ++group) masks[group] = given[group];
  }
  [[nodiscard]] QUADRAT_HD bool meet(std::uint32_t a, std::uint32_t b) const { return (masks[a] >> b & 1u) != 0; }
};

}  // namespace quadrat::detail
