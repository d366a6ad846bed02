// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/core/lattice.hpp"
#include "quadrat/core/shift_map.hpp"
#include "quadrat/core/vec.hpp"

/// Boxes with the same images as a given one, but with the shortest vectors. In a strongly sheared box searches and
/// sums cost more as the vectors get longer: more points are close to faces, each face within reach costs one more
/// image, and a mesh needs points in proportion to the lengths. All modules take their boxes from here.
namespace quadrat::detail {

/// Replaces the periodic vectors of a box by the shortest ones with the same images. In the end no sum or difference of
/// them is shorter than the longest vector in it (H. Minkowski's reduction, in up to three dimensions).
template <typename T, int D>
class lattice_reduction {
 public:
  explicit lattice_reduction(const lattice<T, D>& shape) : shape_(shape) {
    for (int k = 0; k < D; ++k) {
      vectors_[k] = cast<double>(shape.vectors[k]);
      given_[k][k] = searched_[k][k] = 1;
    }
    while (most_ < most_vectors && shorten()) changed_ = true;
  }

  /// Whether the box differs from the given one.
  [[nodiscard]] bool changed() const { return changed_ && most_ < most_vectors; }
  /// Whether shifts of points up to 2^20 boxes away stay below 2^31 in both boxes.
  [[nodiscard]] bool maps_shifts() const { return most_ <= 300; }  // docs and messages say this number, too
  /// The map of shifts between the boxes. Precondition: maps_shifts().
  [[nodiscard]] shift_map<D> map() const {
    shift_map<D> result{};
    for (int k = 0; k < D; ++k) result.given[k] = cast<int>(given_[k]);
    for (int k = 0; k < D; ++k) result.searched[k] = cast<int>(searched_[k]);
    return result;
  }
  /// The reduced box. Precondition: changed().
  [[nodiscard]] lattice<T, D> box() const {
    vec<vec<T, D>, D> vectors{};
    for (int k = 0; k < D; ++k) vectors[k] = cast<T>(vectors_[k]);
    return make_lattice(shape_.origin, vectors, shape_.periodic);
  }

 private:
  static constexpr double rounding = 1e-6;                            // vectors shorter by less are not replaced
  static constexpr double most_vectors = sizeof(T) == 4 ? 1e5 : 1e9;  // beyond that, rounding has destroyed the lattice

  [[nodiscard]] bool periodic(int a, int b) const { return a != b && shape_.periodic[a] && shape_.periodic[b]; }

  /// Shortens one vector if possible. Returns whether it did.
  [[nodiscard]] bool shorten() {
    for (int a = 0; a < D; ++a) {
      for (int b = 0; b < D; ++b) {
        if (!periodic(a, b)) continue;
        const double number = std::nearbyint(dot(vectors_[a], vectors_[b]) / squared_norm(vectors_[b]));
        if (shortens(a, number * vectors_[b])) return subtract(a, b, number);
        if constexpr (D == 3) {
          const int c = 3 - a - b;
          const double other = dot(vectors_[a], vectors_[c]) < 0 ? -1 : 1;
          if (!periodic(a, c) || !periodic(b, c)) continue;
          for (const double sign : {-1.0, 1.0}) {
            if (!shortens(a, sign * vectors_[b] + other * vectors_[c])) continue;
            return subtract(a, b, sign) && subtract(a, c, other);
          }
        }
      }
    }
    return false;
  }
  [[nodiscard]] bool shortens(int a, const vec<double, D>& less) const {
    return squared_norm(vectors_[a] - less) < (1 - rounding) * squared_norm(vectors_[a]);
  }
  bool subtract(int a, int b, double number) {
    vectors_[a] -= number * vectors_[b];
    given_[a] -= number * given_[b];
    for (int k = 0; k < D; ++k) searched_[k][b] += number * searched_[k][a];
    most_ = 0;
    for (int k = 0; k < D; ++k) {
      for (int m = 0; m < D; ++m)
        most_ = std::fmax(most_, std::fmax(std::fabs(given_[k][m]), std::fabs(searched_[k][m])));
    }
    return true;
  }

  const lattice<T, D>& shape_;
  vec<vec<double, D>, D> vectors_{};
  vec<vec<double, D>, D> given_{}, searched_{};  // integer coefficients: those of the map
  double most_ = 1;                              // the largest coefficient
  bool changed_ = false;
};

/// The product of the heights along periodic vectors. The number of images within a reach far larger than the box is
/// inversely proportional to it.
template <typename T, int D>
[[nodiscard]] double product_of_heights(const lattice<T, D>& shape) {
  double product = 1;
  for (int axis = 0; axis < D; ++axis) {
    if (shape.periodic[axis]) product *= static_cast<double>(shape.height(axis));
  }
  return product;
}

/// A box to search instead of a given one, with the same images.
template <typename T, int D>
struct reduced_lattice {
  lattice<T, D> shape;
  bool changed = false;  ///< false: it is the given one
  shift_map<D> map{};    ///< set only if shifts were requested and the box has changed
};

/// The box with the shortest vectors if that saves more than a fifth of the images; otherwise the given one, whose
/// results need no mapping. `shifts`: results need shifts, so the box changes only if those of all points can be
/// mapped.
template <typename T, int D>
[[nodiscard]] reduced_lattice<T, D> reduced(const lattice<T, D>& given, bool shifts) {
  const lattice_reduction<T, D> reduction(given);
  if (!reduction.changed() || (shifts && !reduction.maps_shifts())) return {given};
  const lattice<T, D> shape = reduction.box();
  if (!(product_of_heights(shape) > 1.25 * product_of_heights(given))) return {given};
  return {shape, true, shifts ? reduction.map() : shift_map<D>{}};
}

}  // namespace quadrat::detail
