// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "quadrat/core/error.hpp"
#include "quadrat/search/lattice/system.hpp"
#include "search/rounding.hpp"

namespace quadrat::detail {

namespace {

/// The most images on either side of a particle: sort keys have ten bits per axis.
constexpr double most_images_along = 500;

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

/// Cells along an axis, so that their numbers are exact in T.
template <typename T>
constexpr double most_cells_along = sizeof(T) == 4 ? 1e6 : 1e9;
/// The most along the ring of a row, so that places on it round by a good part of a cell at most.
template <typename T>
constexpr double most_cells_of_ring = sizeof(T) == 4 ? 0x1p18 : 1e9;

/// Cells as long as `edge` along an axis, if none is folded; and how they are stored.
struct axis_cells {
  double edge;
  double natural;
  double least;  ///< stored cells that a search needs at least, so that it meets none twice
  double rows;   ///< so many that a search seldom meets all
  bool endless;  ///< an open axis, if it is folded
};

/// A box, and its cells if none are folded.
template <typename T, int D>
struct uncut_box {
  const lattice<T, D>& shape;
  vec<double, D> rounding;
  vec<axis_cells, D> axes;

  uncut_box(const lattice<T, D>& box, const vec<double, D>& edges, const cells_request<T, D>& request,
            std::size_t number)
      : shape(box), rounding(rounding_in_box(box, request.reach, number)), axes{} {
    for (int axis = 0; axis < D; ++axis) {
      const bool anywhere =
          request.endless_of_box != nullptr ? request.endless_of_box[number][axis] : request.points_anywhere;
      axes[axis] = cells_along(axis, edges[axis], static_cast<double>(request.reach), anywhere);
    }
  }

