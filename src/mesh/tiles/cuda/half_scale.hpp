// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "mesh/shape.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/mesh/window.hpp"

/// Powers of two that scale factors in half precision, and the numbers they serve: see halves.cuh.
namespace quadrat::detail {

/// The normal number 2^(exponent - 127).
[[nodiscard]] QUADRAT_HD inline float float_of_exponent(int exponent) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(exponent) << 23);
}

/// The scale of a window: its weights were multiplied by 2^exponent, so products over all axes of the mesh by
/// 2^product.
struct half_unit {
  int exponent, product;
  float sum;  ///< no sum of the moduli of scaled weights is larger

  /// The factor for a weight along an axis. Axes beyond the dimension have no weights.
  [[nodiscard]] QUADRAT_HD float along(int axis, const mesh_shape& shape) const {
    return axis < shape.first_axis ? 1.0f : float_of_exponent(127 + exponent);
  }
};

/// Scales a window to weights of at most 4.
[[nodiscard]] inline half_unit scale_half_window(mesh_window<float>& window, const mesh_shape& shape) {
  constexpr int most_exponent = 2;
  double most = 0, total = 0;
  for (int j = 0; j < window.width; ++j) {
    double sum = 0;
    for (int d = 0; d < window.terms; ++d) sum += std::ldexp(std::fabs(window.coefficient[d][j]), -d);
    most = std::max(most, sum);
    total += sum;
  }
  int exponent = 0;
  std::frexp(most, &exponent);
  exponent = std::clamp(exponent - most_exponent, -126, 127);
  for (auto& row : window.coefficient) {
    for (float& coefficient : row) coefficient = std::ldexp(coefficient, -exponent);
  }
  return {exponent, (3 - shape.first_axis) * exponent, static_cast<float>(std::ldexp(total, -exponent))};
}

/// Powers of two. Numbers times `down` are at most 2^15, and the largest is above 1 if the scale `serves`. Products
/// with weights of a scaled window must be multiplied by `up`.
struct half_scale {
  static constexpr int room = 11;

  float down, up;
  int exponent;  ///< 127 for numbers from 1 to 2
  bool serves;   ///< false: the largest number is not finite, or no such powers are normal numbers

  /// `most`: the largest modulus, as an integer. Keeps the exponent `before` for similar numbers, if it is not
  /// negative.
  QUADRAT_HD half_scale(std::uint32_t most, half_unit unit, int before) {
    const int own = static_cast<int>(most >> 23), end = room - unit.product;
    const int least = room > end + 1 ? room : end + 1;
    exponent = own > least ? own : least;
    exponent = exponent < end + 254 ? exponent : end + 254;
    if (before >= 0 && (most == 0 || (own <= before + 3 && own + 4 >= before))) exponent = before;
    down = float_of_exponent(254 + room - exponent);
    up = up_of(exponent, unit);
    serves = most == 0 || (own < 255 && own <= exponent + 3 && own + room >= exponent);
  }
  [[nodiscard]] QUADRAT_HD static float up_of(int exponent, half_unit unit) {
    return float_of_exponent(exponent - room + unit.product);
  }
  [[nodiscard]] QUADRAT_HD static std::uint32_t modulus(float value) {
    return __builtin_bit_cast(std::uint32_t, value) & 0x7fffffffu;
  }
  /// Whether a number keeps all its digits.
  [[nodiscard]] QUADRAT_HD bool fits(std::uint32_t modulus) const {
    constexpr int range = 16;
    return modulus == 0 || static_cast<int>(modulus >> 23) + range >= exponent;
  }
};

/// Whether halves keep the digits of a point's contribution along an axis. Products are rounded to multiples of 2^-24.
/// So a point far beyond an open end, with only its smallest weights on the mesh, is multiplied without halves.
/// `first`: of the footprint; `w`: weights of a scaled window.
[[nodiscard]] QUADRAT_HD inline bool half_weights_serve(const mesh_shape& shape, int axis, int first,
                                                        const float (&w)[8]) {
  constexpr float least = 0.5f;  // half of 2^-24 is then at most 2^-23 of a product of two weights
  if (shape.periodic[axis]) return true;
  float most = 0;
  QUADRAT_UNROLL
  for (int j = 0; j < 8; ++j) {
    if (first + j >= 0 && first + j < shape.extent[axis]) most = std::fmax(most, std::fabs(w[j]));
  }
  return most == 0 || most >= least;
}

/// No result of interpolation of at least this modulus has lost digits. `unfit`: the sum of a point's weights along the
/// first axis, each times the `up` of its plane, over the planes with numbers that do not fit. Those numbers are
/// rounded to multiples of 2^-24, which changes the result by 2^-25 of unfit * unit.sum^2 at most.
[[nodiscard]] QUADRAT_HD inline float least_half_result(float unfit, half_unit unit) {
  constexpr float digits = 0.0625f;  // 2^21 2^-25
  return unfit * (unit.sum * unit.sum) * digits;
}

}  // namespace quadrat::detail
