// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "ewald/choice/choice.hpp"
#include "ewald/crowding.hpp"
#include "ewald/methods.hpp"
#include "quadrat/ewald/electrostatics.hpp"

/// The parameters of Ewald sums over ranks. Rank 0 chooses them from the charges of all ranks.
namespace quadrat::detail {

/// What rank 0 has chosen.
struct chosen_sums {
  bool prolate;
  ewald_parameters parameters;
  double neighbors, short_range_error, mesh_error, error, energy_error, virial_error;
};

/// The data of a charge that the choice needs.
template <typename T>
struct measured_charge {
  T charge;
  std::uint32_t box;
};

template <typename T>
[[nodiscard]] ewald_choice choose_for_ranks(const electrostatics_options& options, const choice_place& place,
                                            double accuracy, const std::vector<charged_system>& systems) {
  ewald_request request{options.method, options.law, accuracy, options.parameters, place, sizeof(T) == 4};
  auto choice = choose_ewald(request, systems);
  if (choice.setup.method != ewald_methods::direct::name) return choice;
  request.method = ewald_methods::spme::name;
  return choose_ewald(request, systems);
}

/// Chooses as electrostatics does.
template <typename T>
[[nodiscard]] chosen_sums choose_from(const electrostatics_options& options, const choice_place& place,
                                      const std::vector<crowding_boxes<T>>& boxes,
                                      const std::vector<measured_charge<T>>& all) {
  std::vector<std::uint32_t> box;
  std::vector<T> charges;
  for (const measured_charge<T>& one : all) {
    box.push_back(one.box);
    charges.push_back(one.charge);
  }
  const measured_charges measured = measured_systems<T>(boxes, box, charges);
  const double least = std::min(options.accuracy, sizeof(T) == 4 ? 1e-6 : 1e-14);
  const double accuracy = std::max(options.accuracy * measured.strictness, least);
  const auto choice = choose_for_ranks<T>(options, place, accuracy, measured.systems);
  const charged_system& system = measured.systems[choice.worst];
  const ewald_parameters& parameters = choice.setup.parameters;
  return {choice.setup.method == ewald_methods::esp::name,
          parameters,
          4 * std::numbers::pi / 3 * std::pow(parameters.cutoff, 3) * system.points / system.volume(),
          choice.errors.short_range / measured.strictness,
          choice.errors.mesh / measured.strictness,
          choice.errors.total() / measured.strictness,
          choice.errors.energy / std::sqrt(measured.strictness),
          choice.errors.virial / std::sqrt(measured.strictness)};
}

}  // namespace quadrat::detail
