// SPDX-License-Identifier: BSD-3-Clause
#include "models/electrolyte/options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "core/number_text.hpp"
#include "core/point_checks.hpp"
#include "models/electrolyte/random.hpp"
#include "models/parameter_checks.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace detail {

namespace {

void check_kinds(const electrolyte_options& options) {
  constexpr std::size_t most_kinds = 64;
  const auto& kinds = options.species;
  require(!kinds.empty() && kinds.size() <= most_kinds, "there are ", kinds.size(), " kinds of ions; 1 to ", most_kinds,
          " are possible");
  double net = 0, sizes = 0;
  std::size_t ions = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const std::string of = message(" of ions of kind ", k);
    require_finite(message("charge", of).c_str(), kinds[k].charge);
    require_positive(message("mass", of).c_str(), kinds[k].mass);
    require_positive(message("diameter", of).c_str(), kinds[k].diameter);
    require_count(kinds[k].count, message("ions of kind ", k));
    ions += kinds[k].count;
    net += static_cast<double>(kinds[k].count) * kinds[k].charge;
    sizes += static_cast<double>(kinds[k].count) * std::fabs(kinds[k].charge);
  }
  require_count(ions, "ions");
  require(ions >= 2, "there ", ions == 1 ? "is 1 ion" : "are no ions", "; at least 2 are needed");
  require(sizes > 0 && std::isfinite(sizes), "the sizes of all charges add up to ", sizes,
          "; it must be positive and finite");
  require(options.background || std::fabs(net) <= 1e-9 * sizes, "the charges add up to ", net,
          "; they must add up to 0, unless a background is to balance them (background = true)");
}

}  // namespace

void check_electrolyte(const electrolyte_options& options) {
  check_kinds(options);
  for (int axis = 0; axis < 3; ++axis) require_positive("edge of the box", options.box[axis]);
  const double shortest = std::min({options.box[0], options.box[1], options.box[2]});
  const double least = 2 * repulsion_reach * largest_diameter(options);
  require(shortest >= least, "the shortest edge of the box is ", shortest, "; it must be at least ", least,
          ", twice the reach of the repulsion (2^(1/6) diameters)");
  require_positive("Coulomb constant", options.coulomb_constant);
  require_positive("repulsion", options.repulsion);
  require_not_negative("temperature", options.temperature);
  require_not_negative("friction", options.friction);
  require_positive("time step", options.time_step);
}

void throw_electrolyte_fault(std::uint64_t fault) {
  if (fault == no_run_fault) return;
  const std::uint64_t ion = fault & 0xffffffffu;
  throw data_error(message("the run blew up in step ", fault >> 32, ": ion ", ion,
                           " got a velocity that is not finite, or moved by more than half of the box; a smaller "
                           "time step may help"),
                   ion);
}

template <typename T>
void check_vectors(const std::vector<vec<T, 3>>& values, const char* kind) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool finite = std::isfinite(values[i][0]) && std::isfinite(values[i][1]) && std::isfinite(values[i][2]);
    if (!finite)
      throw data_error(message("the ", kind, " of ion ", i, " is ", vector_text(values[i]), "; it must be finite"), i);
  }
}

std::size_t ions_of(const electrolyte_options& options) {
  std::size_t sum = 0;
  for (const ion_species& kind : options.species) sum += kind.count;
  return sum;
}

double largest_diameter(const electrolyte_options& options) {
  double largest = 0;
  for (const ion_species& kind : options.species) largest = std::max(largest, kind.diameter);
  return largest;
}

template void check_vectors(const std::vector<vec<float, 3>>&, const char*);
template void check_vectors(const std::vector<vec<double, 3>>&, const char*);

}  // namespace detail

namespace {

/// Sites along each axis of a lattice with at least `count` sites, and about the same spacing along all axes.
vec<std::size_t, 3> sites_for(const electrolyte_options& options, std::size_t count) {
  const auto along = [&](int axis, double spacing) { return std::floor(options.box[axis] / spacing * (1 + 1e-12)); };
  const auto room = [&](double spacing) { return along(0, spacing) * along(1, spacing) * along(2, spacing); };
  const double closest = detail::largest_diameter(options), wanted = static_cast<double>(count);
  require(room(closest) >= wanted, "the box has ", room(closest),
          " sites at distances of the largest diameter, too few for ", count,
          " ions; use fewer, a larger box, or smaller ions");
  double spacing = std::cbrt(options.box[0] * options.box[1] * options.box[2] / wanted);
  while (spacing > closest && room(spacing) < wanted) spacing *= 0.99;
  spacing = std::max(spacing, closest);
  vec<std::size_t, 3> sites{};
  for (int axis = 0; axis < 3; ++axis) sites[axis] = static_cast<std::size_t>(along(axis, spacing));
  return sites;
}

std::vector<vec<double, 3>> start_positions(const electrolyte_options& options, std::size_t count) {
  const vec<std::size_t, 3> sites = sites_for(options, count);
  std::vector<std::pair<std::uint64_t, std::size_t>> order(sites[0] * sites[1] * sites[2]);
  for (std::size_t site = 0; site < order.size(); ++site) {
    const philox_block words = detail::electrolyte_words(options.seed, detail::electrolyte_use::site, site >> 32,
                                                         static_cast<std::uint32_t>(site));
    order[site] = {std::uint64_t{words.word[0]} << 32 | words.word[1], site};
  }
  std::sort(order.begin(), order.end());
  std::vector<vec<double, 3>> positions(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t site = order[i].second;
    const vec<std::size_t, 3> at{site % sites[0], site / sites[0] % sites[1], site / sites[0] / sites[1]};
    for (int axis = 0; axis < 3; ++axis) {
      positions[i][axis] = (static_cast<double>(at[axis]) + 0.5) / static_cast<double>(sites[axis]) * options.box[axis];
    }
  }
  return positions;
}

std::vector<vec<double, 3>> start_velocities(const electrolyte_options& options, std::size_t count) {
  const auto masses = detail::by_ion<double>(options, &ion_species::mass);
  std::vector<vec<double, 3>> velocities(count);
  vec<double, 3> momentum{};
  double mass = 0, energy = 0;
  for (std::size_t i = 0; i < count; ++i) {
    velocities[i] = detail::electrolyte_normal<double>(options.seed, detail::electrolyte_use::velocity, 0,
                                                       static_cast<std::uint32_t>(i)) *
                    std::sqrt(options.temperature / masses[i]);
    momentum += velocities[i] * masses[i];
    mass += masses[i];
  }
  for (std::size_t i = 0; i < count; ++i) {
    velocities[i] -= momentum / mass;
    energy += masses[i] * squared_norm(velocities[i]) / 2;
  }
  const double wanted = 1.5 * static_cast<double>(count - 1) * options.temperature;
  const double factor = energy > 0 ? std::sqrt(wanted / energy) : 0;
  for (vec<double, 3>& v : velocities) v *= factor;
  return velocities;
}

}  // namespace

electrolyte_particles electrolyte_start(const electrolyte_options& options) {
  detail::check_electrolyte(options);
  const std::size_t count = detail::ions_of(options);
  return {start_positions(options, count), start_velocities(options, count)};
}

}  // namespace quadrat
