// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/vec.hpp"
#include "support/random.hpp"

namespace quadrat::test {

/// Points in a grid, with a cutoff that fits the box.
template <typename T, int D>
struct scene {
  grid<T, D> space;
  T cutoff;
  std::vector<vec<T, D>> points;
};

/// Makes scenes sensitive to rounding: points on faces of cells and boxes or one floating-point number away, a cutoff
/// apart, all in one place, wrapped; 1 to 12 cells along an axis; a cutoff equal to the edge or to half the box.
template <typename T, int D>
class scene_maker {
 public:
  explicit scene_maker(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}

  [[nodiscard]] scene<T, D> make() {
    scene<T, D> result{};
    result.space = make_space();
    const std::size_t kind = below(8);
    result.cutoff = make_cutoff(result.space, kind == 7 ? 0 : below(5));
    const std::size_t count = make_count();
    result.points = kind == 7 ? make_line(result.space, result.cutoff, count)
                              : make_points(result.space, result.cutoff, count, kind);
    return result;
  }

  /// Many points on a line, where rounding decides which are neighbors and which cells hold them.
  [[nodiscard]] scene<T, D> make_line_scene(std::size_t count) {
    scene<T, D> result{};
    result.space = make_space();
    result.cutoff = make_cutoff(result.space, 0);
    result.points = make_line(result.space, result.cutoff, count);
    return result;
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t bound) { return random_() % bound; }
  [[nodiscard]] bool one_in(std::size_t bound) { return below(bound) == 0; }
  [[nodiscard]] T between(T low, T high) { return low + (high - low) * random_unit<T>(random_); }

  [[nodiscard]] grid<T, D> make_space() {
    const std::size_t walls = below(4);
    // Powers of two, with all faces representable, or any numbers.
    const bool exact = one_in(2);
    const bool cubic = one_in(2);
    vec<T, D> lower{}, upper{};
    vec<bool, D> periodic{};
    vec<int, D> cells{};
    T edge = T(1);
    for (int axis = 0; axis < D; ++axis) {
      if (axis == 0 || !cubic) edge = exact ? std::ldexp(T(1), static_cast<int>(below(6)) - 4) : between(T(0.3), T(3));
      cells[axis] = static_cast<int>(1 + below(one_in(8) ? 12 : 5));
      const T length = edge * static_cast<T>(cells[axis]);
      lower[axis] = exact ? edge * static_cast<T>(static_cast<int>(below(9)) - 4) : between(-length, length);
      if (one_in(8)) lower[axis] += exact ? T(64) : T(100);
      upper[axis] = lower[axis] + length;
      periodic[axis] = walls == 0 || (walls > 1 && one_in(2));
    }
    return make_grid(make_box(lower, upper, periodic), cells);
  }

  [[nodiscard]] T make_cutoff(const grid<T, D>& space, std::size_t kind) {
    T edge = space.edge(0);
    T half = std::numeric_limits<T>::max();
    for (int axis = 0; axis < D; ++axis) {
      edge = std::min(edge, space.edge(axis));
      if (space.domain.periodic[axis]) half = std::min(half, space.domain.length[axis] / 2);
    }
    switch (kind) {
      case 0:
      case 1:
        return std::min(half, edge);
      case 2:
        return std::min(half, edge * between(T(0.1), T(1)));
      case 3:
        return std::min(half, edge * between(T(1), T(2.5)));
      default:
        return half < std::numeric_limits<T>::max() ? half : edge / 2;
    }
  }

  [[nodiscard]] std::size_t make_count() {
    if (one_in(40)) return 0;
    if (one_in(30)) return 1;
    return one_in(50) ? 300 : 2 + below(50);
  }

  /// A coordinate on a face of a cell, or one floating-point number away.
  [[nodiscard]] T near_face(const grid<T, D>& space, int axis) {
    const auto face = static_cast<T>(below(static_cast<std::size_t>(space.cells[axis]) + 1));
    return nudged(space.domain.lower[axis] + face * space.edge(axis));
  }
  [[nodiscard]] T nudged(T x) {
    const std::size_t way = below(4);
    if (way == 0) return std::nextafter(x, std::numeric_limits<T>::max());
    return way == 1 ? std::nextafter(x, std::numeric_limits<T>::lowest()) : x;
  }

