// SPDX-License-Identifier: BSD-3-Clause
#include "models/srd/options.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <type_traits>

#include "core/finite.hpp"
#include "core/point_checks.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

constexpr const char* axis_names[3] = {"x", "y", "z"};

[[nodiscard]] bool is_positive(double value) { return value > 0 && std::isfinite(value); }

template <int D>
void check_cells(const srd_options<D>& options) {
  double product = 1;
  for (int axis = 0; axis < D; ++axis) {
    require(options.cells[axis] >= 1, "there are ", options.cells[axis], " cells along ", axis_names[axis],
            "; at least 1 is needed");
    product *= options.cells[axis] + (options.periodic[axis] ? 0 : 1);
  }
  require(product <= static_cast<double>(max_count), "there are ", product, " cells, with those of walls; at most ",
          max_count, " are possible");
}

template <int D>
void check_walls(const srd_options<D>& options) {
  for (int axis = 0; axis < D; ++axis) {
    for (const vec<double, D>& velocity : options.wall_velocity[static_cast<std::size_t>(axis)]) {
      require(is_finite(velocity), "the velocity of a wall is ", vector_text(velocity), "; it must be finite");
      require(velocity[axis] == 0, "the velocity of a wall of ", axis_names[axis], " is ", vector_text(velocity),
              "; walls can move along themselves only, so that component must be 0");
      require(!options.periodic[axis] || velocity == vec<double, D>{}, "the axis ", axis_names[axis],
              " is periodic, but one of its walls has a velocity");
    }
  }
}

/// The number of cells of the box.
template <int D>
[[nodiscard]] double cells_of(const srd_options<D>& options) {
  double product = 1;
  for (int axis = 0; axis < D; ++axis) product *= options.cells[axis];
  return product;
}

[[nodiscard]] double power_of_two_below(double value) { return std::exp2(std::floor(std::log2(value))); }

/// Sets the cells and walls of a setup.
template <typename T, int D>
void set_box(const srd_options<D>& options, srd_setup<T, D>& setup) {
  setup.cells = options.cells;
  setup.shifted_cells = options.cells;
  setup.periodic = options.periodic;
  setup.edge = static_cast<T>(options.cell_edge);
  setup.inverse_edge = static_cast<T>(1 / options.cell_edge);
  for (int axis = 0; axis < D; ++axis) {
    if (!options.periodic[axis]) ++setup.shifted_cells[axis];
    setup.walled = setup.walled || !options.periodic[axis];
    setup.size[axis] = static_cast<T>(options.cells[axis] * options.cell_edge);
    for (int side = 0; side < 2; ++side) {
      const auto& velocities = options.wall_velocity[static_cast<std::size_t>(axis)];
      setup.wall_velocity[axis][side] = cast<T>(velocities[static_cast<std::size_t>(side)]);
    }
  }
}

/// A bound on a velocity component after streaming: a wall adds twice its velocity, and the force its gain in a step.
template <typename T, int D>
[[nodiscard]] double fastest_streamed(const srd_setup<T, D>& setup) {
  double wall = 0;
  double kick = 0;
  for (int axis = 0; axis < D; ++axis) {
    kick = std::max(kick, std::fabs(static_cast<double>(setup.acceleration[axis] * setup.time_step)));
    for (const auto& velocities : setup.wall_velocity) {
      for (const vec<T, D>& velocity : velocities)
        wall = std::max(wall, std::fabs(static_cast<double>(velocity[axis])));
    }
  }
  return static_cast<double>(setup.fastest) + 2 * wall + kick;
}

