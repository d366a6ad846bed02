// SPDX-License-Identifier: BSD-3-Clause
#include "program/electrostatics/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/counted.hpp"
#include "program/process/progress_bar.hpp"
#include "program/run/summary.hpp"

namespace quadrat::program {
namespace {

using json = nlohmann::ordered_json;

double total_of(const std::vector<double>& numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0); }

/// The predicted error relative to the rms force. Infinite if there are no forces.
double relative_error(const electrostatics_outcome& outcome) {
  return outcome.report.error * outcome.reference_force / outcome.rms_force;
}

json virial_json(const std::vector<double>& virial, std::size_t system) {
  return array_json(3, [&](int row) {
    return array_json(3, [&](int column) { return virial[9 * system + static_cast<std::size_t>(3 * row + column)]; });
  });
}

json or_null(const std::optional<std::string>& file) { return file ? json(*file) : json(); }

json performance_json(const electrostatics_run& run) {
  const electrostatics_outcome& outcome = run.outcome;
  return {{"prepare_ms", 1e3 * outcome.prepare_seconds}, {"compute_ms", 1e3 * outcome.compute_seconds},
          {"repetitions", outcome.repetitions},          {"reading_seconds", run.reading_seconds},
          {"writing_seconds", run.writing_seconds},      {"total_seconds", run.total_seconds},
          {"memory_bytes", outcome.memory_bytes}};
}

void add_choice(json& result, const electrostatics_command& command, const electrostatics_outcome& outcome) {
  const electrostatics_report& report = outcome.report;
  result["method"] = outcome.method;
  result["reason"] = outcome.reason;
  result["accuracy"] = command.accuracy;
  result["predicted_error"] = report.error;
  result["short_range_error"] = report.short_range_error;
  result["mesh_error"] = report.mesh_error;
  result["energy_error"] = report.energy_error;
  result["virial_error"] = report.virial_error;
  result["relative_error"] = outcome.rms_force > 0 ? json(relative_error(outcome)) : json();
  result["reference_force"] = outcome.reference_force;
  result["rms_force"] = outcome.rms_force;
  result["net_force"] = outcome.net_force;
  result["cutoff"] = report.parameters.cutoff;
  result["splitting"] = report.parameters.splitting;
  result["mesh"] = array_json(3, [&](int axis) { return report.parameters.mesh[axis]; });
  result["order"] = report.parameters.order;
  result["neighbors"] = report.neighbors;
}

std::string energy_text(const electrostatics_run& run) {
  const std::vector<double>& energy = run.outcome.energy;
  std::string text = fmt::format("  energy      {:.10g}", total_of(energy));
  if (energy.size() > 1) {
    const auto [least, most] = std::ranges::minmax(energy);
    text += fmt::format(" in total; systems from {:.8g} to {:.8g}", least, most);
  }
  return text + "\n";
}

std::string accuracy_text(const electrostatics_command& command, const electrostatics_outcome& outcome) {
  std::string text = fmt::format("  accuracy    {:.2g} asked for, {:.2g} predicted, in units of {:.4g} ({})\n",
                                 command.accuracy, outcome.report.error, outcome.reference_force,
                                 command.law == "coulomb" ? "k q^2 / d^2" : "k c^2 / d^7");
  text += fmt::format("  forces      rms {:.6g}, net {:.2g}", outcome.rms_force, outcome.net_force);
  // If forces cancel, as in a crystal, a relative error says nothing.
  if (relative_error(outcome) < 1) text += fmt::format("; error {:.2g} of the rms force", relative_error(outcome));
  return text + "\n";
}

std::string method_text(const electrostatics_command& command, const electrostatics_outcome& outcome) {
  const ewald_parameters& p = outcome.report.parameters;
  const bool direct = outcome.method == "direct";
  std::string text = fmt::format("  method      {}, {} ({})\n", outcome.method, command.precision, outcome.reason);
  text += fmt::format("  parameters  cutoff {:.6g} ({:.4g} neighbors), splitting {:.6g}, {} {} x {} x {}", p.cutoff,
                      outcome.report.neighbors, p.splitting, direct ? "modes up to" : "mesh", p.mesh[0], p.mesh[1],
                      p.mesh[2]);
  return text + (direct ? "\n" : fmt::format(", order {}\n", p.order));
}

std::string virial_text(const electrostatics_outcome& outcome) {
  std::string text;
  const std::size_t systems = outcome.virial.size() / 9;
  for (std::size_t k = 0; k < systems; ++k) {
    const std::string name = systems == 1 ? "virial" : fmt::format("virial {}", k);
    for (std::size_t row = 0; row < 3; ++row) {
      const double* const w = outcome.virial.data() + 9 * k + 3 * row;
      text += fmt::format("  {:<10}  {:>17.9g} {:>17.9g} {:>17.9g}\n", row == 0 ? name : "", w[0], w[1], w[2]);
    }
  }
  return text;
}

}  // namespace

nlohmann::ordered_json as_json(const electrostatics_command& command, const electrostatics_run& run) {
  const electrostatics_outcome& outcome = run.outcome;
  const auto systems = static_cast<int>(outcome.energy.size());
  json result{{"program", program_json()}, {"device", as_json(outcome.device)},
              {"file", run.systems.file},  {"points", run.systems.size()},
              {"systems", systems},        {"energy", total_of(outcome.energy)}};
  if (systems > 1) result["energies"] = outcome.energy;
  if (command.virial && systems == 1) result["virial"] = virial_json(outcome.virial, 0);
  if (command.virial && systems > 1) {
    result["virials"] =
        array_json(systems, [&](int k) { return virial_json(outcome.virial, static_cast<std::size_t>(k)); });
  }
  result["law"] = command.law;
  result["coulomb_constant"] = command.coulomb_constant;
  result["total_charge"] = total_of(run.systems.charges);
  result["scaled_pairs"] = run.scaled_pairs.size();
  result["precision"] = command.precision;
  result["deterministic"] = command.deterministic;
  add_choice(result, command, outcome);
  result["performance"] = performance_json(run);
  result["output"] = or_null(command.output);
  result["energies_output"] = or_null(command.energies);
  result["potentials_output"] = or_null(command.potentials);
  return result;
}

std::string as_text(const electrostatics_command& command, const electrostatics_run& run) {
  const electrostatics_outcome& outcome = run.outcome;
  std::string text = fmt::format("{}: {} points in {}\n", run.systems.file, with_commas(run.systems.size()),
                                 detail::counted(outcome.energy.size(), "system"));
  text += energy_text(run) + accuracy_text(command, outcome) + method_text(command, outcome);
  text += fmt::format("  time        {:.3g} ms, and {:.3g} ms to prepare, on {}\n", 1e3 * outcome.compute_seconds,
                      1e3 * outcome.prepare_seconds, as_text(outcome.device));
  text += virial_text(outcome);
  for (const auto& file : {command.output, command.energies, command.potentials}) {
    if (file) text += fmt::format("  output      {}\n", *file);
  }
  return text;
}

}  // namespace quadrat::program
