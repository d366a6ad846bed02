// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "quadrat/core/error.hpp"
#include "quadrat/search/lattice/system.hpp"
#include "search/rounding.hpp"

namespace quadrat::detail {

namespace {

/// The most images on either side of a particle: sort keys have ten bits per axis.
constexpr double most_images_along = 500;

/// The most cells along an axis whose numbers are exact in T.
template <typename T>
constexpr double most_cells_along = sizeof(T) == 4 ? 1e6 : 1e9;

/// Open axes with fewer cells than this have an end also in folded boxes, so that walks skip the cells beyond.
constexpr double most_cells_of_ends = 32;

/// Cells along each axis of a box, if it is not folded: HUGE_VAL where points may be anywhere.
template <typename T, int D>
vec<double, D> natural_cells(const lattice<T, D>& shape, const cells_request<T, D>& request, std::size_t number) {
  return make_vec<double, D>([&](int axis) {
    const double length = static_cast<double>(shape.height(axis));
    const double cells = std::fmax(std::floor(length / static_cast<double>(request.edges[axis])), 1.0);
    if (shape.periodic[axis]) return std::fmin(cells, most_cells_along<T>);
    const bool anywhere =
        request.endless_of_box != nullptr ? request.endless_of_box[number][axis] : request.points_anywhere;
    return anywhere ? HUGE_VAL : cells;
  });
}

template <int D>
double product_of(const vec<double, D>& cells) {
  double product = 1;
  for (int axis = 0; axis < D; ++axis) product *= cells[axis];
  return product;
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

/// The largest factor for these margins with which ranges hold no stored cell twice: for each pair of cells that share
/// one, some component of their distance must be longer.
template <typename T, int D>
double distinct_factor(const search_system<T, D>& system, const vec<double, D>& margins) {
  const auto within = [&](int axis, double factor) {  // cells
    const double range = 2 * factor * margins[axis] + 1;
    return system.cells[axis] > 0 ? std::fmin(range, system.cells[axis]) : range;
  };
  // More cells than are stored cannot be distinct.
  double factor = 0.01;
  while (product_of(make_vec<double, D>([&](int axis) { return within(axis, factor); })) <= system.count) factor *= 1.2;
  factor = std::fmin(factor, (system.count - 1.0) / (2 * margins[0]));
  for (std::int64_t z = 0; static_cast<double>(z) < (D == 3 ? within(D - 1, factor) + 1 : 1); ++z) {
    const cell_id layer = D == 3 ? static_cast<cell_id>(z) * system.strides[D - 1] : 0;
    for (std::int64_t y = 1; static_cast<double>(y) < 2 * within(1, factor) + 1; ++y) {
      // Alternates forward and back from 0; of two opposite distances only one is needed.
      const std::int64_t along = y % 2 == 0 ? y / 2 : -(y / 2);
      if (z == 0 && along <= 0) continue;
      const cell_id number = layer + static_cast<cell_id>(along) * system.strides[1];
      const cell_id x = std::min(number & system.mask, (0 - number) & system.mask);
      if (system.cells[0] > 0 && x >= static_cast<cell_id>(system.cells[0])) continue;
      double longest = (static_cast<double>(x) - 1) / margins[0];
      longest = std::fmax(longest, (std::fabs(static_cast<double>(along)) - 1) / margins[1]);
      if constexpr (D == 3) longest = std::fmax(longest, (static_cast<double>(z) - 1) / margins[D - 1]);
      factor = std::fmin(factor, longest / 2);
    }
  }
  return factor;
}

/// The strides as fractions of the number of stored cells, a power of two, in bits from the highest on. A search found
/// them as the best for which ranges are distinct up to three fifths of the edge of a cube of the stored cells, and
/// lines along axes, diagonals and some other directions rarely meet themselves.
template <int D>
constexpr cell_id parts_of_strides[] = {0, D == 2 ? 0xd9146e84 : 0xa20bc8a4, 0xeccb1b90};

/// Folds a box to a power of two of cells.
template <typename T, int D>
void fold(search_system<T, D>& system, double cells, T reach) {
  system.count = static_cast<cell_id>(cells);
  system.mask = system.count - 1;
  for (int axis = 0; axis < D; ++axis) {
    system.strides[axis] = static_cast<cell_id>(parts_of_strides<D>[axis] * cells / 0x1p32) | 1;
  }
  const auto margins = make_vec<double, D>([&](int axis) {
    return std::fmax(static_cast<double>(reach) * static_cast<double>(system.cells_per_length[axis]), 1);
  });
  const double factor = distinct_factor(system, margins);
  for (int axis = 0; axis < D; ++axis) {
    const double distinct = factor * margins[axis];
    const bool all = system.cells[axis] > 0 && 2 * distinct + 2 > system.cells[axis];
    system.distinct[axis] = static_cast<T>(all ? HUGE_VAL : distinct * (1 - 1e-4));
  }
}

/// Everything except the number of the first cell. Folds a box of more cells than `most` to that many.
template <typename T, int D>
search_system<T, D> make_search_system(const lattice<T, D>& shape, double most, const cells_request<T, D>& request,
                                       std::size_t number) {
  search_system<T, D> system{};
  system.shape = shape;
  system.from = shape.origin;
  system.mask = ~cell_id{0};
  system.count = 1;
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  const vec<double, D> rounding = rounding_in_box(shape, request.reach, number);
  vec<double, D> natural = natural_cells(shape, request, number);
  // A box with one cell needs no folding.
  if (most == 1) natural = vec<double, D>::filled(1);
  const bool folds = product_of(natural) > most;
  for (int axis = 0; axis < D; ++axis) {
    const double height = static_cast<double>(shape.height(axis));
    const bool endless = folds && !shape.periodic[axis] && natural[axis] >= most_cells_of_ends;
    const double count = endless ? height / static_cast<double>(request.edges[axis]) : natural[axis];
    system.cells[axis] = endless ? 0 : static_cast<int>(count);
    if (endless && shape.orthorhombic) system.from[axis] = T(0);
    system.rate[axis] =
        static_cast<T>(shape.orthorhombic ? count / static_cast<double>(shape.vectors[axis][axis]) : count);
    system.cells_per_length[axis] = static_cast<T>(count / height) * (T(1) + 16 * epsilon);
    system.edge[axis] = static_cast<T>(height / count) * (T(1) - 16 * epsilon);
    system.slack[axis] = static_cast<T>(rounding[axis] * count);
    system.distinct[axis] = std::numeric_limits<T>::infinity();
    if (folds) continue;
    system.strides[axis] = system.count;
    system.count *= static_cast<cell_id>(count);
  }
  if (!folds) return system;
  fold(system, most, request.reach);
  for (int axis = 0; axis < D; ++axis) {
    // Along an endless axis, the rounding of a coordinate is proportional to its size; see slack_at.
    if (shape.orthorhombic && system.cells[axis] == 0) system.slack[axis] = 16 * epsilon * (2 + system.distinct[axis]);
  }
  return system;
}

/// The number of cells to which all larger boxes are folded: a power of two, or no bound if no box needs
/// folding.
template <typename T, int D>
double most_cells_of_box(std::span<const lattice<T, D>> boxes, const cells_request<T, D>& request) {
  std::vector<double> natural(boxes.size());
  for (std::size_t number = 0; number < boxes.size(); ++number) {
    natural[number] = product_of(natural_cells(boxes[number], request, number));
  }
  const auto total = [&](double most) {
    double sum = 0;
    for (const double cells : natural) sum += std::min(cells, most);
    return sum;
  };
  const double most = std::fmin(static_cast<double>(std::max(request.most_cells, boxes.size())), 0x1p31);
  double cells = HUGE_VAL;
  if (total(cells) <= most) return cells;
  for (cells = std::exp2(std::floor(std::log2(most))); total(cells) > most;) cells /= 2;
  return cells;
}

}  // namespace

template <typename T, int D>
std::vector<search_system<T, D>> make_search_systems(std::span<const lattice<T, D>> boxes,
                                                     const cells_request<T, D>& request) {
  const double most = most_cells_of_box(boxes, request);
  std::vector<search_system<T, D>> systems;
  systems.reserve(boxes.size());
  cell_id first = 0;
  for (const lattice<T, D>& shape : boxes) {
    systems.push_back(make_search_system(shape, most, request, systems.size()));
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
  system.rate = space.inverse_edge;
  system.mask = ~cell_id{0};
  system.count = 1;
  system.distinct = vec<T, D>::filled(std::numeric_limits<T>::infinity());
  for (int axis = 0; axis < D; ++axis) {
    system.strides[axis] = system.count;
    system.count *= static_cast<cell_id>(space.cells[axis]);
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
