// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/electrostatics.hpp"
#include "quadrat/distributed/migration.hpp"
#include "quadrat/ewald/electrostatics.hpp"

/// The mesh part of an Ewald sum whose short-range part another program computes.
namespace quadrat::lammps {

/// The charges of this rank. Any rank may have any of them. `cell`: that of all ranks, periodic along all three vectors
/// or along the first two (a slab).
struct rank_charges {
  lattice<double, 3> cell;
  const vec<double, 3>* points;
  const double* charges;
  std::size_t count;
};

/// What is computed besides forces. The same on all ranks.
struct wanted_sums {
  bool energy, energies, virial;
};

/// Values by charge are in the order of rank_charges.
struct mesh_results {
  std::vector<vec<double, 3>> forces;
  std::vector<double> energies;  ///< of each charge
  double energy = 0;             ///< of all ranks
  vec<double, 9> virial{};       ///< of all ranks
};

/// What was chosen. Errors are in the units of electrostatics_report.
struct mesh_choice {
  ewald_parameters parameters;
  double short_range_error, mesh_error;
};

/// Cells with right angles are summed by all ranks, others by rank 0. Coulomb's constant is 1. All calls but `bytes`
/// are collective, and throw on all ranks.
class mesh_sum {
 public:
  /// The communicator must outlive this. Threads: of each rank.
  mesh_sum(communicator& ranks, int threads);

  /// Chooses for these charges what `given` leaves open, and keeps its cutoff and splitting. Mesh and order are chosen
  /// again where a later cell needs it.
  mesh_choice choose(const rank_charges& mine, double accuracy, const ewald_parameters& given);
  /// After `choose`.
  void compute(const rank_charges& mine, const wanted_sums& wanted, mesh_results& results);

  /// Of this rank.
  [[nodiscard]] std::size_t bytes() const;

 private:
  // Each sends the charges to the ranks that sum them, to rank 0 or to the owners of blocks.
  void gather(const rank_charges& mine);
  void share_out(const rank_charges& mine);
  void send(const rank_charges& mine);
  void return_results(bool energies, mesh_results& results);
  [[nodiscard]] electrostatics_input<double> input(const lattice<double, 3>& cell) const;

  cpu_context context_;
  communicator& ranks_;
  electrostatics_options options_;
  migration<cpu_context> there_, back_;
  std::optional<electrostatics<cpu_context, double>> alone_;
  std::optional<distributed_electrostatics<cpu_context, double>> shared_;
  grid<double, 3> space_{};  ///< of shared_
  decomposition<3> shares_;
  std::vector<std::uint32_t> owners_;  ///< by charge of this rank
  // Of the charges that this rank sums.
  std::vector<vec<double, 3>> points_, forces_;
  std::vector<double> charges_, energies_;
};

}  // namespace quadrat::lammps