/// The smallest mass of a particle, in units of the fluid's.
template <typename T>
[[nodiscard]] double lightest_of(double fluid_mass, std::span<const double> solute_masses) {
  double lightest = 1;
  for (std::size_t i = 0; i < solute_masses.size(); ++i) {
    const double mass = solute_masses[i];
    require(is_positive(mass), "the mass of solute ", i, " is ", mass, "; it must be positive and finite");
    require(std::isnormal(static_cast<T>(mass / fluid_mass)), "the mass of solute ", i, " is ", mass,
            ", and that of a particle of the fluid ", fluid_mass, "; their ratio is out of the range of numbers of ",
            sizeof(T), " bytes");
    lightest = std::min(lightest, mass / fluid_mass);
  }
  return lightest;
}

}  // namespace

template <int D>
void check_srd(const srd_options<D>& options) {
  check_cells(options);
  check_walls(options);
  require(is_positive(options.cell_edge), "the edge of a cell is ", options.cell_edge,
          "; it must be positive and finite");
  require(is_positive(options.time_step), "the time step is ", options.time_step, "; it must be positive and finite");
  require(options.rotation_angle > 0 && options.rotation_angle <= 180, "the angle of rotation is ",
          options.rotation_angle, " degrees; it must be above 0 and at most 180");
  require(is_positive(options.mass), "the mass of a particle is ", options.mass, "; it must be positive and finite");
  require(options.temperature >= 0 && std::isfinite(options.temperature), "the temperature kT is ", options.temperature,
          "; it must be finite and not negative");
  require(!options.thermostat || options.temperature > 0,
          "the temperature kT is 0; with the thermostat it must be positive");
  require(is_finite(options.acceleration), "the acceleration is ", vector_text(options.acceleration),
          "; it must be finite");
  require(options.particles_per_cell >= 0 && options.particles_per_cell <= static_cast<double>(max_count),
          "ghosts are to fill cells up to ", options.particles_per_cell, " particles; 0 to ", max_count,
          " are possible");
  const auto sums = static_cast<std::size_t>(options.sums);
  require(sums < srd_sums_names.size(), "the kind of sums has the number ", sums, "; there are ", srd_sums_names.size(),
          " kinds");
}

template <int D>
srd_options<D> completed(srd_options<D> options, std::size_t fluid, determinism level, bool on_cuda) {
  check_srd(options);
  if (options.particles_per_cell == 0) options.particles_per_cell = static_cast<double>(fluid) / cells_of(options);
  if (options.sort_every == 0) options.sort_every = srd_default_sort_every;
  if (options.sums == srd_sums::automatic) {
    options.sums = on_cuda && level == determinism::none ? srd_sums::floating : srd_sums::fixed;
  }
  require(options.sums == srd_sums::fixed || level == determinism::none,
          "floating sums have no determinism, which the context asks for; fixed sums have it");
  return options;
}

template <typename T, int D>
srd_setup<T, D> make_srd_setup(const srd_options<D>& options, std::size_t fluid,
                               std::span<const double> solute_masses) {
  require(fluid <= max_count && solute_masses.size() <= max_count - fluid, "there are ", fluid, " particles and ",
          solute_masses.size(), " solutes; at most ", max_count, " together are possible");
  srd_setup<T, D> setup{};
  set_box(options, setup);
  double longest = 0;
  for (int axis = 0; axis < D; ++axis) longest = std::max(longest, options.cells[axis] * options.cell_edge);
  const double lightest = lightest_of<T>(options.mass, solute_masses);
  const double angle = options.rotation_angle / 180 * std::numbers::pi;
  const double temperature = options.temperature / options.mass;
  setup.time_step = static_cast<T>(options.time_step);
  setup.acceleration = cast<T>(options.acceleration);
  setup.cosine = static_cast<T>(std::cos(angle));
  setup.sine = static_cast<T>(std::sin(angle));
  setup.temperature = static_cast<T>(temperature);
  setup.full = static_cast<T>(options.particles_per_cell);
  setup.fastest = static_cast<T>(longest / options.time_step + 32 * std::sqrt(temperature / lightest));
  require(std::isfinite(setup.fastest) && setup.inverse_edge > 0 && std::isfinite(setup.inverse_edge) &&
              (setup.temperature > 0 || options.temperature == 0),
          "lengths, times and temperature are out of the range of numbers of ", sizeof(T), " bytes");
  require(std::isfinite(fastest_streamed(setup)),
          "the acceleration or the velocity of a wall is out of the range of numbers of ", sizeof(T), " bytes");
  setup.seed = options.seed;
  setup.fluid = static_cast<std::uint32_t>(fluid);
  setup.particles = static_cast<std::uint32_t>(fluid + solute_masses.size());
  setup.thermostat = options.thermostat;
  return setup;
}

