// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "search/nearest/order.hpp"
#include "search/nearest/tree.hpp"

/// Images of the points in periodic boxes. Each is searched like the home image, with a translation.
namespace quadrat::detail {

/// The bounds of the search over images.
template <typename T, int D>
struct nearest_images {
  lattice<T, D> shape;
  vec<T, D> height;                              ///< of the box, along periodic axes, rounded down
  vec<int, D> most;                              ///< no nearer image has a larger |S|; 0 along open axes
  const nearest_bounds<T, D>* bounds = nullptr;  ///< of all wrapped points, in the context's memory
  int bits = 32;                                 ///< of the number of an image; 32: not counted yet

  [[nodiscard]] QUADRAT_HD bool any() const {
    bool result = false;
    for (int axis = 0; axis < D; ++axis) result = result || most[axis] > 0;
    return result;
  }
};

/// The number of an image among all that `most` allows, in lexicographic order of S.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD std::uint32_t number_of_image(const nearest_images<T, D>& images, const vec<int, D>& shift) {
  std::uint32_t result = 0;
  for (int axis = 0; axis < D; ++axis) {
    const int most = images.most[axis];
    result = result * static_cast<std::uint32_t>(2 * most + 1) + static_cast<std::uint32_t>(shift[axis] + most);
  }
  return result;
}
template <typename T, int D>
[[nodiscard]] QUADRAT_HD vec<int, D> image_of_number(const nearest_images<T, D>& images, std::uint32_t number) {
  vec<int, D> shift{};
  for (int axis = D - 1; axis >= 0; --axis) {
    const auto count = static_cast<std::uint32_t>(2 * images.most[axis] + 1);
    shift[axis] = static_cast<int>(number % count) - images.most[axis];
    number /= count;
  }
  return shift;
}

/// S . vectors, with the same rounding wherever it is inlined.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD vec<T, D> image_translation(const lattice<T, D>& shape, const vec<int, D>& shift) {
  vec<T, D> result{};
  for (int axis = 0; axis < D; ++axis) {
    if (shift[axis] == 0) continue;
    const T factor = static_cast<T>(shift[axis]);
    for (int k = 0; k < D; ++k) result[k] = sum_with_product(result[k], factor, shape.vectors[axis][k]);
  }
  return result;
}

/// S as bits in lexicographic order.
template <int D>
[[nodiscard]] QUADRAT_HD std::uint32_t packed_shift(const vec<int, D>& shift) {
  std::uint32_t result = 0;
  for (int axis = 0; axis < D; ++axis) result = result << 10 | static_cast<std::uint32_t>(shift[axis] + 512);
  return result;
}
template <int D>
[[nodiscard]] QUADRAT_HD vec<int, D> unpacked_shift(std::uint32_t packed) {
  vec<int, D> shift{};
  for (int axis = D - 1; axis >= 0; --axis) {
    shift[axis] = static_cast<int>(packed & 1023) - 512;
    packed >>= 10;
  }
  return shift;
}

/// Searches all images, the home image first, in growing shells until the next shell is too far away. Search has
/// `in_reach(squared distance)` and `find_in_image(shift)`, which may shrink the reach. The positions whose neighbors
/// are searched for lie between `low` and `high`.
template <typename T, int D, typename Search>
class nearest_shells {
 public:
  QUADRAT_HD nearest_shells(const nearest_images<T, D>& images, const vec<T, D>& low, const vec<T, D>& high,
                            Search& search)
      : images_(images), low_(low), high_(high), search_(search) {}

  QUADRAT_HD void visit() {
    auto done = vec<int, D>::filled(-1);
    vec<int, D> next{};
    for (;;) {
      visit_shell(done, next);
      done = next;
      T covered = T(-1);  // the distance within which all images have been visited
      for (int axis = 0; axis < D; ++axis) {
        if (done[axis] >= images_.most[axis]) continue;
        const T distance = static_cast<T>(done[axis]) * images_.height[axis];
        if (covered < T(0) || distance < covered) covered = distance;
      }
      if (covered < T(0) || !search_.in_reach(covered * covered)) return;
      next = next_shell(done, covered);
    }
  }

 private:
  /// The next shell, at least twice as wide.
  [[nodiscard]] QUADRAT_HD vec<int, D> next_shell(vec<int, D> done, T covered) const {
    T target = 2 * covered;
    for (int axis = 0; axis < D && covered == T(0); ++axis) {
      if (images_.most[axis] > 0 && (target == T(0) || images_.height[axis] < target)) target = images_.height[axis];
    }
    for (int axis = 0; axis < D; ++axis) {
      if (images_.most[axis] == 0) continue;
      const T wanted = std::ceil(target / images_.height[axis]);
      const int count = wanted < static_cast<T>(images_.most[axis]) ? static_cast<int>(wanted) : images_.most[axis];
      done[axis] = count > done[axis] ? count : done[axis];
    }
    return done;
  }

  /// The images within `next` that are not within `done`. Skips early those too far away along one axis.
  QUADRAT_HD void visit_shell(const vec<int, D>& done, const vec<int, D>& next) {
    vec<int, D> shift{};
    const int depth = D == 3 ? next[D - 1] : 0;
    for (int z = -depth; z <= depth; ++z) {
      if (D == 3 && too_far(D - 1, z)) continue;
      if (D == 3) shift[D - 1] = z;
      for (int y = -next[1]; y <= next[1]; ++y) {
        if (too_far(1, y)) continue;
        shift[1] = y;
        const bool inside = (D == 2 || magnitude(z) <= done[D - 1]) && magnitude(y) <= done[1];
        for (int x = -next[0]; x <= next[0]; ++x) {
          if ((inside && magnitude(x) <= done[0]) || too_far(0, x)) continue;
          shift[0] = x;
          if (shift == vec<int, D>{} || can_hold_neighbor(shift)) search_.find_in_image(shift);
        }
      }
    }
  }
  [[nodiscard]] static QUADRAT_HD int magnitude(int a) { return a < 0 ? -a : a; }

  [[nodiscard]] QUADRAT_HD T offset(int axis, T translation) const {
    const nearest_bounds<T, D>& all = *images_.bounds;
    return offset_between(low_[axis], high_[axis], all.low[axis], all.high[axis], translation);
  }
  [[nodiscard]] QUADRAT_HD bool too_far(int axis, int count) const {
    if (count == 0 || !images_.shape.orthorhombic) return false;
    const T length = offset(axis, sum_with_product(T(0), static_cast<T>(count), images_.shape.vectors[axis][axis]));
    return !search_.in_reach(sum_with_product(T(0), length, length));
  }
  [[nodiscard]] QUADRAT_HD bool can_hold_neighbor(const vec<int, D>& shift) const {
    const vec<T, D> translation = image_translation(images_.shape, shift);
    return search_.in_reach(
        squared_separation(make_vec<T, D>([&](int axis) { return offset(axis, translation[axis]); })));
  }

  const nearest_images<T, D>& images_;
  vec<T, D> low_, high_;
  Search& search_;
};

}  // namespace quadrat::detail
