// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "quadrat/core/vec.hpp"

namespace quadrat::io {

using vec3 = vec<float, 3>;

/// Red, green, blue in linear light, 0 to 1.
using color = vec<float, 3>;

[[nodiscard]] inline color mix(const color& a, const color& b, float t) { return a * (1 - t) + b * t; }

[[nodiscard]] inline float to_linear(float srgb) {
  return srgb <= 0.04045f ? srgb / 12.92f : std::pow((srgb + 0.055f) / 1.055f, 2.4f);
}
[[nodiscard]] inline color from_srgb(float r, float g, float b) { return {to_linear(r), to_linear(g), to_linear(b)}; }

/// The 8-bit sRGB value of a linear one.
[[nodiscard]] std::uint8_t to_srgb8(float linear);

/// The perceptually uniform map "viridis" at t in [0, 1] (clamped).
[[nodiscard]] color viridis(float t);

}  // namespace quadrat::io