  /// Points on a line, a cutoff apart to within the rounding of the box, on faces or half a cutoff away, also with
  /// faces shifted by the grid's slack.
  [[nodiscard]] std::vector<vec<T, D>> make_line(const grid<T, D>& space, T cutoff, std::size_t count) {
    const auto along = static_cast<int>(below(D));
    const vec<T, D> start =
        make_vec<T, D>([&](int axis) { return between(space.domain.lower[axis], space.domain.upper(axis)); });
    const T rounding = 2 * std::numeric_limits<T>::epsilon() * space.domain.length[along];
    const std::size_t halves = 2 * static_cast<std::size_t>(space.cells[along]) + 1;
    std::vector<vec<T, D>> points(count, start);
    for (vec<T, D>& point : points) {
      T face = space.domain.lower[along] + (cutoff / 2) * static_cast<T>(below(halves));
      if (one_in(2)) face += space.slack[along] * static_cast<T>(static_cast<int>(below(3)) - 1);
      point[along] = placed(space.domain, face + rounding * between(T(-1), T(1)), along, false);
    }
    return points;
  }

  [[nodiscard]] std::vector<vec<T, D>> make_points(const grid<T, D>& space, T cutoff, std::size_t count,
                                                   std::size_t kind) {
    const bool images = one_in(4);
    const auto anywhere = [&](int axis) { return between(space.domain.lower[axis], space.domain.upper(axis)); };
    const vec<T, D> middle = make_vec<T, D>(anywhere);
    std::vector<vec<T, D>> points(count);
    for (vec<T, D>& point : points) {
      for (int axis = 0; axis < D; ++axis) {
        T x = anywhere(axis);
        if (kind == 1) x = middle[axis] + cutoff * between(T(-1), T(1));
        if (kind == 2 || (kind == 3 && one_in(2))) x = near_face(space, axis);
        if (kind == 4) x = nudged(middle[axis] + cutoff * static_cast<T>(static_cast<int>(below(5)) - 2));
        if (kind == 5) x = middle[axis];
        if (kind == 6) x = nudged(space.domain.lower[axis] + (cutoff / 2) * static_cast<T>(below(12)));
        point[axis] = placed(space.domain, x, axis, images);
      }
    }
    return points;
  }

  /// Clamped to an open axis; along a periodic one possibly in another image.
  [[nodiscard]] T placed(const box<T, D>& domain, T x, int axis, bool images) {
    if (!domain.periodic[axis]) return std::clamp(x, domain.lower[axis], domain.upper(axis));
    return images ? x + domain.length[axis] * static_cast<T>(static_cast<int>(below(5)) - 2) : x;
  }

  std::mt19937_64 random_;
};

/// The grid with just enough cells removed that no edge is below the cutoff.
template <typename T, int D>
[[nodiscard]] grid<T, D> coarsened(const grid<T, D>& space, T cutoff) {
  vec<int, D> cells = space.cells;
  for (int axis = 0; axis < D; ++axis) {
    while (cells[axis] > 1 && make_grid(space.domain, cells).edge(axis) < cutoff) --cells[axis];
  }
  return make_grid(space.domain, cells);
}

template <typename T, int D>
[[nodiscard]] std::string describe(const scene<T, D>& it) {
  std::string text = message(D, "D, ", it.points.size(), " points, cutoff ", it.cutoff, ", axes:");
  for (int axis = 0; axis < D; ++axis) {
    text += message(" [", it.space.domain.lower[axis], " + ", it.space.domain.length[axis], ", ", it.space.cells[axis],
                    it.space.domain.periodic[axis] ? " cells, periodic]" : " cells, open]");
  }
  return text;
}

}  // namespace quadrat::test
