// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "models/random.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/granular.hpp"

namespace quadrat {

namespace {

using triple = std::array<double, 3>;
using count_triple = std::array<std::size_t, 3>;

/// The region of grain centers: a radius inside the box.
struct free_space {
  triple first;
  triple extent;
};

/// The wanted grains among all `count` grains.
struct wanted_grains {
  std::size_t count, first, number;
};

[[nodiscard]] std::size_t product(const count_triple& sides) { return sides[0] * sides[1] * sides[2]; }

/// Indices of a lattice site, x fastest and z slowest.
[[nodiscard]] count_triple site(std::size_t number, const count_triple& sides) {
  return {number % sides[0], number / sides[0] % sides[1], number / (sides[0] * sides[1])};
}

[[nodiscard]] free_space space_for_grains(double radius, const triple& lower, const triple& upper) {
  free_space space{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double length = upper[axis] - lower[axis];
    require(length >= 2 * radius * (1 - 1e-12) && std::isfinite(length), "the box is ", length, " long along axis ",
            axis, "; a grain of radius ", radius, " does not fit");
    space.first[axis] = lower[axis] + radius;
    space.extent[axis] = std::max(length - 2 * radius, 0.0);
  }
  return space;
}

/// The smallest integer whose cube is at least the count.
[[nodiscard]] std::size_t cube_root_up(std::size_t count) {
  auto root = static_cast<std::size_t>(std::cbrt(static_cast<double>(count)));
  while (root > 0 && root * root * root >= count) --root;
  while (root * root * root < count) ++root;
  return root;
}

/// A cube of side ceil(count^(1/3)) if it fits; otherwise rows and layers as long as the box allows.
[[nodiscard]] count_triple lattice_sides(std::size_t count, double radius, const free_space& space) {
  const std::size_t cube = cube_root_up(count);
  count_triple fitting{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    // A box of exactly n grains must not lose one to rounding.
    const double number = 1 + space.extent[axis] / (2 * radius) * (1 + 1e-12);
    fitting[axis] = static_cast<std::size_t>(std::min(number, 2e6));
  }
  require(product(fitting) >= count, "the box cannot hold a lattice of ", count, " grains of radius ", radius,
          "; it holds ", fitting[0], " x ", fitting[1], " x ", fitting[2], " = ", product(fitting));
  if (cube <= *std::min_element(fitting.begin(), fitting.end())) return {cube, cube, cube};
  return fitting;
}

/// A lattice of at least `count` sites with cells as nearly cubic as integers allow.
[[nodiscard]] count_triple even_sides(std::size_t count, const triple& extent) {
  const double volume = extent[0] * extent[1] * extent[2];
  for (double spacing = std::cbrt(volume / static_cast<double>(count));; spacing *= 0.999) {
    count_triple sides{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      sides[axis] = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(extent[axis] / spacing)));
    }
    if (product(sides) >= count) return sides;
  }
}

[[nodiscard]] std::vector<vec<double, 3>> on_lattice(const wanted_grains& wanted, double radius,
                                                     const free_space& space) {
  const count_triple sides = lattice_sides(wanted.count, radius, space);
  std::vector<vec<double, 3>> points(wanted.number);
  for (std::size_t i = 0; i < wanted.number; ++i) {
    const count_triple at = site(wanted.first + i, sides);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      points[i][static_cast<int>(axis)] = space.first[axis] + 2 * radius * static_cast<double>(at[axis]);
    }
  }
  return points;
}

/// Evenly over x < middle of the box. Grains overlap if there are too many.
[[nodiscard]] std::vector<vec<double, 3>> left_half(const wanted_grains& wanted, double radius,
                                                    const free_space& space) {
  triple extent = space.extent;
  extent[0] = (space.extent[0] + 2 * radius) / 2 - radius;
  for (double& length : extent) length = std::max(length, 1e-3 * radius);
  const count_triple sides = even_sides(wanted.count, extent);
  const std::size_t sites = product(sides);
  std::vector<vec<double, 3>> points(wanted.number);
  for (std::size_t i = 0; i < wanted.number; ++i) {
    // Empty sites are spread over the whole half.
    const count_triple at = site((wanted.first + i) * sites / wanted.count, sides);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double fraction = (static_cast<double>(at[axis]) + 0.5) / static_cast<double>(sides[axis]);
      points[i][static_cast<int>(axis)] = space.first[axis] + extent[axis] * fraction;
    }
  }
  return points;
}

[[nodiscard]] std::vector<vec<double, 3>> uniform_random(const wanted_grains& wanted, const free_space& space,
                                                         std::uint64_t seed) {
  std::vector<vec<double, 3>> points(wanted.number);
  for (std::size_t i = 0; i < wanted.number; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const int a = static_cast<int>(axis);
      points[i][a] = space.first[axis] + space.extent[axis] * detail::uniform(seed, wanted.first + i, a);
    }
  }
  return points;
}

}  // namespace

std::vector<vec<double, 3>> granular_initial_positions(granular_start start, std::size_t count, double radius,
                                                       const triple& lower, const triple& upper, double jitter,
                                                       std::uint64_t seed, std::size_t first, std::size_t number) {
  require(radius > 0 && std::isfinite(radius), "the radius is ", radius, "; it must be positive and finite");
  require(jitter >= 0 && std::isfinite(jitter), "the jitter is ", jitter, "; it must be finite and not negative");
  require(count <= max_count, "the number of grains is ", count, "; at most ", max_count, " are possible");
  const free_space space = space_for_grains(radius, lower, upper);
  if (count == 0) return {};
  first = std::min(first, count);
  const wanted_grains wanted{count, first, std::min(number, count - first)};
  if (start == granular_start::uniform_random) return uniform_random(wanted, space, seed);

  auto points = start == granular_start::lattice ? on_lattice(wanted, radius, space) : left_half(wanted, radius, space);
  for (std::size_t i = 0; i < wanted.number; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const int a = static_cast<int>(axis);
      const double moved = points[i][a] + radius * jitter * (2 * detail::uniform(seed, first + i, a) - 1);
      points[i][a] = std::clamp(moved, lower[axis], upper[axis]);
    }
  }
  return points;
}

}  // namespace quadrat
