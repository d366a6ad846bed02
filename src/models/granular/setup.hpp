// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "core/automatic.hpp"
#include "core/finite.hpp"
#include "core/point_checks.hpp"
#include "models/granular/engine.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/granular.hpp"

/// Checks the options of a simulation and converts them to the constants of its engine.
namespace quadrat::detail {

[[nodiscard]] inline vec<double, 3> as_triple(const std::array<double, 3>& a) { return {a[0], a[1], a[2]}; }

[[nodiscard]] inline box<double, 3> box_of_grains(const granular_options& options) {
  return make_box(as_triple(options.lower), as_triple(options.upper), vec<bool, 3>::filled(false));
}

/// The options with defaults filled in. Throws argument_error for impossible options.
template <typename Context>
[[nodiscard]] granular_options completed_options(const Context& context, granular_options options) {
  check(options.parameters);
  const double diameter = 2 * options.parameters.radius;
  const box<double, 3> domain = box_of_grains(options);
  // A box of exactly n grains must get n cells although the division may round down.
  const auto finest = make_grid_for_cutoff(domain, diameter * (1 - 1e-12), any_number_of_cells).cells;
  if (!options.cells) options.cells = {finest[0], finest[1], finest[2]};
  for (int axis = 0; axis < 3; ++axis) {
    const int cells = (*options.cells)[static_cast<std::size_t>(axis)];
    require(domain.length[axis] >= diameter * (1 - 1e-12), "the box is ", domain.length[axis], " long along axis ",
            axis, "; a grain of radius ", options.parameters.radius, " does not fit");
    require(cells <= 1 || domain.length[axis] / cells >= diameter * (1 - 1e-12), "there are ", cells,
            " cells along axis ", axis, ", which are smaller than a grain; at most ", finest[axis], " are possible");
  }
  require(options.capacity <= max_count, "the capacity of a cell is ", options.capacity, "; at most ", max_count,
          " is possible");
  if (is_automatic(options.method)) options.method = granular_default_method(context);
  return options;
}

template <typename T>
[[nodiscard]] granular_motion<T> make_granular_motion(const granular_options& options) {
  const granular_parameters& p = options.parameters;
  granular_motion<T> motion{};
  motion.time_step = static_cast<T>(p.time_step);
  motion.global_damping = static_cast<T>(p.global_damping);
  motion.restitution = static_cast<T>(p.wall_restitution);
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    motion.velocity_gain[axis] = static_cast<T>(p.gravity[a] * p.time_step);
    motion.lowest[axis] = static_cast<T>(options.lower[a] + p.radius);
    motion.highest[axis] = static_cast<T>(options.upper[a] - p.radius);
    motion.longest_move[axis] = static_cast<T>(std::fmax((options.upper[a] - options.lower[a]) / 2, 4 * p.radius));
  }
  return motion;
}

template <typename T>
[[nodiscard]] granular_law<T> make_granular_law(const granular_parameters& p) {
  const T diameter = static_cast<T>(2 * p.radius);
  return {diameter,
          diameter * diameter,
          static_cast<T>(p.spring),
          static_cast<T>(p.shear),
          static_cast<T>(p.damping + p.shear),
          static_cast<T>(p.attraction)};
}

template <typename T>
[[nodiscard]] granular_setup<T> make_granular_setup(const granular_options& options, std::size_t count) {
  const granular_parameters& p = options.parameters;
  const auto& cells = *options.cells;
  const auto domain =
      make_box(cast<T>(as_triple(options.lower)), cast<T>(as_triple(options.upper)), vec<bool, 3>::filled(false));
  granular_setup<T> setup{};
  // No finer than rounding allows.
  setup.space = make_grid(domain, make_vec<int, 3>([&](int axis) {
                            const double most = std::fmax(most_distinct_cells(domain, axis), 1.0);
                            return static_cast<int>(std::fmin(cells[static_cast<std::size_t>(axis)], most));
                          }),
                          any_number_of_cells);
  setup.radius = static_cast<T>(p.radius);
  setup.motion = make_granular_motion<T>(options);
  setup.law = make_granular_law<T>(p);
  if (p.collider) {
    setup.obstacle = {cast<T>(as_triple(p.collider->center)), static_cast<T>(p.collider->radius + p.radius)};
  }
  setup.count = count;
  setup.capacity = static_cast<std::uint32_t>(options.capacity);
  return setup;
}

/// Throws data_error for the first grain with an invalid position or velocity. `first`: the id of the first one.
template <typename T>
void check_grains(const box<T, 3>& domain, std::span<const vec<T, 3>> positions, std::span<const vec<T, 3>> velocities,
                  std::size_t first = 0) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const bool inside = domain.contains(positions[i]);
    if (inside && (velocities.empty() || is_finite(velocities[i]))) continue;
    const vec<T, 3>& shown = inside ? velocities[i] : positions[i];
    throw data_error(
        message(inside ? "the velocity of grain " : "the position of grain ", first + i, " is ", vector_text(shown),
                is_finite(shown) ? ", which is outside the box" : ", which is not finite"),
        first + i);
  }
}

/// Grains in the precision of the run, at rest unless velocities are given.
template <typename T>
[[nodiscard]] granular_state<T> first_grains(const box<T, 3>& domain, std::span<const vec<double, 3>> positions,
                                             std::span<const vec<double, 3>> velocities) {
  granular_state<T> state;
  state.positions.resize(positions.size());
  state.velocities.resize(positions.size(), vec<T, 3>{});
  for (std::size_t i = 0; i < positions.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      // Rounding must not push a grain out of the box.
      const T x = static_cast<T>(positions[i][axis]);
      state.positions[i][axis] = std::fmin(std::fmax(x, domain.lower[axis]), domain.upper(axis));
      if (!velocities.empty()) state.velocities[i][axis] = static_cast<T>(velocities[i][axis]);
    }
  }
  return state;
}

}  // namespace quadrat::detail
