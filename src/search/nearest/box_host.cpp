// SPDX-License-Identifier: BSD-3-Clause
#include "search/nearest/box.hpp"

#include <algorithm>
#include <cmath>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// Keys have ten bits for a component of S.
constexpr double most_nearest_images = 500;

/// The bounds along a periodic vector do not hold if an open axis has a component along it.
template <typename T, int D>
void check_open_vectors(const lattice<T, D>& shape) {
  for (int open = 0; open < D; ++open) {
    for (int axis = 0; axis < D; ++axis) {
      if (shape.periodic[open] || !shape.periodic[axis]) continue;
      const T product = dot(shape.vectors[open], shape.vectors[axis]);
      require(std::fabs(product) <= T(1e-5) * norm(shape.vectors[open]) * norm(shape.vectors[axis]), "the open vector ",
              open, " of the box is not perpendicular to its periodic vector ", axis,
              "; make it perpendicular: along an open axis points may lie anywhere");
    }
  }
}

/// An image of a point is not among the nearest if k + 1 others are nearer. In an orthorhombic box these are the images
/// in between. In any other box, some image is at most half the sum of the vectors away, and further images follow
/// along the shortest vector.
template <typename T, int D>
double images_along(const lattice<T, D>& shape, const nearest_options<T>& options, int axis) {
  const double height = static_cast<double>(shape.height(axis));
  const auto between = std::ceil(static_cast<double>(options.k) / 2) + 2;
  double most = between;
  if (!shape.orthorhombic) {
    double sum = 0, shortest = HUGE_VAL;
    for (int k = 0; k < D; ++k) {
      if (!shape.periodic[k]) continue;
      const auto length = static_cast<double>(norm(shape.vectors[k]));
      sum += length;
      shortest = std::min(shortest, length);
    }
    most = std::ceil((1.5 * sum + between * shortest) / height) + 1;
  }
  return std::min(most, std::ceil(static_cast<double>(options.cutoff) / height) + 1);
}

/// A lower bound on the distance of images not yet visited. Wrapped points may lie slightly outside the box.
template <typename T, int D>
T least_height(const lattice<T, D>& shape, int axis) {
  double size = 0;
  for (int k = 0; k < D; ++k) {
    size = std::max(size, std::fabs(static_cast<double>(shape.origin[k])));
    for (int m = 0; m < D; ++m) size = std::max(size, std::fabs(static_cast<double>(shape.vectors[m][k])));
  }
  const auto height = static_cast<double>(shape.height(axis));
  const double rounding = 32 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (size + height);
  return static_cast<T>(std::max(0.999 * height - rounding, 0.25 * height));
}

}  // namespace

template <typename T>
void check_nearest_options(const nearest_options<T>& options) {
  require(options.k >= 1 && options.k <= most_nearest_neighbors, "k is ", options.k, "; it must be from 1 to ",
          most_nearest_neighbors);
  require(options.cutoff > T(0), "the cutoff is ", options.cutoff, "; it must be positive");
  require(options.cutoff * options.cutoff > T(0), "the cutoff is ", options.cutoff, "; its square must be positive");
}

template <typename T, int D>
nearest_images<T, D> make_nearest_images(const lattice<T, D>& shape, const nearest_options<T>& options) {
  check_nearest_options(options);
  if (!shape.orthorhombic) check_open_vectors(shape);
  nearest_images<T, D> images{};
  images.shape = shape;
  for (int axis = 0; axis < D; ++axis) {
    if (!shape.periodic[axis]) continue;
    const double most = images_along(shape, options, axis);
    require(most <= most_nearest_images,
            "the box is flat, or skewed by more than 300 vectors: the nearest images may be ", most, " times vector ",
            axis, " away; at most ", most_nearest_images, " are possible. Take other vectors of the same lattice");
    images.most[axis] = static_cast<int>(most);
    images.height[axis] = least_height(shape, axis);
  }
  return images;
}

/// If there are more points than neighbors and the box is periodic along all axes, each point has an image within half
/// of a diagonal, and farther images are not among the nearest.
template <typename T, int D>
nearest_images<T, D> images_for(nearest_images<T, D> images, std::size_t points, std::size_t k) {
  const lattice<T, D>& shape = images.shape;
  double sum = 0, squares = 0, numbers = 1;
  for (int axis = 0; axis < D; ++axis) {
    const auto length = static_cast<double>(norm(shape.vectors[axis]));
    sum += length;
    squares += length * length;
  }
  const double half = 0.5005 * (shape.orthorhombic ? std::sqrt(squares) : sum);
  for (int axis = 0; axis < D; ++axis) {
    if (points > k && shape.periodic == vec<bool, D>::filled(true)) {
      const auto height = static_cast<double>(images.height[axis]);
      const double rounding = static_cast<double>(shape.height(axis)) - height;
      const double most = std::floor((half + rounding) / height) + 1;
      images.most[axis] = static_cast<int>(std::min(static_cast<double>(images.most[axis]), most));
    }
    numbers *= 2 * images.most[axis] + 1;
  }
  images.bits = static_cast<int>(std::ceil(std::log2(numbers)));
  return images;
}

template void check_nearest_options(const nearest_options<float>&);
template void check_nearest_options(const nearest_options<double>&);
template nearest_images<float, 2> make_nearest_images(const lattice<float, 2>&, const nearest_options<float>&);
template nearest_images<float, 3> make_nearest_images(const lattice<float, 3>&, const nearest_options<float>&);
template nearest_images<double, 2> make_nearest_images(const lattice<double, 2>&, const nearest_options<double>&);
template nearest_images<double, 3> make_nearest_images(const lattice<double, 3>&, const nearest_options<double>&);
template nearest_images<float, 2> images_for(nearest_images<float, 2>, std::size_t, std::size_t);
template nearest_images<float, 3> images_for(nearest_images<float, 3>, std::size_t, std::size_t);
template nearest_images<double, 2> images_for(nearest_images<double, 2>, std::size_t, std::size_t);
template nearest_images<double, 3> images_for(nearest_images<double, 3>, std::size_t, std::size_t);

}  // namespace quadrat::detail
