// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "quadrat/core/box.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat {

/// A box of any shape: the parallelepiped that D vectors span from `origin`, periodic per vector (the triclinic cell of
/// crystallography; either handedness). The fraction of a point along vector k is 0 on the face through the origin and
/// 1 on the opposite one: the scalar product of inverse[k] with (point - origin). Make one with `make_lattice`.
template <typename T, int D>
struct lattice {
  static_assert(detail::numbers_instance<T, D, 1>::exists);

  vec<T, D> origin;
  vec<vec<T, D>, D> vectors;
  vec<vec<T, D>, D> inverse;
  vec<bool, D> periodic;
  bool orthorhombic;  ///< vector k is a positive multiple of axis k

  [[nodiscard]] QUADRAT_HD T fraction(const vec<T, D>& point, int axis) const {
    if (orthorhombic) return (point[axis] - origin[axis]) / vectors[axis][axis];
    return dot(inverse[axis], point - origin);
  }

  /// shift[0] vectors[0] + shift[1] vectors[1] + ... The opposite shift gives exactly the opposite vector.
  [[nodiscard]] QUADRAT_HD vec<T, D> translation(const vec<int, D>& shift) const {
    vec<T, D> result{};
    for (int axis = 0; axis < D; ++axis) {
      if (shift[axis] == 0) continue;
      const T factor = static_cast<T>(shift[axis]);
      if (orthorhombic) {
        result[axis] = factor * vectors[axis][axis];
      } else {
        result += factor * vectors[axis];
      }
    }
    return result;
  }

  /// The largest distance, in boxes, from which `wrap` brings a point back.
  static constexpr int most_boxes = 1 << 20;

  /// The image of the point inside the box (within rounding of its faces, where the lattice is not orthorhombic); open
  /// axes are left unchanged. `boxes` receives the shift: point = result + translation(boxes). NaN and points more than
  /// `most_boxes` away are left unchanged.
  [[nodiscard]] QUADRAT_HD vec<T, D> wrap(const vec<T, D>& point, vec<int, D>& boxes) const {
    if (is_home(point, boxes)) return point;
    const vec<T, D> once = point - translation(boxes);
    // Over many boxes the rounding of the translation exceeds what is allowed at a face, so wrap once more.
    vec<int, D> rest{};
    if (is_home(once, rest)) return once;
    vec<T, D> result = once - translation(rest);
    for (int axis = 0; axis < D; ++axis) {
      boxes[axis] += rest[axis];
      if (!orthorhombic || rest[axis] == 0) continue;
      // A point that rounding still leaves outside is on a face.
      const T offset = result[axis] - origin[axis];
      if (offset >= vectors[axis][axis]) ++boxes[axis];
      if (!(offset >= T(0) && offset < vectors[axis][axis])) result[axis] = origin[axis];
    }
    return result;
  }

  /// Distance between the two faces that vector `axis` connects.
  [[nodiscard]] QUADRAT_HD T height(int axis) const {
    if (orthorhombic) return vectors[axis][axis];
    T largest = T(0);  // squares of very small components underflow, those of very large ones overflow
    for (int k = 0; k < D; ++k) largest = std::fmax(largest, std::fabs(inverse[axis][k]));
    T sum = T(0);
    for (int k = 0; k < D; ++k) sum += (inverse[axis][k] / largest) * (inverse[axis][k] / largest);
    return T(1) / (largest * std::sqrt(sum));
  }

 private:
  /// Whether no axis needs wrapping; `boxes` receives how many boxes away the point is.
  [[nodiscard]] QUADRAT_HD bool is_home(const vec<T, D>& point, vec<int, D>& boxes) const {
    bool inside = true;
    for (int axis = 0; axis < D; ++axis) {
      boxes[axis] = 0;
      if (!periodic[axis]) continue;
      if (orthorhombic) {
        const T offset = point[axis] - origin[axis];
        if (offset >= T(0) && offset < vectors[axis][axis]) continue;
      }
      const T whole = std::floor(fraction(point, axis));
      if (whole != T(0) && std::fabs(whole) <= T(most_boxes)) {
        boxes[axis] = static_cast<int>(whole);
        inside = false;
      }
    }
    return inside;
  }
};