template <int D>
double srd_room(const srd_options<D>& options, std::size_t fluid, std::size_t particles) {
  constexpr double least = 1024;
  constexpr double times_mean = 64;
  const double mean = static_cast<double>(fluid) / cells_of(options);
  return std::clamp(times_mean * mean, least, std::max(least, static_cast<double>(particles)));
}

template <typename T, int D>
srd_extremes srd_step_extremes(const srd_setup<T, D>& setup) {
  return {fastest_streamed(setup), 256 * static_cast<double>(setup.temperature)};
}

template <typename R, typename T, int D>
srd_fixed_sums<R, D> make_fixed_sums(const srd_setup<T, D>& setup, double heaviest, double room,
                                     const srd_extremes& most) {
  const double limit = 0x1p62 / std::max(room, 1.0);
  const double bound = std::is_same_v<R, float> ? 0x1p120 : 0x1p1000;
  const auto scale_for = [&](double value) { return std::min(power_of_two_below(limit / value), bound); };
  const double momentum = scale_for(heaviest * most.velocity);
  const double energy = most.energy > 0 ? scale_for(heaviest * D * most.energy / 2) : 1;
  const double mass = scale_for(heaviest);
  srd_fixed_sums<R, D> sums{};
  sums.kinds = {setup.thermostat, setup.solutes(), true};
  sums.momentum_scale = static_cast<R>(momentum);
  sums.energy_scale = static_cast<R>(energy);
  sums.mass_scale = static_cast<R>(mass);
  sums.momentum_unit = 1 / momentum;
  sums.energy_unit = 1 / energy;
  sums.mass_unit = 1 / mass;
  sums.limit = static_cast<R>(limit);
  return sums;
}

template <typename T, int D>
void check_fixed_sums(const srd_fixed_sums<T, D>& sums, const srd_setup<T, D>& setup, double lightest) {
  const auto check = [](const char* what, double unit, double size) {
    constexpr double finest = 0x1p-20;
    require(unit <= finest * size, "fixed sums resolve the ", what, " of the lightest particle to ", unit / size,
            " of it; ", finest,
            " is asked for. Take a longer time step, a smaller box, masses that are less far apart, ",
            "or floating sums");
  };
  const auto temperature = static_cast<double>(setup.temperature);
  if (setup.solutes()) check("mass", sums.mass_unit, lightest);
  if (temperature == 0) return;
  check("thermal momentum", sums.momentum_unit, std::sqrt(temperature * lightest));
  if (setup.thermostat) check("thermal energy", sums.energy_unit, temperature);
}

template <typename T, int D>
void check_particles(const srd_setup<T, D>& setup, std::span<const vec<T, D>> positions,
                     std::span<const vec<T, D>> velocities, const char* kind) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    for (int axis = 0; axis < D; ++axis) {
      const T x = positions[i][axis];
      const T v = velocities[i][axis];
      if (!(x >= T(0) && x <= setup.size[axis])) {
        throw data_error(message("the position of ", kind, " ", i, " is ", vector_text(positions[i]), ", which is ",
                                 std::isfinite(x) ? "outside the box" : "not finite"),
                         i);
      }
      if (!(std::fabs(v) <= setup.fastest)) {
        throw data_error(
            message("the velocity of ", kind, " ", i, " is ", vector_text(velocities[i]),
                    std::isfinite(v) ? ", which would carry it too far in one step; " : ", which is not finite; ",
                    "components up to ", setup.fastest, " are possible"),
            i);
      }
    }
  }
}

