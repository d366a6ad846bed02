// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/fault.hpp"
#include "spectral/targets.hpp"

/// The kernels of transforms to targets, per point and per target.
namespace quadrat::detail {

/// The least and greatest coordinates of points, and the first point that is not finite.
template <typename T, int D>
struct point_extents {
  vec<T, D> low, high;
  std::uint64_t broken;

  /// The extents of no points.
  [[nodiscard]] static point_extents none() {
    constexpr T most = std::numeric_limits<T>::max();
    return {vec<T, D>::filled(most), vec<T, D>::filled(-most), ~std::uint64_t{0}};
  }
  [[nodiscard]] interval along(int axis) const {
    if (low[axis] > high[axis]) return {0, 0};
    return {static_cast<double>(low[axis]), static_cast<double>(high[axis])};
  }
};

template <typename T, int D>
struct extents_of_point {
  points_view<T, D> points;

  QUADRAT_HD point_extents<T, D> operator()(std::size_t i) const {
    point_extents<T, D> result{};
    result.broken = ~std::uint64_t{0};
    for (int d = 0; d < D; ++d) {
      const T x = points.component[d][i * points.stride];
      if (!(x - x == T(0))) result.broken = i;
      result.low[d] = result.high[d] = x;
    }
    return result;
  }
};

struct join_extents {
  template <typename T, int D>
  QUADRAT_HD point_extents<T, D> operator()(const point_extents<T, D>& a, const point_extents<T, D>& b) const {
    point_extents<T, D> result = a;
    for (int d = 0; d < D; ++d) {
      if (b.low[d] < a.low[d]) result.low[d] = b.low[d];
      if (b.high[d] > a.high[d]) result.high[d] = b.high[d];
    }
    if (b.broken < a.broken) result.broken = b.broken;
    return result;
  }
};

/// Index: point. exp(i s . x), for s the middle of the box. s is kept as lower end and half length, because their
/// rounded sum may be off by more than a mesh unit of the box.
template <typename T, int D>
struct turn_point {
  points_view<T, D> points;
  vec<double, D> lower, half;
  T* turns;

  QUADRAT_HD void operator()(std::size_t i) const {
    double angle = 0;
    for (int d = 0; d < D; ++d) {
      const auto x = static_cast<double>(points.component[d][i * points.stride]);
      angle += lower[d] * x + half[d] * x;
    }
    turns[2 * i] = static_cast<T>(std::cos(angle));
    turns[2 * i + 1] = static_cast<T>(std::sin(angle));
  }
};

/// Index: target. exp(i (s - the middle of the box) . middle of the mesh), divided by the transforms of the window.
template <typename T, int D>
struct turn_target {
  points_view<T, D> targets;
  vec<double, D> lower, half, middle, spacing;
  inverse_transform inverse;
  T* turns;
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t i) const {
    constexpr double rounding = 1e-6;
    double angle = 0, factor = 1;
    for (int d = 0; d < D; ++d) {
      const double s = (static_cast<double>(targets.component[d][i * targets.stride]) - lower[d]) - half[d];
      const double frequency = s * spacing[d] * (0.5 / std::numbers::pi);
      if (!(std::fabs(frequency) <= inverse.most * (1 + rounding))) faults.raise(fault_kind::value_range, i);
      angle += s * middle[d];
      factor *= inverse(frequency);
    }
    turns[2 * i] = static_cast<T>(factor * std::cos(angle));
    turns[2 * i + 1] = static_cast<T>(factor * std::sin(angle));
  }
};

/// Index: point or target. to[i] = from[i] turns[i], or its conjugate.
template <typename T>
struct multiply_turns {
  const T* from;
  const T* turns;
  T* to;
  T sign;

  QUADRAT_HD void operator()(std::size_t i) const {
    const T re = turns[2 * i], im = sign * turns[2 * i + 1];
    const T a = from[2 * i], b = from[2 * i + 1];
    to[2 * i] = a * re - b * im;
    to[2 * i + 1] = a * im + b * re;
  }
};

}  // namespace quadrat::detail
