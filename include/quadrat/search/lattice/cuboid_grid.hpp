// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/lattice/system.hpp"

namespace quadrat::detail {

/// The coordinates of some points, in cells, along axes without end as along others.
template <typename T, int D>
struct cuboid_bounds {
  vec<T, D> lower;
  vec<T, D> upper;
  vec<T, D> slack;  ///< bound on the rounding of coordinates and separations
};

/// The images of a box, from first to last along each of its vectors.
template <int D>
struct image_range {
  vec<int, D> first;
  vec<int, D> last;
};

/// The rectangular cells of one system, whatever the shape of its box. They cut a cuboid around the box, the smallest
/// with an edge along a vector of the box and a face along another, and hold wrapped points. They ignore periodicity:
/// neighbors in an image of the box are found around the image of a point on the opposite side. So a search inside the
/// box costs the same for every shape.
template <typename T, int D>
struct cuboid_grid {
  static constexpr T epsilon = std::numeric_limits<T>::epsilon();

  search_system<T, D> cells;    ///< of an open box, the cuboid, for the coordinates that `place` gives
  vec<T, D> origin;             ///< of the box
  vec<vec<T, D>, D> axes;       ///< directions of the cuboid's edges
  bool turned;                  ///< whether these differ from the coordinate axes
  bool folded;                  ///< whether the cells are
  vec<vec<T, D>, D> vectors;    ///< of the box, in cells along each axis
  vec<vec<T, D>, D> fractions;  ///< [vector][axis]: change of the fraction along a vector per cell along an axis
  vec<T, D> first_fractions;    ///< at the cuboid's corner
  vec<T, D> margins;            ///< the reach and all rounding, as a fraction along each vector
  vec<int, D> most_images;      ///< along each vector, on either side

  /// Coordinates along turned axes, from the box's origin; or the point itself.
  [[nodiscard]] QUADRAT_HD vec<T, D> place(const vec<T, D>& point) const {
    if (!turned) return point;
    return make_vec<T, D>([&](int axis) { return dot(axes[axis], point - origin); });
  }

  /// The number of stored cells.
  [[nodiscard]] std::size_t cell_count() const { return cells.count; }
  /// The volume of the cells that hold points: the box, or the stored cells if they are folded.
  [[nodiscard]] double volume() const {
    double cell = 1;
    for (int axis = 0; axis < D; ++axis) cell *= static_cast<double>(cells.edge[axis]);
    if (folded) return cell * static_cast<double>(cell_count());
    double box = 0;
    static_cast<void>(reciprocal(make_vec<vec<double, D>, D>([&](int k) { return cast<double>(vectors[k]); }), box));
    return cell * std::fabs(box);
  }

  /// Coordinates of a wrapped point, in cells.
  [[nodiscard]] QUADRAT_HD vec<T, D> coordinates(const vec<T, D>& point) const {
    const vec<T, D> at = place(point);
    return make_vec<T, D>([&](int axis) { return (at[axis] - cells.from[axis]) * cells.rate[axis]; });
  }
  /// Bound on the rounding of such coordinates and of separations, in cells.
  [[nodiscard]] QUADRAT_HD vec<T, D> slack_at(const vec<T, D>& point, const vec<T, D>& coordinates) const {
    vec<T, D> slack = cells.slack;
    if (!folded) return slack;
    for (int axis = 0; axis < D; ++axis) {
      if (cells.cells[axis] == 0) slack[axis] = cells.slack_at(coordinates[axis], axis) + slack_of_turning(point, axis);
    }
    return slack;
  }

  /// The images of the box that can hold neighbors of a point with these coordinates: S for the neighbor.
  [[nodiscard]] QUADRAT_HD image_range<D> images_around(const vec<T, D>& coordinates, const vec<T, D>& slack) const {
    image_range<D> range{};
    for (int k = 0; k < D; ++k) {
      if (most_images[k] == 0) continue;
      T middle = first_fractions[k], half = margins[k];
      for (int axis = 0; axis < D; ++axis) middle += fractions[k][axis] * coordinates[axis];
      if (folded) {
        // Points from far outside are wrapped into the box only to within their rounding and that of the sum above.
        for (int axis = 0; axis < D; ++axis) half += 4 * std::fabs(fractions[k][axis]) * slack[axis];
      }
      range.first[k] = clamped_image(middle - half, k);
      range.last[k] = clamped_image(middle + half, k);
    }
    return range;
  }

  /// The images of the box that can hold neighbors of points within the bounds: S for the neighbor.
  [[nodiscard]] image_range<D> images_near(const cuboid_bounds<T, D>& bounds) const {
    image_range<D> range{};
    for (int k = 0; k < D; ++k) {
      if (most_images[k] == 0) continue;
      T middle = first_fractions[k], half = margins[k];
      for (int axis = 0; axis < D; ++axis) {
        middle += fractions[k][axis] * ((bounds.lower[axis] + bounds.upper[axis]) / 2);
        half += std::fabs(fractions[k][axis]) * ((bounds.upper[axis] - bounds.lower[axis]) / 2);
      }
      range.first[k] = clamped_image(middle - half, k);
      range.last[k] = clamped_image(middle + half, k);
    }
    return range;
  }

  /// The bounds seen from an image of the box.
  [[nodiscard]] cuboid_bounds<T, D> seen_from(const vec<int, D>& image, cuboid_bounds<T, D> bounds) const {
    for (int axis = 0; axis < D; ++axis) {
      T shift = T(0);
      for (int k = 0; k < D; ++k) shift += static_cast<T>(image[k]) * vectors[k][axis];
      bounds.lower[axis] -= shift;
      bounds.upper[axis] -= shift;
    }
    return bounds;
  }

 private:
  [[nodiscard]] QUADRAT_HD int clamped_image(T fraction, int k) const {
    const int index = cell_index(fraction);
    return index < -most_images[k] ? -most_images[k] : (index > most_images[k] ? most_images[k] : index);
  }

  /// Far outside the box.
  [[nodiscard]] QUADRAT_HD T slack_of_turning(const vec<T, D>& point, int axis) const {
    if (!turned) return T(0);
    T sum = T(0);
    for (int k = 0; k < D; ++k) sum += std::fabs(axes[axis][k] * (point[k] - origin[k]));
    return 8 * epsilon * sum * cells.rate[axis];
  }
};

template <typename T, int D>
[[nodiscard]] QUADRAT_HD cell_id cell_in_grid(const cuboid_grid<T, D>& grid, const vec<T, D>& wrapped) {
  return grid.cells.cell_of(grid.place(wrapped));
}

/// The requirements on grids.
template <typename T>
struct cuboid_grid_request {
  T edge;                  ///< of cells, about; along the first axis a quarter of it
  T reach;                 ///< the largest search distance
  std::size_t most_cells;  ///< of all systems together
  bool accept_outside;     ///< points may be anywhere along open axes
};

/// Grids for these boxes, with their cells numbered through. Throws what make_search_systems does.
template <typename T, int D>
[[nodiscard]] std::vector<cuboid_grid<T, D>> make_cuboid_grids(std::span<const lattice<T, D>> boxes,
                                                               const cuboid_grid_request<T>& request);

}  // namespace quadrat::detail
