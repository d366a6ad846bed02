// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "models/arithmetic.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/models/circles.hpp"

/// The equations of the model, shared by all orders and cell lists.
namespace quadrat::detail {

/// The sum over the neighbors of an agent.
template <typename T, int D>
struct circles_sum {
  vec<T, D> pull{};
  std::uint32_t met = 0;  ///< agents within the reach, itself included
};

/// The sine form. sin(2 pi d / R) e = (r / R) g(s) with r = x_j - x_i, s = d^2 / R^2 and g(s) = sin(2 pi sqrt s) / sqrt
/// s, which is a power series in s: a polynomial replaces a root, a division and a sine, d = 0 is no special case, and
/// the agent itself adds nothing. The measured error is 1e-7 (float) and 1e-15 (double) of the largest force.
template <typename T, int D>
struct circles_sine_law {
  using sum_type = circles_sum<T, D>;
  static constexpr int degree = std::is_same_v<T, float> ? 8 : 16;

  T reach;
  T squared_reach;
  T scale;  ///< 2 / R^2: t = scale d^2 - 1 runs from -1 to 1
  /// Coefficients of -k g(s) / R in powers of t.
  T coefficient[degree + 1];

  /// Adds an agent at r = x_j - x_i, if it counts. Branch-free: in a warp, some agent is nearly always within the
  /// reach.
  QUADRAT_HD void meet(const vec<T, D>& r, T squared_distance, circles_sum<T, D>& sum, bool counts = true) const {
    const bool near = counts && squared_distance < squared_reach;
    const T t = multiply_add(squared_distance, scale, T(-1));
    T value = coefficient[degree];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int k = degree - 1; k >= 0; --k) value = multiply_add(value, t, coefficient[k]);
    const T weight = near ? value : T(0);
    for (int axis = 0; axis < D; ++axis) sum.pull[axis] = multiply_add(weight, r[axis], sum.pull[axis]);
    sum.met += near ? 1u : 0u;
  }

  [[nodiscard]] QUADRAT_HD vec<T, D> moved(const vec<T, D>& position, const circles_sum<T, D>& sum) const {
    const std::uint32_t others = sum.met > 1 ? sum.met - 1 : 1;
    const T share = T(1) / static_cast<T>(others);
    vec<T, D> result{};
    for (int axis = 0; axis < D; ++axis) result[axis] = multiply_add(share, sum.pull[axis], position[axis]);
    return result;
  }
};

/// The original form: d e = r, (2r - d) e = (2r / d - 1) r.
template <typename T, int D>
struct circles_original_law {
  using sum_type = circles_sum<T, D>;

  T reach;
  T squared_reach;
  T squared_inner;  ///< r^2
  T repulsion;
  T attraction;
  vec<T, D> lowest;
  vec<T, D> highest;

  QUADRAT_HD void meet(const vec<T, D>& r, T squared_distance, circles_sum<T, D>& sum, bool counts = true) const {
    if (!(counts && squared_distance < squared_reach)) return;
    // Outside the inner circle, the distance is not near 0.
    const T outer = attraction * multiply_add(reach, inverse_root(squared_distance), T(-1));
    const T weight = squared_distance < squared_inner ? -repulsion : outer;
    for (int axis = 0; axis < D; ++axis) sum.pull[axis] = multiply_add(weight, r[axis], sum.pull[axis]);
    ++sum.met;
  }

  [[nodiscard]] QUADRAT_HD vec<T, D> moved(const vec<T, D>& position, const circles_sum<T, D>& sum) const {
    vec<T, D> result{};
    for (int axis = 0; axis < D; ++axis) {
      const T x = position[axis] + sum.pull[axis];
      result[axis] = x > highest[axis] ? highest[axis] : (x < lowest[axis] ? lowest[axis] : x);
    }
    return result;
  }
};

/// The law in the precision of a run.
template <typename T, int D>
[[nodiscard]] circles_sine_law<T, D> make_sine_law(const circles_parameters& parameters);
template <typename T, int D>
[[nodiscard]] circles_original_law<T, D> make_original_law(const circles_parameters& parameters,
                                                           const box<T, D>& domain);

/// An agent: as wide as four coordinates, also in 2D, so that one load (two in double) reads it.
template <typename T, int D>
struct alignas(4 * sizeof(T)) agent_record {
  vec<T, D> position;
  particle_id id;
};

}  // namespace quadrat::detail
