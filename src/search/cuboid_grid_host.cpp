// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/lattice/cuboid_grid.hpp"

#include <algorithm>
#include <cmath>

#include "search/request.hpp"

namespace quadrat::detail {

namespace {

template <int D>
using directions = vec<vec<double, D>, D>;

/// Orthonormal axes from vectors in this order: the first along the first one, the second in the plane of two.
template <int D>
[[nodiscard]] directions<D> axes_along(const directions<D>& vectors, const vec<int, D>& order) {
  directions<D> axes{};
  for (int axis = 0; axis < D; ++axis) {
    vec<double, D> rest = vectors[order[axis]];
    rest = rest / std::sqrt(squared_norm(rest));
    // Two passes keep the axes orthogonal where vectors are nearly dependent.
    for (int pass = 0; pass < 2; ++pass) {
      for (int k = 0; k < axis; ++k) rest -= dot(axes[k], rest) * axes[k];
      rest = rest / std::sqrt(squared_norm(rest));
    }
    axes[axis] = rest;
  }
  return axes;
}

/// A cuboid around a box: its corners, seen from the box's origin and along its edges.
template <int D>
struct cuboid {
  directions<D> axes;
  vec<double, D> lower;
  vec<double, D> upper;

  cuboid(const directions<D>& along, const directions<D>& vectors) : axes(along), lower{}, upper{} {
    for (int axis = 0; axis < D; ++axis) {
      for (int k = 0; k < D; ++k) {
        const double part = dot(axes[axis], vectors[k]);
        (part < 0 ? lower : upper)[axis] += part;
      }
    }
  }
  [[nodiscard]] double volume() const {
    double product = 1;
    for (int axis = 0; axis < D; ++axis) product *= upper[axis] - lower[axis];
    return product;
  }
};

/// The smallest cuboid with an edge along a vector. It is at most six times as large as the box: with the longest
/// vector first, and then the one that adds most, its own vector and shorter parts of the others span each axis.
template <typename T, int D>
[[nodiscard]] cuboid<D> cuboid_around(const lattice<T, D>& shape) {
  directions<D> vectors{}, axes{};
  for (int axis = 0; axis < D; ++axis) {
    vectors[axis] = cast<double>(shape.vectors[axis]);
    axes[axis][axis] = 1;
  }
  if (shape.orthorhombic) return cuboid<D>(axes, vectors);
  auto order = make_vec<int, D>([](int axis) { return axis; });
  cuboid<D> best(axes_along(vectors, order), vectors);
  while (std::next_permutation(order.component, order.component + D)) {
    const cuboid<D> other(axes_along(vectors, order), vectors);
    if (other.volume() < best.volume()) best = other;
  }
  return best;
}

/// The cuboid as an open box, in the coordinates of cuboid_grid::place.
template <typename T, int D>
[[nodiscard]] lattice<T, D> box_of(const cuboid<D>& around, const lattice<T, D>& shape) {
  lattice<T, D> result{};
  result.orthorhombic = true;
  result.origin = shape.orthorhombic ? shape.origin : cast<T>(around.lower);
  for (int axis = 0; axis < D; ++axis) {
    result.vectors[axis][axis] = static_cast<T>(around.upper[axis] - around.lower[axis]);
    result.inverse[axis][axis] = T(1) / result.vectors[axis][axis];
  }
  return result;
}

/// The axes of the cuboid along which points may be anywhere.
template <typename T, int D>
[[nodiscard]] vec<bool, D> endless_axes(const lattice<T, D>& shape, bool accept_outside) {
  vec<bool, D> open{};
  bool any = false;
  for (int axis = 0; axis < D; ++axis) {
    open[axis] = accept_outside && !shape.periodic[axis];
    any = any || open[axis];
  }
  return shape.orthorhombic ? open : vec<bool, D>::filled(any);
}

template <typename T, int D>
class grid_maker {
 public:
  grid_maker(const lattice<T, D>& shape, const cuboid<D>& around, const search_system<T, D>& cells, T reach)
      : shape_(shape), around_(around), cells_(cells) {
    for (int k = 0; k < D; ++k) {
      if (shape.periodic[k]) across_[k] = static_cast<double>(reach) / static_cast<double>(shape.height(k));
    }
  }

  [[nodiscard]] cuboid_grid<T, D> make() const {
    cuboid_grid<T, D> grid{};
    grid.cells = cells_;
    grid.folded = cells_.folded();
    grid.origin = shape_.origin;
    grid.turned = !shape_.orthorhombic;
    for (int axis = 0; axis < D; ++axis) {
      grid.axes[axis] = cast<T>(around_.axes[axis]);
      grid.cells.slack[axis] += static_cast<T>(rounding_along(axis));
      for (int k = 0; k < D; ++k) {
        grid.vectors[k][axis] = static_cast<T>(dot(around_.axes[axis], cast<double>(shape_.vectors[k])) * rate(axis));
      }
    }
    for (int k = 0; k < D; ++k) set_images(grid, k);
    return grid;
  }

