// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/point_checks.hpp"
#include "models/brownian/kernels.hpp"
#include "models/brownian/options.hpp"
#include "models/random.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/models/brownian.hpp"

namespace quadrat {

namespace {

[[nodiscard]] vec<double, 3> random_brownian_place(const brownian_options& options, std::size_t i) {
  return make_vec<double, 3>([&](int axis) { return options.box[axis] * detail::uniform(options.seed, i, axis); });
}

/// A simple cubic lattice. The numbers of sites along the axes are in proportion to the box, and the fewest that hold
/// `count`.
[[nodiscard]] std::vector<vec<double, 3>> brownian_lattice(const brownian_options& options, std::size_t count) {
  const auto wanted = static_cast<double>(count);
  std::array<double, 3> sites{};
  double spacing = std::cbrt(options.box[0] * options.box[1] * options.box[2] / wanted);
  for (;;) {
    double total = 1;
    for (int axis = 0; axis < 3; ++axis) {
      double& along = sites[static_cast<std::size_t>(axis)];
      along = std::fmax(1, std::floor(options.box[axis] / spacing * (1 + 1e-12)));
      total *= along;
    }
    if (total >= wanted) break;
    spacing *= 0.999;
  }
  std::vector<vec<double, 3>> places(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = static_cast<std::size_t>(sites[0]), y = static_cast<std::size_t>(sites[1]);
    const std::array<std::size_t, 3> site{i % x, i / x % y, i / x / y};
    for (int axis = 0; axis < 3; ++axis) {
      const auto k = static_cast<std::size_t>(axis);
      places[i][axis] = (static_cast<double>(site[k]) + 0.5) * options.box[axis] / sites[k];
    }
  }
  return places;
}

[[nodiscard]] std::vector<vec<double, 3>> brownian_chains(const brownian_options& options, std::size_t count,
                                                          std::size_t chain_length) {
  const bool rigid = options.spring_length > 0;
  require(rigid || options.spring > 0, "chains need springs: the constant of the springs is 0, and their length, too");
  const double spread = rigid ? 0 : std::sqrt(options.temperature / options.spring);
  std::vector<vec<double, 3>> places(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % chain_length == 0) {
      places[i] = random_brownian_place(options, i);
      continue;
    }
    // Draws separate from those of steps.
    vec<double, 3> step = detail::brownian_normal<double>(options.seed, ~std::uint64_t{0}, i);
    step = rigid ? step * (options.spring_length / norm(step)) : step * spread;
    places[i] = places[i - 1] + step;
  }
  const auto domain = make_box<double, 3>({}, options.box, vec<bool, 3>::filled(true));
  for (vec<double, 3>& place : places) place = domain.wrap(place);
  return places;
}

}  // namespace

std::vector<vec<double, 3>> brownian_positions(const brownian_options& asked, brownian_start start, std::size_t count,
                                               std::size_t chain_length) {
  // Positions do not depend on bonds, which may not be complete yet.
  brownian_options options = asked;
  options.bonds.clear();
  options = detail::completed(options, count, determinism::none);
  require(chain_length >= 1, "the chains have ", chain_length, " spheres; at least 1 is possible");
  if (count == 0) return {};
  if (start == brownian_start::lattice) return brownian_lattice(options, count);
  if (start == brownian_start::chains) return brownian_chains(options, count, chain_length);
  std::vector<vec<double, 3>> places(count);
  for (std::size_t i = 0; i < count; ++i) places[i] = random_brownian_place(options, i);
  return places;
}

std::vector<brownian_bond> chain_bonds(std::size_t count, std::size_t chain_length) {
  require(chain_length >= 1, "the chains have ", chain_length, " spheres; at least 1 is possible");
  detail::require_count(count, "spheres");
  std::vector<brownian_bond> bonds;
  for (std::size_t i = 1; i < count; ++i) {
    if (i % chain_length != 0) bonds.push_back({static_cast<particle_id>(i - 1), static_cast<particle_id>(i)});
  }
  return bonds;
}

}  // namespace quadrat
