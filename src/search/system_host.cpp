// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include "quadrat/core/error.hpp"
#include "quadrat/search/lattice/system.hpp"
#include "search/rounding.hpp"

namespace quadrat::detail {

namespace {

/// The most images on either side of a particle: sort keys have ten bits per axis.
constexpr double most_images_along = 500;

/// Cells along an axis, so that their numbers are exact in T.
template <typename T>
constexpr double most_cells_along = sizeof(T) == 4 ? 1e6 : 1e9;

/// Cells as long as `edge` along an axis, if none is folded; and how they are stored.
struct axis_cells {
  double natural;
  double least;  ///< stored cells that a search needs at least, so that it meets none twice
  bool endless;  ///< an open axis, if it is folded
};

[[nodiscard]] double stored(const axis_cells& axis, double most) {
  return std::fmin(axis.natural, std::fmax(axis.least, std::fmax(std::floor(most), 1.0)));
}

template <typename T, int D>
vec<axis_cells, D> natural_cells(const lattice<T, D>& shape, const vec<double, D>& edges,
                                 const cells_request<T, D>& request, std::size_t number) {
  vec<axis_cells, D> result{};
  for (int axis = 0; axis < D; ++axis) {
    const double length = static_cast<double>(shape.height(axis));
    const double reach = static_cast<double>(request.reach);
    axis_cells& cells = result[axis];
    cells.endless = !shape.periodic[axis];
    cells.natural = std::fmax(std::floor(length / edges[axis]), 1.0);
    if (cells.endless) {
      cells.least = 1;
      const bool anywhere =
          request.endless_of_box != nullptr ? request.endless_of_box[number][axis] : request.points_anywhere;
      if (anywhere) cells.natural = HUGE_VAL;
    } else {
      cells.natural = std::fmin(cells.natural, most_cells_along<T>);
      // Besides the cells within reach: those of slack, and of points that are searched for together.
      cells.least = 2 * std::ceil(reach * cells.natural / length) + 12;
    }
  }
  return result;
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

}  // namespace

template <typename T, int D>
vec<double, D> rounding_in_box(const lattice<T, D>& shape, T reach, std::size_t number) {
  vec<double, D> images{}, result{};
  for (int axis = 0; axis < D; ++axis) {
    const double height = static_cast<double>(shape.height(axis));
    require(std::isfinite(height) && height > 0, "box ", number, " is not one that make_lattice has made");
    if (!shape.periodic[axis]) continue;
    const double spanned = static_cast<double>(reach) / height;
    require(spanned <= most_images_along - 2, "the cutoff ", reach, " spans ", static_cast<T>(spanned),
            " images of box ", number, " along its vector ", axis, "; at most ", most_images_along - 2,
            " are possible");
    images[axis] = spanned + 2;
  }
  for (int axis = 0; axis < D; ++axis) {
    const double vectors = rounding_of_vectors(shape, axis, images), origin = rounding_of_origin(shape, axis);
    require(vectors < 0.1, "the vectors of box ", number,
            " are so nearly dependent that positions in it are lost to rounding");
    require(origin < 0.1, "the origin of box ", number, " is so far from 0 that positions in it are lost to rounding");
    result[axis] = vectors + origin;
  }
  return result;
}

namespace {

/// Sets what is stored along an axis, and `count`, the cells in the box.
template <typename T, int D>
void fold_axis(search_system<T, D>& system, double& count, int axis, const axis_cells& cells, double most,
               double edge) {
  const double number = stored(cells, most);
  system.repeats[axis] = 1;
  count = cells.natural;
  if (number < cells.natural) {
    if (cells.endless) {
      // One cell for all points of a box needs no folding.
      const bool folded = number > 1 || std::isinf(cells.natural);
      system.repeats[axis] = folded ? 0 : 1;
      count = folded ? static_cast<double>(system.shape.height(axis)) / edge : 1;
      if (system.shape.orthorhombic && folded) system.from[axis] = T(0);
    } else {
      system.repeats[axis] =
          static_cast<int>(std::fmin(std::ceil(cells.natural / number), cells.natural / cells.least));
      system.repeats[axis] = std::max(system.repeats[axis], 1);
      count = std::floor(cells.natural / system.repeats[axis]) * system.repeats[axis];
    }
  }
  system.cells[axis] =
      static_cast<int>(cells.endless && system.repeats[axis] == 0 ? number : count / system.repeats[axis]);
}

/// All that does not depend on where cells are numbered from. `most` is the number of cells that are stored along an
/// axis, for each of them.
template <typename T, int D>
search_system<T, D> make_search_system(const lattice<T, D>& shape, const vec<double, D>& edges,
                                       const vec<double, D>& most, const cells_request<T, D>& request,
                                       std::size_t number) {
  search_system<T, D> system{};
  system.shape = shape;
  system.from = shape.origin;
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  const vec<double, D> rounding = rounding_in_box(shape, request.reach, number);
  vec<double, D> counts{};  // in the box
  const vec<axis_cells, D> natural = natural_cells(shape, edges, request, number);
  for (int axis = 0; axis < D; ++axis) {
    const double height = static_cast<double>(shape.height(axis));
    fold_axis(system, counts[axis], axis, natural[axis], most[axis], edges[axis]);
    const double count = counts[axis];
    system.rate[axis] =
        static_cast<T>(shape.orthorhombic ? count / static_cast<double>(shape.vectors[axis][axis]) : count);
    system.cells_per_length[axis] = static_cast<T>(count / height) * (T(1) + 16 * epsilon);
    system.edge[axis] = static_cast<T>(height / count) * (T(1) - 16 * epsilon);
    // Along an axis without end, coordinates round by what they are themselves; see slack_at.
    const bool endless = shape.orthorhombic && system.repeats[axis] == 0;
    system.slack[axis] = static_cast<T>(endless ? 16 * static_cast<double>(epsilon) * system.cells[axis]
                                                : rounding[axis] * counts[axis]);
  }
  return system;
}

/// The most cells along an axis, in units of the reach, with which all systems together have at most that many cells.
template <typename T, int D>
double most_across_reach(std::span<const lattice<T, D>> boxes, const vec<double, D>& edges,
                         const cells_request<T, D>& request, double most) {
  const double reach = static_cast<double>(request.reach);
  const auto total = [&](double across) {
    double sum = 0;
    for (std::size_t number = 0; number < boxes.size(); ++number) {
      const vec<axis_cells, D> natural = natural_cells(boxes[number], edges, request, number);
      double product = 1;
      for (int axis = 0; axis < D; ++axis) product *= stored(natural[axis], across * reach / edges[axis]);
      sum += product;
    }
    return sum;
  };
  double low = 0, high = 4e9;
  if (total(high) <= most) return high;
  if (total(low) > most) return -1;
  for (int step = 0; step < 60 && high - low > 1e-3 * high; ++step) {
    const double middle = low > 0 ? std::sqrt(low * high) : high / 1024;
    (total(middle) <= most ? low : high) = middle;
  }
  return low;
}

}  // namespace

template <typename T, int D>
std::vector<search_system<T, D>> make_search_systems(std::span<const lattice<T, D>> boxes,
                                                     const cells_request<T, D>& request) {
  vec<double, D> edges = cast<double>(request.edges);
  const double most = static_cast<double>(std::max(request.most_cells, boxes.size()));
  double across = most_across_reach(boxes, edges, request, most);
  while (across < 0) {
    edges = edges * 1.25;
    across = most_across_reach(boxes, edges, request, most);
  }
  const auto limits =
      make_vec<double, D>([&](int axis) { return across * static_cast<double>(request.reach) / edges[axis]; });
  std::vector<search_system<T, D>> systems;
  systems.reserve(boxes.size());
  cell_id first = 0;
  for (const lattice<T, D>& shape : boxes) {
    systems.push_back(make_search_system(shape, edges, limits, request, systems.size()));
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
  system.from = system.shape.origin;
  system.cells = space.cells;
  system.repeats = vec<int, D>::filled(1);
  system.rate = space.inverse_edge;
  for (int axis = 0; axis < D; ++axis) {
    system.cells_per_length[axis] = space.inverse_edge[axis] * (T(1) + 16 * epsilon);
    system.edge[axis] = space.edge(axis) * (T(1) - 16 * epsilon);
    system.slack[axis] =
        space.slack[axis] * space.inverse_edge[axis] + 64 * epsilon * static_cast<T>(space.cells[axis]);
  }
  return system;
}

template vec<double, 2> rounding_in_box(const lattice<float, 2>&, float, std::size_t);
template vec<double, 3> rounding_in_box(const lattice<float, 3>&, float, std::size_t);
template vec<double, 2> rounding_in_box(const lattice<double, 2>&, double, std::size_t);
template vec<double, 3> rounding_in_box(const lattice<double, 3>&, double, std::size_t);
template search_system<float, 2> make_search_system(const grid<float, 2>&);
template search_system<float, 3> make_search_system(const grid<float, 3>&);
template search_system<double, 2> make_search_system(const grid<double, 2>&);
template search_system<double, 3> make_search_system(const grid<double, 3>&);
template std::vector<search_system<float, 2>> make_search_systems(std::span<const lattice<float, 2>>,
                                                                  const cells_request<float, 2>&);
template std::vector<search_system<float, 3>> make_search_systems(std::span<const lattice<float, 3>>,
                                                                  const cells_request<float, 3>&);
template std::vector<search_system<double, 2>> make_search_systems(std::span<const lattice<double, 2>>,
                                                                   const cells_request<double, 2>&);
template std::vector<search_system<double, 3>> make_search_systems(std::span<const lattice<double, 3>>,
                                                                   const cells_request<double, 3>&);

}  // namespace quadrat::detail