 private:
  static constexpr double epsilon = std::numeric_limits<T>::epsilon();

  [[nodiscard]] double rate(int axis) const { return static_cast<double>(cells_.rate[axis]); }
  /// The sum of the absolute terms of vector k along an axis.
  [[nodiscard]] double size_along(int axis, int k) const {
    double sum = 0;
    for (int m = 0; m < D; ++m) sum += std::fabs(around_.axes[axis][m] * static_cast<double>(shape_.vectors[k][m]));
    return sum;
  }
  /// The sum of the absolute terms of a fraction along vector k.
  [[nodiscard]] double size_of_fraction(int k) const {
    double sum = 0;
    for (int m = 0; m < D; ++m) {
      double size = std::fabs(static_cast<double>(shape_.origin[m]));
      for (int n = 0; n < D; ++n) size += std::fabs(static_cast<double>(shape_.vectors[n][m]));
      sum += std::fabs(static_cast<double>(shape_.inverse[k][m])) * size;
    }
    return sum;
  }
  /// Rounding in cells, added to that of the cuboid's own coordinates, by translations, turned axes, and points that
  /// rounding leaves outside a turned box; see rounding_of_vectors.
  [[nodiscard]] double rounding_along(int axis) const {
    double sum = 0;
    for (int k = 0; k < D; ++k) {
      const double images = shape_.periodic[k] ? across_[k] + 2 : 0;
      sum += size_along(axis, k) * (images + (shape_.orthorhombic ? 0 : 1 + size_of_fraction(k)));
    }
    return 8 * epsilon * sum * rate(axis);
  }

  void set_images(cuboid_grid<T, D>& grid, int k) const {
    if (!shape_.periodic[k]) return;
    const auto inverse = cast<double>(shape_.inverse[k]);
    double first = 0, margin = across_[k] * (1 + 16 * epsilon) + 16 * epsilon;
    for (int axis = 0; axis < D; ++axis) {
      const double of_length = dot(inverse, around_.axes[axis]);
      const double of_cell = of_length / rate(axis);
      grid.fractions[k][axis] = static_cast<T>(of_cell);
      const T origin = shape_.orthorhombic ? shape_.origin[axis] : T(0);
      first += of_length * static_cast<double>(cells_.from[axis] - origin);
      margin += std::fabs(of_cell) * static_cast<double>(grid.cells.slack[axis]);
      margin += 16 * epsilon * std::fabs(of_length) * (around_.upper[axis] - around_.lower[axis]);
    }
    grid.first_fractions[k] = static_cast<T>(first);
    grid.margins[k] = static_cast<T>(margin * (1 + 4 * epsilon));
    // The margin covers the rounding of points inside the box; far outside they may be wrapped into its neighbor.
    const bool wraps_roughly = grid.folded && grid.turned;
    grid.most_images[k] = static_cast<int>(std::floor(static_cast<double>(grid.margins[k]))) + (wraps_roughly ? 2 : 1);
  }

  const lattice<T, D>& shape_;
  const cuboid<D>& around_;
  const search_system<T, D>& cells_;
  vec<double, D> across_{};  // the reach, as a fraction along each vector
};

}  // namespace

template <typename T, int D>
std::vector<cuboid_grid<T, D>> make_cuboid_grids(std::span<const lattice<T, D>> boxes,
                                                 const cuboid_grid_request<T>& request) {
  std::vector<cuboid<D>> around;
  std::vector<lattice<T, D>> cuboids;
  std::vector<vec<bool, D>> endless;
  for (const lattice<T, D>& shape : boxes) {
    around.push_back(cuboid_around(shape));
    cuboids.push_back(box_of(around.back(), shape));
    endless.push_back(endless_axes(shape, request.accept_outside));
  }
  vec<T, D> edges = vec<T, D>::filled(request.edge);
  edges[0] /= T(trimmed_cells_along_first_axis);
  const cells_request<T, D> wanted{edges, request.reach, request.most_cells, false, endless.data()};
  const std::vector<search_system<T, D>> systems = make_search_systems<T, D>(cuboids, wanted);
  std::vector<cuboid_grid<T, D>> grids;
  grids.reserve(boxes.size());
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    grids.push_back(grid_maker<T, D>(boxes[k], around[k], systems[k], request.reach).make());
  }
  return grids;
}

template std::vector<cuboid_grid<float, 2>> make_cuboid_grids(std::span<const lattice<float, 2>>,
                                                              const cuboid_grid_request<float>&);
template std::vector<cuboid_grid<float, 3>> make_cuboid_grids(std::span<const lattice<float, 3>>,
                                                              const cuboid_grid_request<float>&);
template std::vector<cuboid_grid<double, 2>> make_cuboid_grids(std::span<const lattice<double, 2>>,
                                                               const cuboid_grid_request<double>&);
template std::vector<cuboid_grid<double, 3>> make_cuboid_grids(std::span<const lattice<double, 3>>,
                                                               const cuboid_grid_request<double>&);

}  // namespace quadrat::detail
