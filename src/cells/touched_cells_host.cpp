// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/touched_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cells/checks.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

/// Exponent of the lowest set bit of the value: value = odd * 2^exponent. A large exponent for zero.
template <typename T>
int lowest_bit(T value) {
  if (value == T(0)) return std::numeric_limits<int>::max();
  int exponent = 0;
  T fraction = std::frexp(value, &exponent);
  while (fraction != std::trunc(fraction)) {
    fraction *= 2;
    --exponent;
  }
  while (std::fmod(fraction, T(2)) == T(0)) {
    fraction /= 2;
    ++exponent;
  }
  return exponent;
}

/// Whether the edge divides the box exactly, is at least 2 radius, and all faces of cells, also those shifted by the
/// radius, are multiples of one power of two that the type represents.
template <typename T, int D>
bool faces_are_exact(const grid<T, D>& space, T radius, int axis) {
  const T edge = space.edge(axis);
  const T length = space.domain.length[axis];
  if (std::fma(edge, static_cast<T>(space.cells[axis]), -length) != T(0) || edge < 2 * radius) return false;
  const T lower = space.domain.lower[axis];
  const int unit = std::min({lowest_bit(lower), lowest_bit(edge), lowest_bit(radius)});
  const T largest = std::fabs(lower) + length + 2 * edge + radius;
  return std::ilogb(largest) + 1 - unit < std::numeric_limits<T>::digits;
}

/// The number of cells along an axis whose edges leave room to widen boxes by the slack on either side. Along a folded
/// periodic axis, a multiple of the stored cells.
template <typename T, int D>
int cells_with_room(const grid<T, D>& space, T radius, int axis) {
  const T needed = 2 * radius * (1 + 4 * std::numeric_limits<T>::epsilon()) + 4 * space.slack[axis];
  int cells = space.cells[axis], step = 1;
  if (space.folded && space.domain.periodic[axis] && space.stored[axis] < cells) {
    step = space.stored[axis];
  } else {
    cells = static_cast<int>(std::fmin(cells, std::ceil(space.domain.length[axis] / needed) + 1));
  }
  while (cells > step && space.domain.length[axis] / static_cast<T>(cells) < needed) cells -= step;
  return cells;
}

}  // namespace

template <typename T, int D>
touch_rule<T, D> make_touch_rule(grid<T, D>& space, T radius) {
  detail::require_radius("linked_tight", radius);
  touch_rule<T, D> rule{};
  rule.radius = radius;
  vec<int, D> cells = space.cells;
  for (int axis = 0; axis < D; ++axis) {
    require(cells[axis] == 1 || space.edge(axis) >= 2 * radius, "linked_tight needs cells of at least 2 radius (",
            2 * radius, "); along axis ", axis, " the edge is ", space.edge(axis), ": take at most ",
            std::max(1.0, std::floor(static_cast<double>(space.domain.length[axis]) / (2.0 * radius))), " cells");
    rule.exact[axis] = faces_are_exact(space, radius, axis);
    if (!rule.exact[axis]) cells[axis] = cells_with_room(space, radius, axis);
  }
  for (int axis = 0; axis < D; ++axis) {
    if (space.stored[axis] == space.cells[axis]) space.stored[axis] = cells[axis];
    space.cells[axis] = cells[axis];
    space.inverse_edge[axis] = static_cast<T>(cells[axis]) / space.domain.length[axis];
    rule.edge[axis] = space.edge(axis);
    rule.reach[axis] = radius + space.slack[axis];
  }
  return rule;
}

template touch_rule<float, 2> make_touch_rule(grid<float, 2>&, float);
template touch_rule<float, 3> make_touch_rule(grid<float, 3>&, float);
template touch_rule<double, 2> make_touch_rule(grid<double, 2>&, double);
template touch_rule<double, 3> make_touch_rule(grid<double, 3>&, double);

}  // namespace quadrat
