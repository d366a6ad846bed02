// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "program/device_options.hpp"
#include "program/electrostatics/systems.hpp"
#include "program/mesh/transfer.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "quadrat/tune/explanation.hpp"

namespace quadrat::program {

/// What to compute, besides forces and energies of systems.
struct electrostatics_task {
  electrostatics_options options;
  bool single = false;  ///< precision of all that is computed
  bool virial = false, energies = false, potentials = false;
};

/// The results, and data about the computation.
struct electrostatics_outcome {
  used_device device;
  std::string method, reason;
  electrostatics_report report;  ///< its names are those of the members above
  quadrat::explanation explanation;
  std::vector<double> energy;         ///< by system
  std::vector<double> virial;         ///< by system, 9 numbers; empty: not requested
  mesh_numbers forces;                ///< (points, 3)
  mesh_numbers energies, potentials;  ///< (points,); empty: not requested
  double reference_force = 0;         ///< k q^2 / d^2 (dispersion: k c^2 / d^7), the rms over all points
  double rms_force = 0;               ///< of all points
  double net_force = 0;               ///< the largest net force of a system
  std::size_t memory_bytes = 0;
  double prepare_seconds = 0;
  double compute_seconds = 0;  ///< the median of the repetitions
  std::size_t repetitions = 0;
};

/// Computes the sums once; if that is fast, repeats them to measure the time. Throws what the library throws;
/// data_error names file and line.
[[nodiscard]] electrostatics_outcome sum_charges(const electrostatics_task& task, const device_options& device,
                                                 const charged_systems& systems,
                                                 const std::vector<scaled_pair>& scaled_pairs);

}  // namespace quadrat::program
