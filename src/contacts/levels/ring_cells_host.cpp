// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/levels/ring_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace quadrat::detail {

namespace {

/// The most cells along a periodic axis whose numbers are exact in T.
template <typename T>
constexpr double most_cells_of_axis = sizeof(T) == 4 ? 1e6 : 1e9;
/// The most cells on the ring of a row, so that places on it round by less than a cell.
template <typename T>
constexpr double most_cells_of_ring = sizeof(T) == 4 ? 0x1p18 : 1e9;
/// The rounding of two coordinates and a separation, in units of epsilon times the box.
constexpr double roundings = 32;

/// Cells along an axis, if none is folded, and the stored cells needed so that a walk meets no row twice; it takes all
/// cells of a short ring.
struct natural_axis {
  double count, least;
};

template <typename T>
natural_axis natural_cells(const box<T, 3>& domain, const ring_request& request, int axis) {
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  const double length = static_cast<double>(domain.length[axis]);
  double count = std::fmax(std::floor(length / request.edges[axis]), 1.0);
  if (domain.periodic[axis]) count = std::fmin(count, most_cells_of_axis<T>);
  const double edge = domain.periodic[axis] ? length / count : request.edges[axis];
  if (axis == 0) return {count, 1};
  return {count, 2 * std::ceil(request.reach / edge) + 4 + std::ceil(4 * roundings * epsilon * count)};
}

/// Stored cells along each axis: few rows, on long rings, and more rows where rings are short.
template <typename T>
vec<double, 3> stored_cells(const box<T, 3>& domain, const vec<natural_axis, 3>& axes, double most) {
  vec<double, 3> number{};
  for (int axis = 1; axis < 3; ++axis) number[axis] = std::fmin(axes[axis].least, axes[axis].count);
  const double ring = domain.periodic[0] ? axes[0].count : most_cells_of_ring<T>;
  for (int axis = 1, full = 0; full < 2 && 2 * number[1] * number[2] * ring <= most; axis = 3 - axis) {
    full = 2 * number[axis] <= axes[axis].count ? 0 : full + 1;
    if (full == 0) number[axis] *= 2;
  }
  number[0] = std::fmin(std::fmax(std::floor(most / (number[1] * number[2])), axes[0].least), ring);
  return number;
}

/// The place of row after row on a ring: evenly spread, by the sequence of grid::fold_row, and on all its cells before
/// they repeat.
int step_along_ring(int ring, int axis) {
  int step = static_cast<int>((axis == 1 ? 0.7548776662466927 : 0.5698402909980532) * ring);
  while (std::gcd(step, ring) != 1) ++step;
  return step;
}

template <typename T>
void set_rate(ring_cells<T>& cells, int axis, double rate) {
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  cells.rate[axis] = static_cast<T>(rate);
  cells.cells_per_length[axis] = cells.rate[axis] * (T(1) + 16 * epsilon);
  cells.edge[axis] = T(1) / cells.rate[axis] * (T(1) - 16 * epsilon);
}

}  // namespace

template <typename T>
ring_cells<T> all_cells(const grid<T, 3>& space) {
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  ring_cells<T> result{};
  result.periodic = space.domain.periodic;
  result.cells = space.cells;
  result.repeats = vec<int, 3>::filled(1);
  result.from = space.domain.lower;
  for (int axis = 0; axis < 3; ++axis) {
    set_rate(result, axis, static_cast<double>(space.inverse_edge[axis]));
    result.slack[axis] =
        space.slack[axis] * space.inverse_edge[axis] + 16 * epsilon * static_cast<T>(space.cells[axis]);
  }
  return result;
}

template <typename T>
ring_cells<T> fold_cells(const box<T, 3>& domain, const ring_request& request) {
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  const auto axes = make_vec<natural_axis, 3>([&](int axis) { return natural_cells(domain, request, axis); });
  const vec<double, 3> number = stored_cells(domain, axes, request.most);
  ring_cells<T> result{};
  result.periodic = domain.periodic;
  result.from = domain.lower;
  for (int axis = 0; axis < 3; ++axis) {
    const bool open = !domain.periodic[axis], folds = number[axis] < axes[axis].count || (open && axis == 0);
    double count = axes[axis].count;
    result.repeats[axis] = 1;
    if (folds && !open) {
      const double most = std::fmax(std::floor(count / axes[axis].least), 1.0);
      result.repeats[axis] = static_cast<int>(std::fmin(std::ceil(count / number[axis]), most));
      count = std::floor(count / result.repeats[axis]) * result.repeats[axis];
    }
    if (folds && open) {
      result.repeats[axis] = 0;
      result.from[axis] = T(0);
    }
    result.cells[axis] = static_cast<int>(result.repeats[axis] == 0 ? number[axis] : count / result.repeats[axis]);
    const bool endless = result.repeats[axis] == 0;
    set_rate(result, axis, endless ? 1 / request.edges[axis] : count / static_cast<double>(domain.length[axis]));
    result.slack[axis] = static_cast<T>(endless ? 16 * epsilon * result.cells[axis] : roundings * epsilon * count);
    if (axis > 0 && result.repeats[axis] != 1) result.steps[axis] = step_along_ring(result.cells[0], axis);
  }
  return result;
}

template ring_cells<float> all_cells(const grid<float, 3>&);
template ring_cells<double> all_cells(const grid<double, 3>&);
template ring_cells<float> fold_cells(const box<float, 3>&, const ring_request&);
template ring_cells<double> fold_cells(const box<double, 3>&, const ring_request&);

}  // namespace quadrat::detail
