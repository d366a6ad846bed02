// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::bench {

/// The radius of grains in the granular model; cells have an edge of two radii. It is a power of two, so that cell
/// faces are exact in floating point.
inline constexpr double grain_radius = 1.0 / 64;

/// A cube of `cells`^3 cells around the origin.
struct cube {
  int cells;

  [[nodiscard]] double half_side() const { return cells * grain_radius; }
  [[nodiscard]] std::size_t size() const {
    const auto n = static_cast<std::size_t>(cells);
    return n * n * n;
  }
  template <typename T>
  [[nodiscard]] grid<T, 3> space() const {
    const auto half = vec<T, 3>::filled(static_cast<T>(half_side()));
    return make_grid(make_box(half * T(-1), half, vec<bool, 3>::filled(false)), vec<int, 3>::filled(cells));
  }
};

/// The paper's cube: 64^3 cells over [-1, 1]^3.
inline constexpr cube paper_cube{64};

/// The cube in which `n` particles have about `occupancy` particles per cell, with a whole number of cells along a
/// side.
[[nodiscard]] inline cube cube_for(std::size_t n, double occupancy) {
  return {static_cast<int>(std::lround(std::cbrt(static_cast<double>(n) / occupancy)))};
}

/// A random word, determined by its arguments.
[[nodiscard]] inline std::uint64_t random_word(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t word = (i + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

/// Uniform in [0, 1).
[[nodiscard]] inline double random_unit(std::uint64_t seed, std::uint64_t i) {
  return static_cast<double>(random_word(seed, i) >> 11) * 0x1p-53;
}

/// n points, uniform in the cube [-half, half]^3, in random order. Each has the `Stride` values of its record; values
/// beyond the third are uniform in [-1, 1).
template <typename T, int Stride = 3>
[[nodiscard]] std::vector<T> random_points(std::size_t n, double half, std::uint64_t seed) {
  std::vector<T> values(n * Stride);
  const auto last = static_cast<std::int64_t>(values.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < last; ++i) {
    const double scale = i % Stride < 3 ? half : 1;
    values[static_cast<std::size_t>(i)] =
        static_cast<T>(scale * (2 * random_unit(seed, static_cast<std::uint64_t>(i)) - 1));
  }
  return values;
}

}  // namespace quadrat::bench
