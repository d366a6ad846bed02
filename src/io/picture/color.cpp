// SPDX-License-Identifier: BSD-3-Clause
#include "io/picture/color.hpp"

#include <algorithm>
#include <array>

namespace quadrat::io {
namespace {

/// Fine enough that no 8-bit value is skipped; the narrowest step between two is 1/3300.
constexpr std::size_t table_size = 1 << 14;

std::array<std::uint8_t, table_size + 1> srgb_table() {
  std::array<std::uint8_t, table_size + 1> table{};
  for (std::size_t i = 0; i <= table_size; ++i) {
    const float x = static_cast<float>(i) / table_size;
    const float srgb = x <= 0.0031308f ? 12.92f * x : 1.055f * std::pow(x, 1 / 2.4f) - 0.055f;
    table[i] = static_cast<std::uint8_t>(srgb * 255 + 0.5f);
  }
  return table;
}

}  // namespace

std::uint8_t to_srgb8(float linear) {
  static const auto table = srgb_table();
  const float x = linear > 0 ? std::min(linear, 1.0f) : 0.0f;
  return table[static_cast<std::size_t>(x * table_size + 0.5f)];
}

color viridis(float t) {
  // Polynomials of degree six in t, fitted to the sRGB values of matplotlib's table; off by less than 1 %.
  constexpr vec3 c[] = {{0.2777273f, 0.0054073f, 0.3340998f},   {0.1050930f, 1.4046135f, 1.3845902f},
                        {-0.3308618f, 0.2148476f, 0.0950952f},  {-4.6342305f, -5.7991010f, -19.3324410f},
                        {6.2282699f, 14.1799334f, 56.6905526f}, {4.7763850f, -13.7451454f, -65.3530326f},
                        {-5.4354559f, 4.6458526f, 26.3124352f}};
  t = std::clamp(t, 0.0f, 1.0f);
  vec3 srgb = c[6];
  for (int power = 5; power >= 0; --power) srgb = c[power] + t * srgb;
  const auto channel = [&](int i) { return std::clamp(srgb[i], 0.0f, 1.0f); };
  return from_srgb(channel(0), channel(1), channel(2));
}

}  // namespace quadrat::io
