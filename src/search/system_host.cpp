// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include "quadrat/core/error.hpp"
#include "search/system.hpp"

namespace quadrat::detail {

namespace {

/// The most images on either side of a particle: sort keys have ten bits per axis.
constexpr double most_images = 500;

template <typename T, int D>
double cells_along(const lattice<T, D>& shape, int axis, double edge) {
  return std::fmax(std::floor(static_cast<double>(shape.height(axis)) / edge), 1.0);
}

/// Bound on rounding along an axis, as a fraction of the box: the total error of the coordinates of two wrapped points
/// and of their separation.
///
/// The error of a component of a separation is at most epsilon times the sum of its terms' sizes: a difference inside
/// the box, at most one of each vector, and the translation to an image. A row of the inverse turns it into a fraction,
/// and adds its own error. In an orthorhombic box, axes are therefore independent. The factor 8 exceeds the sum of all
/// roundings, of half an epsilon each: three for each of the two coordinates, the difference, the product, the sum, the
/// margin, and the comparison.
template <typename T, int D>
double rounding_of_vectors(const lattice<T, D>& shape, int axis, const vec<double, D>& images) {
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  const auto inverse = cast<double>(shape.inverse[axis]);
  double sum = 0;
  for (int m = 0; m < D; ++m) {
    const auto vector = cast<double>(shape.vectors[m]);
    double size = 0;
    for (int k = 0; k < D; ++k) size += std::fabs(inverse[k] * vector[k]);
    const double residual = std::fabs(dot(inverse, vector) - (m == axis ? 1 : 0));
    sum += 8 * epsilon * size * (1 + images[m]) + residual * images[m];
  }
  return sum;
}

/// Bound on the error of wrapping at a face; 0 for orthorhombic boxes.
template <typename T, int D>
double rounding_of_origin(const lattice<T, D>& shape, int axis) {
  if (shape.orthorhombic || !shape.periodic[axis]) return 0;
  double size = 0;
  for (int k = 0; k < D; ++k) size += std::fabs(static_cast<double>(shape.inverse[axis][k] * shape.origin[k]));
  return 2 * std::numeric_limits<T>::epsilon() * size;
}

/// All fields that do not depend on the first cell's number.
template <typename T, int D>
search_system<T, D> make_search_system(const lattice<T, D>& shape, const vec<double, D>& edges, T reach,
                                       std::size_t number) {
  search_system<T, D> system{};
  system.shape = shape;
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  vec<double, D> images{};
  for (int axis = 0; axis < D; ++axis) {
    const double count = std::fmin(cells_along(shape, axis, edges[axis]), 1e6);
    const double height = static_cast<double>(shape.height(axis));
    require(std::isfinite(height) && height > 0, "box ", number, " is not one that make_lattice has made");
    system.cells[axis] = static_cast<int>(count);
    system.rate[axis] =
        static_cast<T>(shape.orthorhombic ? count / static_cast<double>(shape.vectors[axis][axis]) : count);
    system.cells_per_length[axis] = static_cast<T>(count / height) * (T(1) + 16 * epsilon);
    system.edge[axis] = static_cast<T>(height / count) * (T(1) - 16 * epsilon);
    if (!shape.periodic[axis]) continue;
    const double spanned = static_cast<double>(reach) / height;
    require(spanned <= most_images - 2, "the cutoff ", reach, " spans ", static_cast<T>(spanned), " images of box ",
            number, " along its vector ", axis, "; at most ", most_images - 2, " are possible");
    images[axis] = spanned + 2;
  }
  for (int axis = 0; axis < D; ++axis) {
    const double vectors = rounding_of_vectors(shape, axis, images), origin = rounding_of_origin(shape, axis);
    require(vectors < 0.1, "the vectors of box ", number,
            " are so nearly dependent that positions in it are lost to rounding");
    require(origin < 0.1, "the origin of box ", number, " is so far from 0 that positions in it are lost to rounding");
    system.slack[axis] = static_cast<T>((vectors + origin) * system.cells[axis]);
  }
  return system;
}

}  // namespace

template <typename T, int D>
std::vector<search_system<T, D>> make_search_systems(std::span<const lattice<T, D>> boxes, const vec<T, D>& edges,
                                                     T reach, std::size_t most_cells) {
  vec<double, D> wide = cast<double>(edges);
  const auto total = [&] {
    double sum = 0;
    for (const lattice<T, D>& shape : boxes) {
      double product = 1;
      for (int axis = 0; axis < D; ++axis) product *= cells_along(shape, axis, wide[axis]);
      sum += product;
    }
    return sum;
  };
  const double most = static_cast<double>(std::max(most_cells, boxes.size()));
  while (total() > most) wide = wide * 1.25;
  std::vector<search_system<T, D>> systems;
  systems.reserve(boxes.size());
  cell_id first = 0;
  for (const lattice<T, D>& shape : boxes) {
    systems.push_back(make_search_system(shape, wide, reach, systems.size()));
    systems.back().first_cell = first;
    first = static_cast<cell_id>(cell_count(systems));
  }
  return systems;
}

template <typename T, int D>
search_system<T, D> make_search_system(const grid<T, D>& space) {
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  search_system<T, D> system{};
  system.shape = make_lattice(space.domain);
  system.cells = space.cells;
  system.rate = space.inverse_edge;
  for (int axis = 0; axis < D; ++axis) {
    system.cells_per_length[axis] = space.inverse_edge[axis] * (T(1) + 16 * epsilon);
    system.edge[axis] = space.edge(axis) * (T(1) - 16 * epsilon);
    system.slack[axis] =
        space.slack[axis] * space.inverse_edge[axis] + 64 * epsilon * static_cast<T>(space.cells[axis]);
  }
  return system;
}

template search_system<float, 2> make_search_system(const grid<float, 2>&);
template search_system<float, 3> make_search_system(const grid<float, 3>&);
template search_system<double, 2> make_search_system(const grid<double, 2>&);
template search_system<double, 3> make_search_system(const grid<double, 3>&);
template std::vector<search_system<float, 2>> make_search_systems(std::span<const lattice<float, 2>>,
                                                                  const vec<float, 2>&, float, std::size_t);
template std::vector<search_system<float, 3>> make_search_systems(std::span<const lattice<float, 3>>,
                                                                  const vec<float, 3>&, float, std::size_t);
template std::vector<search_system<double, 2>> make_search_systems(std::span<const lattice<double, 2>>,
                                                                   const vec<double, 2>&, double, std::size_t);
template std::vector<search_system<double, 3>> make_search_systems(std::span<const lattice<double, 3>>,
                                                                   const vec<double, 3>&, double, std::size_t);

}  // namespace quadrat::detail