 private:
  [[nodiscard]] axis_cells cells_along(int axis, double edge, double reach, bool anywhere) const {
    constexpr double epsilon = std::numeric_limits<T>::epsilon();
    const double length = static_cast<double>(shape.height(axis));
    axis_cells cells{edge, std::fmax(std::floor(length / edge), 1.0), 1, 1, !shape.periodic[axis]};
    if (cells.endless) {
      // Besides the cells within reach: those of slack, and of points that are searched for together.
      cells.rows = 2 * std::ceil(reach / edge + 20 * epsilon * cells.natural) + 4;
      if (anywhere) cells.natural = HUGE_VAL;
    } else {
      cells.natural = std::fmin(cells.natural, most_cells_along<T>);
      const double within = 2 * std::ceil(reach * cells.natural / length);
      // In a tilted box, slack grows with the distance along open axes.
      const double slack = shape.orthorhombic ? std::ceil(4 * rounding[axis] * cells.natural) : 8;
      cells.least = cells.rows = within + 4 + slack;
    }
    return cells;
  }
};

[[nodiscard]] double stored(const axis_cells& axis, double most) {
  return std::fmin(axis.natural, std::fmax(axis.least, std::fmax(std::floor(most), 1.0)));
}

/// The most cells along an axis, in units of the reach, with which all boxes together have at most that many cells.
template <typename T, int D>
double most_across_reach(const std::vector<uncut_box<T, D>>& boxes, double reach, double most) {
  const auto total = [&](double across) {
    double sum = 0;
    for (const uncut_box<T, D>& box : boxes) {
      double product = 1;
      for (int axis = 0; axis < D; ++axis) product *= stored(box.axes[axis], across * reach / box.axes[axis].edge);
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

/// The cells to store along each axis, no more in all than if each axis had at most `across` in units of the reach.
/// `folded`: whether that is less than the box has. Then there are few rows, on long rings.
template <typename T, int D>
vec<double, D> stored_cells(const uncut_box<T, D>& box, double reach, double across, bool& folded) {
  vec<double, D> number{};
  double budget = 1;
  for (int axis = 0; axis < D; ++axis) {
    const axis_cells& cells = box.axes[axis];
    number[axis] = stored(cells, across * reach / cells.edge);
    folded = folded || number[axis] < cells.natural;
    budget *= number[axis];
  }
  if (!folded) return number;
  double rows = 1;
  for (int axis = 1; axis < D; ++axis) {
    number[axis] = std::fmin(number[axis], box.axes[axis].rows);
    rows *= number[axis];
  }
  const axis_cells& first = box.axes[0];
  const double ring = first.endless ? most_cells_of_ring<T> : first.natural;
  // More rows where rings are short.
  for (int axis = 1, full = 0; full < D - 1 && 2 * rows * ring <= budget; axis = axis + 1 < D ? axis + 1 : 1) {
    full = 2 * number[axis] <= box.axes[axis].natural ? 0 : full + 1;
    if (full > 0) continue;
    number[axis] *= 2;
    rows *= 2;
  }
  number[0] = std::fmax(std::fmin(std::floor(budget / rows), ring), stored(first, 1));
  return number;
}

/// Sets what is stored along an axis, and returns the number of cells in the box.
template <typename T, int D>
double fold_axis(search_system<T, D>& system, int axis, const axis_cells& cells, double number, bool folded) {
  system.repeats[axis] = 1;
  double count = cells.natural;
  if (cells.endless && folded) {
    // One cell for all points of a box needs no folding.
    const bool repeats = number > 1 || std::isinf(cells.natural);
    system.repeats[axis] = repeats ? 0 : 1;
    count = repeats ? static_cast<double>(system.shape.height(axis)) / cells.edge : 1;
    if (system.shape.orthorhombic && repeats) system.from[axis] = T(0);
  } else if (number < cells.natural) {
    const double most = std::floor(cells.natural / cells.least);
    system.repeats[axis] = static_cast<int>(std::fmax(std::fmin(std::ceil(cells.natural / number), most), 1.0));
    count = std::floor(cells.natural / system.repeats[axis]) * system.repeats[axis];
  }
  system.cells[axis] = static_cast<int>(system.repeats[axis] == 0 ? number : count / system.repeats[axis]);
  return count;
}

/// The place of row after row on a ring: spread evenly, by the sequence of grid::fold_row, and before they repeat, on
/// all cells of it.
template <int D>
int step_along_ring(int ring, int axis) {
  const double part = D == 2 ? 0.6180339887498949 : (axis == 1 ? 0.7548776662466927 : 0.5698402909980532);
  int step = static_cast<int>(part * ring);
  while (std::gcd(step, ring) != 1) ++step;
  return step;
}

/// All that does not depend on where cells are numbered from. `across`: as for stored_cells.
template <typename T, int D>
search_system<T, D> cut_box(const uncut_box<T, D>& box, double reach, double across) {
  const lattice<T, D>& shape = box.shape;
  search_system<T, D> system{};
  system.shape = shape;
  system.from = shape.origin;
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  bool folded = false;
  const vec<double, D> number = stored_cells(box, reach, across, folded);
  for (int axis = 0; axis < D; ++axis) {
    const axis_cells& cells = box.axes[axis];
    const bool folds = folded && (axis == 0 || number[axis] < cells.natural);
    const double height = static_cast<double>(shape.height(axis));
    const double count = fold_axis(system, axis, cells, number[axis], folds);
    system.rate[axis] =
        static_cast<T>(shape.orthorhombic ? count / static_cast<double>(shape.vectors[axis][axis]) : count);
    system.cells_per_length[axis] = static_cast<T>(count / height) * (T(1) + 16 * epsilon);
    system.edge[axis] = static_cast<T>(height / count) * (T(1) - 16 * epsilon);
    // Along an axis without end, coordinates round by what they are themselves; see slack_at.
    const bool endless = shape.orthorhombic && system.repeats[axis] == 0;
    system.slack[axis] =
        static_cast<T>(endless ? 16 * static_cast<double>(epsilon) * system.cells[axis] : box.rounding[axis] * count);
    if (axis > 0 && system.repeats[axis] != 1) system.steps[axis] = step_along_ring<D>(system.cells[0], axis);
  }
  return system;
}

}  // namespace

template <typename T, int D>
std::vector<search_system<T, D>> make_search_systems(std::span<const lattice<T, D>> boxes,
                                                     const cells_request<T, D>& request) {
  const double most = static_cast<double>(std::max(request.most_cells, boxes.size()));
  const double reach = static_cast<double>(request.reach);
  std::vector<uncut_box<T, D>> uncut;
  double across = -1;
  for (vec<double, D> edges = cast<double>(request.edges); across < 0; edges = edges * 1.25) {
    uncut.clear();
    for (const lattice<T, D>& shape : boxes) uncut.emplace_back(shape, edges, request, uncut.size());
    across = most_across_reach(uncut, reach, most);
  }
  std::vector<search_system<T, D>> systems;
  systems.reserve(boxes.size());
  cell_id first = 0;
  for (const uncut_box<T, D>& box : uncut) {
    systems.push_back(cut_box(box, reach, across));
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