template <typename T>
void throw_srd_fault(std::uint64_t fault, T fastest) {
  if (fault == no_run_fault) return;
  const std::uint64_t step = fault >> 32;
  const auto what = static_cast<std::uint32_t>(fault);
  if ((what & srd_cell_mark) != 0) {
    throw data_error(message("the run blew up in step ", step, ": cell ", what & ~srd_cell_mark,
                             " of the shifted grid has more particles than its sums have room for"));
  }
  throw data_error(message("the run blew up in step ", step, ": particle ", what,
                           " got a velocity that is not finite or would carry it too far in one step; components up "
                           "to ",
                           fastest, " are possible"),
                   what);
}

template void throw_srd_fault(std::uint64_t, float);
template void throw_srd_fault(std::uint64_t, double);
template void check_srd(const srd_options<2>&);
template void check_srd(const srd_options<3>&);
template srd_options<2> completed(srd_options<2>, std::size_t, determinism, bool);
template srd_options<3> completed(srd_options<3>, std::size_t, determinism, bool);
template double srd_room(const srd_options<2>&, std::size_t, std::size_t);
template double srd_room(const srd_options<3>&, std::size_t, std::size_t);
template srd_setup<float, 2> make_srd_setup(const srd_options<2>&, std::size_t, std::span<const double>);
template srd_setup<float, 3> make_srd_setup(const srd_options<3>&, std::size_t, std::span<const double>);
template srd_setup<double, 2> make_srd_setup(const srd_options<2>&, std::size_t, std::span<const double>);
template srd_setup<double, 3> make_srd_setup(const srd_options<3>&, std::size_t, std::span<const double>);
template srd_fixed_sums<float, 2> make_fixed_sums(const srd_setup<float, 2>&, double, double, const srd_extremes&);
template srd_fixed_sums<float, 3> make_fixed_sums(const srd_setup<float, 3>&, double, double, const srd_extremes&);
template srd_fixed_sums<double, 2> make_fixed_sums(const srd_setup<float, 2>&, double, double, const srd_extremes&);
template srd_fixed_sums<double, 3> make_fixed_sums(const srd_setup<float, 3>&, double, double, const srd_extremes&);
template srd_fixed_sums<double, 2> make_fixed_sums(const srd_setup<double, 2>&, double, double, const srd_extremes&);
template srd_fixed_sums<double, 3> make_fixed_sums(const srd_setup<double, 3>&, double, double, const srd_extremes&);
template srd_extremes srd_step_extremes(const srd_setup<float, 2>&);
template srd_extremes srd_step_extremes(const srd_setup<float, 3>&);
template srd_extremes srd_step_extremes(const srd_setup<double, 2>&);
template srd_extremes srd_step_extremes(const srd_setup<double, 3>&);
template void check_fixed_sums(const srd_fixed_sums<float, 2>&, const srd_setup<float, 2>&, double);
template void check_fixed_sums(const srd_fixed_sums<float, 3>&, const srd_setup<float, 3>&, double);
template void check_fixed_sums(const srd_fixed_sums<double, 2>&, const srd_setup<double, 2>&, double);
template void check_fixed_sums(const srd_fixed_sums<double, 3>&, const srd_setup<double, 3>&, double);
template void check_particles(const srd_setup<float, 2>&, std::span<const vec<float, 2>>,
                              std::span<const vec<float, 2>>, const char*);
template void check_particles(const srd_setup<float, 3>&, std::span<const vec<float, 3>>,
                              std::span<const vec<float, 3>>, const char*);
template void check_particles(const srd_setup<double, 2>&, std::span<const vec<double, 2>>,
                              std::span<const vec<double, 2>>, const char*);
template void check_particles(const srd_setup<double, 3>&, std::span<const vec<double, 3>>,
                              std::span<const vec<double, 3>>, const char*);

}  // namespace quadrat::detail