namespace detail {

/// The inverse of the transpose: row k is perpendicular to every vector but the k-th.
template <typename T>
[[nodiscard]] vec<vec<T, 2>, 2> reciprocal(const vec<vec<T, 2>, 2>& v, T& volume) {
  volume = v[0][0] * v[1][1] - v[0][1] * v[1][0];
  const T f = T(1) / volume;
  return {{{{v[1][1] * f, -v[1][0] * f}}, {{-v[0][1] * f, v[0][0] * f}}}};
}

template <typename T>
[[nodiscard]] vec<vec<T, 3>, 3> reciprocal(const vec<vec<T, 3>, 3>& v, T& volume) {
  const auto cross = [](const vec<T, 3>& a, const vec<T, 3>& b) {
    return vec<T, 3>{{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
  };
  volume = dot(v[0], cross(v[1], v[2]));
  const T f = T(1) / volume;
  return {{f * cross(v[1], v[2]), f * cross(v[2], v[0]), f * cross(v[0], v[1])}};
}

}  // namespace detail

/// Vectors of zeros along open axes become perpendicular to the others, along their own axis where that is possible,
/// and as long as the longest one; 1 if all are zeros.
template <typename T, int D>
[[nodiscard]] vec<vec<T, D>, D> complete_open_vectors(vec<vec<T, D>, D> vectors, const vec<bool, D>& periodic) {
  vec<vec<double, D>, D> basis{};  // orthonormal, of the space that the vectors span
  int spanned = 0;
  double longest = 0;
  const auto beside = [&](vec<double, D> v) {
    for (int k = 0; k < spanned; ++k) v -= dot(basis[k], v) * basis[k];
    return v;
  };
  for (int axis = 0; axis < D; ++axis) {
    const double length = norm(cast<double>(vectors[axis]));
    longest = std::fmax(longest, length);
    const vec<double, D> rest = beside(cast<double>(vectors[axis]));
    if (norm(rest) > 0) basis[spanned++] = (1 / norm(rest)) * rest;
  }
  for (int axis = 0; axis < D; ++axis) {
    if (periodic[axis] || !(vectors[axis] == vec<T, D>{}) || spanned == D) continue;
    vec<double, D> best{};
    for (int k = 0; k < D; ++k) {
      vec<double, D> unit{};
      unit[(axis + k) % D] = 1;
      const vec<double, D> rest = beside(unit);
      if (norm(rest) > (1 + 1e-9) * norm(best)) best = rest;
    }
    basis[spanned++] = (1 / norm(best)) * best;
    vectors[axis] = cast<T>((longest > 0 ? longest : 1.0) * basis[spanned - 1]);
  }
  return vectors;
}

/// A checked lattice. A vector of zeros along an open axis says that the axis has no end: complete_open_vectors gives
/// it one, and functions that check points against open faces need to be told to accept points outside. Throws
/// argument_error when a component is not finite, or the vectors span no volume (their directions are dependent to
/// within rounding, or one along a periodic axis is zero).
template <typename T, int D>
[[nodiscard]] lattice<T, D> make_lattice(const vec<T, D>& origin, const vec<vec<T, D>, D>& given,
                                         const vec<bool, D>& periodic) {
  const vec<vec<T, D>, D> vectors = complete_open_vectors(given, periodic);
  vec<vec<double, D>, D> exact{};
  double product = 1;
  bool diagonal = true;
  for (int axis = 0; axis < D; ++axis) {
    require(std::isfinite(origin[axis]), "component ", axis, " of the lattice's origin is ", origin[axis],
            "; it must be finite");
    for (int k = 0; k < D; ++k) {
      const T component = vectors[axis][k];
      require(std::isfinite(component), "component ", k, " of lattice vector ", axis, " is ", component,
              "; it must be finite");
      diagonal = diagonal && (k == axis ? component > T(0) : component == T(0));
      exact[axis][k] = static_cast<double>(component);
    }
    product *= std::sqrt(squared_norm(exact[axis]));
  }
  double volume = 0;
  const auto inverse = detail::reciprocal(exact, volume);
  require(std::isfinite(product) && std::fabs(volume) > 1e-9 * product, "the lattice vectors span a volume of ", volume,
          "; they must be linearly independent");
  lattice<T, D> result{origin, vectors, {}, periodic, diagonal};
  for (int axis = 0; axis < D; ++axis) {
    result.inverse[axis] = cast<T>(inverse[axis]);
    for (int k = 0; k < D; ++k) {
      require(std::isfinite(result.inverse[axis][k]), "lattice vector ", axis, " is too short to be inverted");
    }
  }
  return result;
}

/// A box as a lattice.
template <typename T, int D>
[[nodiscard]] lattice<T, D> make_lattice(const box<T, D>& domain) {
  vec<vec<T, D>, D> vectors{};
  for (int axis = 0; axis < D; ++axis) vectors[axis][axis] = domain.length[axis];
  return make_lattice(domain.lower, vectors, domain.periodic);
}

}  // namespace quadrat
