// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/frozen.hpp"

#include <algorithm>
#include <utility>

namespace quadrat::bench {

granular_parameters frozen_parameters() {
  granular_parameters parameters;
  parameters.time_step = 1e-12;
  parameters.spring = 0.5;
  parameters.damping = 2e-5;
  parameters.shear = 1e-4;
  return parameters;
}

row frozen_settings() {
  const granular_parameters parameters = frozen_parameters();
  return {{"time_step", parameters.time_step},
          {"spring", parameters.spring},
          {"damping", parameters.damping},
          {"shear", parameters.shear}};
}

frozen_grains::frozen_grains(const cube& room, std::size_t n) : room_(room), positions_(n) {
  const double half = room.half_side() - grain_radius;  // centers stay at least a radius away from the walls
  const auto last = static_cast<std::int64_t>(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < last; ++i) {
    vec<double, 3>& x = positions_[static_cast<std::size_t>(i)];
    for (int axis = 0; axis < 3; ++axis) {
      x[axis] = half * (2 * random_unit(n, static_cast<std::uint64_t>(3 * i + axis)) - 1);
    }
  }
}

void frozen_grains::stray(int factor) {
  widen_box(factor);
  positions_.front() = vec<double, 3>::filled((2 * factor - 1) * room_.half_side() - grain_radius);
  first_.reset();
}

row frozen_grains::describe(std::string_view operation, std::string_view method, std::string_view precision) const {
  row result = identify(operation, method, precision, size(), room_.size(), "uniform");
  result["order"] = "steady";
  result["positions"] = "frozen";
  result["occupancy"] = static_cast<double>(size()) / static_cast<double>(room_.size());
  result["settings"] = frozen_settings();
  return result;
}

void frozen_grains::compare(std::string_view method, const granular_statistics& measured,
                            std::vector<double> velocities) {
  if (!first_) {
    first_ = {std::string(method), measured, std::move(velocities)};
    return;
  }
  const auto differ = [&](const char* what, double mine, double theirs, double allowed) {
    if (std::abs(mine - theirs) <= allowed) return;
    throw disagreement(message(method, " has ", what, " ", mine, ", ", first_->method, " has ", theirs));
  };
  const granular_statistics& other = first_->statistics;
  differ("contacts per grain", measured.contacts_per_particle, other.contacts_per_particle, 1e-9);
  differ("kinetic energy", measured.kinetic_energy, other.kinetic_energy, 1e-5 * other.kinetic_energy);
  double largest = 0;
  for (const double v : first_->velocities) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < std::min(velocities.size(), first_->velocities.size()); ++i) {
    differ("a velocity", velocities[i], first_->velocities[i], 1e-4 * largest);
  }
}

std::vector<std::string_view> wanted_granular_methods(const session& s) {
  std::vector<std::string_view> result;
  for (const granular_method& method : granular_methods()) {
    if ((s.on_cuda() ? method.on_cuda : method.on_cpu) && s.wants_method(method.name)) result.push_back(method.name);
  }
  return result;
}

}  // namespace quadrat::bench
