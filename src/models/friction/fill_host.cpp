// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "models/random.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/granular_friction.hpp"

namespace quadrat {

namespace {

/// Random numbers of a grain: axes 0 to 2 are for its position, this is for its radius.
constexpr int radius_draw = 3;

[[nodiscard]] double lattice_spacing(const granular_fill& fill) { return 2 * fill.largest_radius * (1 + fill.jitter); }

[[nodiscard]] std::array<std::size_t, 3> lattice_sides(const granular_fill& fill) {
  std::array<std::size_t, 3> sides{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double number = (fill.upper[axis] - fill.lower[axis]) / lattice_spacing(fill);
    // A region of exactly n grains must not lose one to rounding. NaN gives 0.
    sides[axis] = number > 0 ? static_cast<std::size_t>(std::min(number * (1 + 1e-12), 1e6)) : 0;
  }
  return sides;
}

/// From numbers of another seed, since a grain has four of each.
[[nodiscard]] std::uint32_t drawn_material(const granular_fill& fill, std::size_t grain) {
  const double share = detail::uniform(~fill.seed, grain, 0);
  return fill.materials[static_cast<std::size_t>(share * static_cast<double>(fill.materials.size()))];
}

}  // namespace

std::size_t room_of(const granular_fill& fill) {
  const auto sides = lattice_sides(fill);
  return sides[0] * sides[1] * sides[2];
}

granular_filling filled_region(const granular_fill& fill) {
  require(fill.smallest_radius > 0 && fill.smallest_radius <= fill.largest_radius && std::isfinite(fill.largest_radius),
          "radii go from ", fill.smallest_radius, " to ", fill.largest_radius,
          "; they must be positive, finite and in order");
  for (std::size_t axis = 0; axis < 3; ++axis) {
    require(std::isfinite(fill.lower[axis]) && std::isfinite(fill.upper[axis]), "the region goes from ",
            fill.lower[axis], " to ", fill.upper[axis], " along ", "xyz"[axis], "; its corners must be finite");
  }
  require(fill.jitter >= 0 && std::isfinite(fill.jitter), "the jitter is ", fill.jitter,
          "; it must be finite and not negative");
  require(fill.count <= room_of(fill), "the region holds ", room_of(fill), " grains of radius ", fill.largest_radius,
          ", not ", fill.count);
  std::size_t vertical = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (std::fabs(fill.down[axis]) > std::fabs(fill.down[vertical])) vertical = axis;
  }
  const std::size_t order[] = {(vertical + 1) % 3, (vertical + 2) % 3, vertical};
  const auto sides = lattice_sides(fill);
  granular_filling result;
  for (std::size_t i = 0; i < fill.count; ++i) {
    std::size_t rest = i;
    vec<double, 3> position{};
    for (const std::size_t axis : order) {
      const int a = static_cast<int>(axis);
      double number = static_cast<double>(rest % sides[axis]);
      rest /= sides[axis];
      if (axis == vertical && fill.down[axis] > 0) number = static_cast<double>(sides[axis]) - 1 - number;
      const double shift = fill.jitter * fill.largest_radius * (2 * detail::uniform(fill.seed, i, a) - 1);
      position[a] = fill.lower[axis] + lattice_spacing(fill) * (number + 0.5) + shift;
    }
    result.positions.push_back(position);
    if (!fill.materials.empty()) result.materials.push_back(drawn_material(fill, i));
    const double share = detail::uniform(fill.seed, i, radius_draw);
    result.radii.push_back(fill.smallest_radius + (fill.largest_radius - fill.smallest_radius) * share);
  }
  return result;
}

}  // namespace quadrat
