// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/folding.hpp"

#include <cmath>
#include <limits>

#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

/// The largest number of cells along an axis that a walk to `reach` visits.
template <typename T, int D>
double widest_range(const grid<T, D>& space, T reach, int axis) {
  const auto distance = static_cast<double>(reach);
  double slack = static_cast<double>(space.slack[axis]);
  if (!space.domain.periodic[axis]) {
    const double farthest = std::fmax(std::fabs(static_cast<double>(space.domain.lower[axis])),
                                      std::fabs(static_cast<double>(space.domain.upper(axis))));
    slack = 16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (farthest + distance);
  }
  return std::floor(2 * (distance + slack) * static_cast<double>(space.inverse_edge[axis])) + 2;
}

/// The side of a cube with about this many cells, as a power of two.
double side_of_cube(double cells, int dimension) { return std::exp2(std::round(std::log2(cells) / dimension)); }

/// Whether the axis (y or z) is folded to this many rows. The number of rows of a periodic axis becomes a multiple of
/// them.
template <typename T, int D>
bool folds(const grid<T, D>& space, int axis, double rows) {
  return space.cells[axis] >= (space.domain.periodic[axis] ? 8 : 2) * rows;
}

/// Sets the stored rows along each axis; a power of two if the axis is folded. Returns their product.
template <typename T, int D>
double stored_rows(const grid<T, D>& space, const vec<double, D>& least, vec<double, D>& rows) {
  double product = 1;
  for (int axis = 1; axis < D; ++axis) {
    rows[axis] = folds(space, axis, least[axis]) ? least[axis] : space.cells[axis];
    product *= rows[axis];
  }
  return product;
}

/// The powers of two above which axes are folded, so that the widest range fits. More rows if rows are short and
/// periodic.
template <typename T, int D>
vec<double, D> least_rows(const grid<T, D>& space, const fold_request<T>& request, double most) {
  vec<double, D> least{}, rows{};
  for (int axis = 1; axis < D; ++axis) {
    least[axis] = std::exp2(std::ceil(std::log2(widest_range(space, request.reach, axis))));
    if (request.cubic) least[axis] = std::fmax(least[axis], side_of_cube(most, D));
  }
  if (!space.domain.periodic[0]) return least;
  for (int axis = 1;; axis = axis + 1 < D ? axis + 1 : 1) {
    const double number = stored_rows(space, least, rows);
    bool more = false;
    for (int other = 1; other < D; ++other) more = more || folds(space, other, 2 * least[other]);
    if (!more || 2 * number * space.cells[0] > most) return least;
    if (folds(space, axis, 2 * least[axis])) least[axis] *= 2;
  }
}

/// The number of cells of a stored row, about `wanted`. If the x axis is periodic, makes the grid's cells along x a
/// multiple of it.
template <typename T, int D>
double stored_along_x(grid<T, D>& space, T reach, double wanted) {
  const double along = std::fmax(std::floor(wanted), 4 * widest_range(space, reach, 0));
  if (!space.domain.periodic[0]) return along;
  const double repeats = std::ceil(space.cells[0] / along);
  const double stored = std::floor(space.cells[0] / repeats);
  space.cells[0] = static_cast<int>(stored * repeats);
  return stored;
}

}  // namespace

template <typename T, int D>
grid<T, D> folded(const grid<T, D>& space, const fold_request<T>& request) {
  require(request.reach > T(0) && std::isfinite(request.reach), "the reach of a folded grid is ", request.reach,
          "; it must be positive and finite");
  require(!space.folded, "the grid is folded already");
  const double most =
      std::fmin(std::fmax(stored_cells_at_least, stored_cells_a_point * static_cast<double>(request.points)), 0x1p30);
  double all = 1;
  for (int axis = 0; axis < D; ++axis) all *= space.cells[axis];
  // Clearing a few more cells takes less time than checking points of other cells in folded ones.
  if (all <= std::fmax(stored_cells_at_least, 4 * stored_cells_a_point * static_cast<double>(request.points))) {
    return space;
  }

  vec<double, D> rows{};
  const vec<double, D> least = least_rows(space, request, most);
  const double number = stored_rows(space, least, rows);
  grid<T, D> result = space;
  const double along = stored_along_x(result, request.reach, request.cubic ? side_of_cube(most, D) : most / number);
  if (2 * number * along > all && all <= static_cast<double>(max_count)) return space;
  require(number * along <= static_cast<double>(max_count), "a folded grid of ", request.points, " points would have ",
          number * along, " cells; at most ", max_count, " are possible");
  result.folded = true;
  result.stored[0] = static_cast<int>(along);
  for (int axis = 1; axis < D; ++axis) {
    const bool folds_axis = rows[axis] < space.cells[axis];
    const int stored = static_cast<int>(rows[axis]);
    if (folds_axis && space.domain.periodic[axis]) result.cells[axis] -= result.cells[axis] % stored;
    result.stored[axis] = stored;
    result.row_bits[axis] = folds_axis ? std::ilogb(rows[axis]) : 31;
  }
  for (int axis = 0; axis < D; ++axis) {
    if (result.cells[axis] == space.cells[axis]) continue;
    result.inverse_edge[axis] = static_cast<T>(result.cells[axis]) / space.domain.length[axis];
  }
  return result;
}

template grid<float, 2> folded(const grid<float, 2>&, const fold_request<float>&);
template grid<float, 3> folded(const grid<float, 3>&, const fold_request<float>&);
template grid<double, 2> folded(const grid<double, 2>&, const fold_request<double>&);
template grid<double, 3> folded(const grid<double, 3>&, const fold_request<double>&);

}  // namespace quadrat
