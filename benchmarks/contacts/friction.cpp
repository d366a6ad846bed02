// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "contacts/operations.hpp"
#include "harness/points.hpp"
#include "harness/stopwatch.hpp"
#include "quadrat/models/granular_friction.hpp"

namespace quadrat::bench {

namespace {

/// Grains of 1 mm, plus or minus a tenth, in a box that is twice as high as wide. They are placed loosely, and fall
/// into contact. If `mixed`, they are of three materials, and radii go from a third of the largest.
struct poured_grains {
  poured_grains(std::size_t n, bool mixed) {
    constexpr double spacing = 2.3e-3;
    const auto across = static_cast<std::size_t>(std::lround(std::cbrt(static_cast<double>(n) / 2)));
    const double side = spacing * static_cast<double>(across);
    for (std::size_t i = 0; i < n; ++i) {
      const std::array<std::size_t, 3> cell{i % across, i / (across * across), i / across % across};
      vec<double, 3> position{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double jitter = 0.05 * (random_unit(31, 3 * i + axis) - 0.5);
        position[static_cast<int>(axis)] = spacing * (static_cast<double>(cell[axis]) + 0.5 + jitter);
      }
      positions.push_back(position);
      const double share = random_unit(32, i);
      radii.push_back(1e-3 * (mixed ? 1.1 * (1 + 2 * share) / 3 : 0.9 + 0.2 * share));
      if (mixed) materials.push_back(static_cast<std::uint32_t>(3 * random_unit(33, i)));
    }
    options.material.young_modulus = 1e7;
    options.material.restitution = 0.3;
    options.material.rolling_friction = 0.02;
    options.upper = {side, 2.2 * side, side};
    options.lower = {0, 0, 0};
    options.walls = walls_of_box(options.lower, {side, 4 * side, side});
    if (mixed) {
      options.further_materials.assign(2, options.material);
      options.further_materials[0].density = 7800;
      options.further_materials[1].friction = 0.2;
    }
    options.time_step = 0.25 * longest_granular_time_step(options, mixed ? 1.1e-3 / 3 : 0.9e-3);
  }

  granular_friction_options options;
  std::vector<double> radii;
  std::vector<vec<double, 3>> positions;
  std::vector<std::uint32_t> materials;  ///< none: one material
};

/// Runs until the grains are at rest.
template <typename Context, typename T>
void let_settle(granular_friction<Context, T>& grains, std::size_t most_steps) {
  constexpr std::size_t batch = 1000;
  for (std::size_t step = 0; step < most_steps; step += batch) {
    grains.advance(batch);
    const granular_friction_statistics now = grains.measure();
    if (now.contacts_per_particle > 4 && now.max_speed < 0.005) return;
  }
}

template <typename T, typename Context>
void time_friction(const session& s, const Context& context, std::size_t n, bool mixed = false) {
  row identity = identify("friction", "neighbor_list", std::is_same_v<T, float> ? "float" : "double", n, 0,
                          mixed ? "three_materials" : "settled");
  identity.erase("cells");
  s.attempt(identity, [&](row& out) {
    const poured_grains poured(n, mixed);
    granular_friction<Context, T> grains(context, poured.options, poured.radii, poured.positions, {}, {},
                                         poured.materials);
    // Time steps follow the smallest grains.
    let_settle(grains, s.full() ? (mixed ? 180'000 : 60'000) : 1000);
    constexpr std::size_t batch = 200;
    stopwatch<Context> watch(context);
    const std::uint64_t rebuilds = grains.measure().rebuilds;
    const std::uint64_t first_step = grains.step();
    const timing measured = repeat(s.plan(), [&] {
      watch.start();
      grains.advance(batch);
      return watch.stop_ms() / batch;
    });
    const granular_friction_statistics now = grains.measure();
    out["contacts_per_particle"] = now.contacts_per_particle;
    out["largest_overlap"] = now.largest_overlap;
    out["max_speed"] = now.max_speed;
    out["rebuilds"] = now.rebuilds - rebuilds;
    out["steps"] = grains.step() - first_step;
    add_timing(out, measured, "updates_per_s", static_cast<double>(n));
    out["bytes"] = grains.bytes();
  });
}

}  // namespace

void run_friction(const session& s) {
  with_context(s, [&](const auto& context) {
    if (!s.full()) {
      time_friction<float>(s, context, 1000);
      time_friction<float>(s, context, 1000, true);
    } else if (s.on_cuda()) {
      time_friction<float>(s, context, std::size_t{1} << 20);
      time_friction<double>(s, context, std::size_t{1} << 20);
      time_friction<float>(s, context, std::size_t{1} << 20, true);
    } else {
      time_friction<double>(s, context, 8192);
    }
  });
}

}  // namespace quadrat::bench
