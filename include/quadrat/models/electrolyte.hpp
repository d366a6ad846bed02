// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/ewald/electrostatics.hpp"

/// The primitive model of an electrolyte: charged soft spheres in a continuous solvent, in a periodic box, in any
/// consistent units. Two ions at distance r have the energy
///     k q_i q_j / r, summed over all periodic images (ewald/electrostatics.hpp), and
///     4 e [(s / r)^12 - (s / r)^6] + e for r < 2^(1/6) s, with s the mean of their diameters (Weeks, Chandler,
///     Andersen 1971: a repulsion).
/// A step of length h is velocity Verlet's; or, with the Langevin thermostat, BAOAB's (Leimkuhler, Matthews 2013):
///     v += h f / 2 m;  x += h v / 2;  v -> c v + sqrt((1 - c^2) kT / m) z;  x += h v / 2;  v += h f / 2 m with new f,
/// where c = exp(-gamma h), and z are standard normal numbers of Philox, keyed by seed, step and ion.
namespace quadrat {

/// Ions of one kind. Ions are numbered by kind, from 0.
struct ion_species {
  std::size_t count = 0;
  double charge = 1;
  double mass = 1;
  double diameter = 1;
};

enum class electrolyte_dynamics {
  langevin,  ///< at a temperature
  verlet     ///< at constant energy
};

struct electrolyte_options {
  vec<double, 3> box = vec<double, 3>::filled(20);  ///< edges; the lower corner is 0. At least 2^(7/6) diameters
  std::vector<ion_species> species{};
  double coulomb_constant = 1;  ///< k; with kT = 1 the Bjerrum length
  double accuracy = 1e-4;       ///< of the electrostatic forces, as electrostatics_options::accuracy
  std::string method{};         ///< of electrostatics_methods(); empty or "auto": chosen
  /// Accepts ions with a net charge, which a uniform background then balances.
  bool background = false;
  double repulsion = 1;    ///< e
  double temperature = 1;  ///< kT
  electrolyte_dynamics dynamics = electrolyte_dynamics::langevin;
  double friction = 1;              ///< gamma, a rate
  std::uint64_t equilibration = 0;  ///< verlet: this many Langevin steps come first
  double time_step = 0.005;         ///< h
  std::uint64_t seed = 1;
};

/// Ions on the host, in order of their numbers.
struct electrolyte_particles {
  std::vector<vec<double, 3>> positions{};   ///< any image
  std::vector<vec<double, 3>> velocities{};  ///< one per position
};

/// An initial state: ions at random sites of a lattice; Maxwell-Boltzmann velocities, shifted and scaled to momentum 0
/// and kinetic energy 3 (number - 1) kT / 2. Throws argument_error for impossible options, and for more ions than the
/// box has sites at distances of the largest diameter.
[[nodiscard]] electrolyte_particles electrolyte_start(const electrolyte_options& options);

/// The measurements of one step.
struct electrolyte_statistics {
  std::uint64_t step = 0;
  double time = 0;
  double kinetic_energy = 0;
  double coulomb_energy = 0;
  double repulsion_energy = 0;
  double potential_energy = 0;  ///< of repulsion and electrostatics
  double total_energy = 0;
  double temperature = 0;  ///< kT, of velocities relative to that of the center of mass
  double pressure = 0;     ///< from the temperature and the virial; of the ions
  vec<double, 3> momentum{};
};

/// The complete state, on the host. Restored to a simulation that was made from the same options and particles on the
/// same device, a run with run_to_run continues with the same bits.
template <typename T>
struct electrolyte_state {
  std::uint64_t step = 0;
  std::vector<vec<T, 3>> positions{};  ///< inside the box
  std::vector<vec<T, 3>> velocities{};
};

/// A simulation: owns the ions in the memory of its context. Move-only. T: float or double; Context: cpu_context or
/// cuda_context. On CUDA several steps at a time are a captured graph.
///
/// The parameters of the electrostatic sums are chosen once, for the particles given to the constructor. Their mean net
/// force is subtracted, so that steps conserve momentum.
///
/// Determinism: with run_to_run the same bits in every run, for any number of threads.
template <typename Context, typename T>
class electrolyte {
  static_assert(detail::instance<Context, T, 3>::exists);

 public:
  /// Copies from the host and synchronizes. Throws argument_error for impossible options, counts that are not those of
  /// the species, a net charge (unless options.background), and an accuracy that cannot be reached in this precision;
  /// data_error naming the first position or velocity that is not finite, and for two coincident ions.
  electrolyte(const Context& context, const electrolyte_options& options, const electrolyte_particles& particles);

  /// Enqueues steps. Does not wait (on the CPU they are finished on return). Allocates nothing after the first call.
  /// Never throws for bad data: see check.
  void advance(std::size_t steps);

  /// Waits for the steps. Allocates nothing. Throws data_error if the run blew up, naming step and ion: a velocity that
  /// is not finite, or a move by more than half of the box at once. The simulation then stays invalid until restore.
  void check();

  /// The next functions wait, and may allocate. They throw what check throws.
  [[nodiscard]] electrolyte_statistics measure();
  [[nodiscard]] std::vector<vec<T, 3>> positions();
  [[nodiscard]] std::vector<vec<T, 3>> velocities();
  [[nodiscard]] electrolyte_state<T> state();
  /// The forces of all pairs, at the last step.
  [[nodiscard]] std::vector<vec<T, 3>> forces();

  /// Restores a state. Waits. May allocate. Throws argument_error if counts differ; data_error as the constructor.
  void restore(const electrolyte_state<T>& state);

  /// Number of steps enqueued, counted from the step of a restored state.
  [[nodiscard]] std::uint64_t step() const;
  [[nodiscard]] std::size_t size() const;
  /// Bytes of the context's memory in use.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const electrolyte_options& options() const;
  /// The chosen parameters of the electrostatic sums.
  [[nodiscard]] const electrostatics_report& report() const;
  [[nodiscard]] const Context& context() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
