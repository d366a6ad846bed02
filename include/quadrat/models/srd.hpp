// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// Stochastic rotation dynamics (SRD, a kind of multi-particle collision dynamics, MPC): a fluid of point particles, in
/// any consistent units. A step of length h
///   streams: x += h v + h^2 g / 2, v += h g, with g the acceleration by a body force; a particle that meets a solid
///     wall turns around there, v -> 2 V - v with V the velocity of the wall (no slip);
///   collides: cells of edge a, shifted together by a vector that is uniform in [0, a) along each axis, turn the
///     velocities of their particles relative to their mean u, v -> u + s R (v - u). u is weighted by mass. R turns by
///     the angle alpha about an axis that each cell draws uniformly from the sphere (3D), or by +alpha or -alpha (2D).
///     Without a thermostat s = 1, and mass, momentum and energy of a cell stay. With it s makes the kinetic energy
///     relative to u a draw from the Gamma distribution of shape D (n - 1) / 2 and scale kT, n the number of particles
///     (Maxwell-Boltzmann scaling; Huang, Chatterji, Sutmann, Gompper, Winkler 2010). Cells with one particle do
///     nothing.
/// Cells that a wall cuts, the first and the last of the shifted grid along its axis, are filled up with ghosts to the
/// mean number of the fluid (Lamura, Gompper, Ihle, Kroll 2001): particles at the temperature kT and with the wall's
/// velocity, of which only the sums are drawn; n counts them, and less than one as one. A cell that two walls cut
/// belongs to that of the first axis.
/// Solutes are point particles of masses of their own that stream and collide like the fluid's.
///
/// The box is [0, cells cell_edge] along each axis. Random numbers are Philox's, drawn by seed, step and cell: a run
/// does not depend on the number of threads or the order in memory, beyond what `srd_sums` says.
namespace quadrat {

/// How the sums of cells are added up.
enum class srd_sums {
  automatic,  ///< floating on CUDA where the context asks for no determinism, fixed otherwise
  floating,   ///< in the precision of the run: the order of additions shows in the last bits
  fixed       ///< in 64-bit fixed point, to about 12 digits: the same bits whatever the order and number of threads;
              ///< refused where the scale, one for all cells, is coarse beside what the lightest particle adds
};

/// Names, in the order of the enumeration.
inline constexpr std::array<std::string_view, 3> srd_sums_names{"automatic", "floating", "fixed"};

template <int D>
struct srd_options {
  vec<int, D> cells = vec<int, D>::filled(20);
  double cell_edge = 1;         ///< a
  double time_step = 0.1;       ///< h
  double rotation_angle = 130;  ///< alpha, in degrees, above 0 and at most 180
  double mass = 1;              ///< m, of a particle of the fluid
  double temperature = 1;       ///< kT; not negative, and positive with the thermostat
  bool thermostat = true;
  vec<bool, D> periodic = vec<bool, D>::filled(true);  ///< other axes have a solid wall at each end
  /// Of the walls of each axis, the lower one and the upper one; nothing along the axis itself.
  std::array<std::array<vec<double, D>, 2>, D> wall_velocity{};
  vec<double, D> acceleration{};  ///< g
  double particles_per_cell = 0;  ///< that ghosts fill up to; 0: the mean number of the fluid
  std::uint64_t seed = 1;         ///< of collisions, and of srd_start
  std::size_t sort_every = 0;     ///< steps between two sortings by cell; 0: srd_default_sort_every
  srd_sums sums = srd_sums::automatic;
};

inline constexpr std::size_t srd_default_sort_every = 100;

/// Particles on the host: those of the fluid, and then a solute for each mass.
template <int D>
struct srd_particles {
  std::vector<vec<double, D>> positions{};   ///< inside the box
  std::vector<vec<double, D>> velocities{};  ///< as many
  std::vector<double> solute_masses{};
};

/// A start: `count` particles of the fluid, and the solutes, uniform in the box; Maxwell-Boltzmann velocities, shifted
/// and scaled so that the momentum is 0 and the kinetic energy is D (number - 1) kT / 2 (0 for one particle). Throws
/// argument_error for impossible options, masses and counts.
template <int D>
[[nodiscard]] srd_particles<D> srd_start(const srd_options<D>& options, std::size_t count,
                                         std::span<const double> solute_masses = {});

/// Adds the shear wave v_x += amplitude sin(2 pi y / L), with L the length of the box along y.
template <int D>
void add_shear_wave(const srd_options<D>& options, double amplitude, srd_particles<D>& particles);

/// What theory says of the fluid without walls: Gompper, Ihle, Kroll, Winkler 2009, table 1. Molecular chaos is
/// assumed. In 3D that is right to 1 to 3 % for the viscosity; at small time steps the diffusion is above. In 2D
/// srd_long_time_tail comes on top.
struct srd_transport {
  double kinetic_viscosity = 0;      ///< momentum carried by streaming
  double collisional_viscosity = 0;  ///< and by collisions
  double viscosity = 0;              ///< kinematic, the sum of both: without the thermostat
  /// What it is with the thermostat; `viscosity` where the options have none. The energy of a cell then forgets what it
  /// was, and with it some of the momentum flux, which matters where cells have few particles. (Derived here, under the
  /// same assumption; up to a million particles a cell.)
  double viscosity_with_thermostat = 0;
  double self_diffusion = 0;
};

/// For that mean number of particles a cell. Throws argument_error for impossible options, or a number not above 0.
template <int D>
[[nodiscard]] srd_transport srd_theory(const srd_options<D>& options, double particles_per_cell);

/// In 2D molecular chaos does not hold: a particle's momentum comes back to it with the vortices that it makes, and the
/// viscosity of a flow that varies over a length L (a wavelength) grows with it. This is how much it is above the
/// theory: kT / (16 pi rho nu) ln(L / 4 a), with rho = m M / a^2 and nu the viscosity in theory, the thermostat
/// included; 0 below L = 4 a, and in 3D. The factor is that of mode coupling (Forster, Nelson, Stephen 1977); the 4 has
/// been measured (docs/srd.md): together they leave a few percent. Throws as srd_theory, and for a length not above 0.
template <int D>
[[nodiscard]] double srd_long_time_tail(const srd_options<D>& options, double particles_per_cell, double length);

/// Sums over all particles at one step.
template <int D>
struct srd_statistics {
  std::uint64_t step = 0;
  double time = 0;
  double kinetic_energy = 0;
  vec<double, D> momentum{};
  /// kT, from the velocities relative to the mean of their cell (the grid not shifted), over all cells with two
  /// particles or more; 0 when there is none.
  double temperature = 0;
  double particles_per_cell = 0;  ///< mean number, solutes included
};

/// One slice of a box.
template <int D>
struct srd_profile_bin {
  double center = 0;          ///< along the axis
  std::uint64_t count = 0;    ///< of particles, solutes included
  double density = 0;         ///< particles by volume (by area in 2D)
  vec<double, D> velocity{};  ///< momentum by mass; 0 where nothing is
};

/// Everything that changes with time, on the host: what a checkpoint holds. By particle: the fluid's, then solutes.
/// Restored to a simulation with the same options and masses on the same device, a run with fixed sums goes on with
/// the same bits.
template <typename T, int D>
struct srd_state {
  std::uint64_t step = 0;
  std::vector<vec<T, D>> positions{};
  std::vector<vec<T, D>> velocities{};  ///< after the collision of the step
};

/// A simulation: owns the particles in the memory of its context. Move-only. T: float or double; D: 2 or 3; Context:
/// cpu_context or cuda_context.
///
/// A step is one pass over the particles and one over the cells: the first ends the collision of the step before,
/// streams, and adds up the cells of the next one; the second turns the sums of cells into what their particles need.
/// Velocities in memory therefore wait for their collision. What is shown is always the state after it.
///
/// Determinism: with fixed sums the same bits in every run, with any number of threads and any `sort_every`. A cell
/// then has room for 64 times the mean number of particles, and for 1024; more are a fault. The thermostat takes
/// particles to be no faster than 16 thermal speeds along each axis. With floating sums none.
template <typename Context, typename T, int D>
class srd {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Copies from the host and synchronises. Throws argument_error for impossible options, masses and counts (2^31 - 1
  /// particles and cells are possible), for floating sums where the context asks for determinism, and for fixed sums
  /// that would resolve the mass, thermal momentum or thermal energy of the lightest particle to less than 2^-20 of it;
  /// data_error for a position that is not finite or outside the box, and a velocity that is not finite (naming the
  /// first).
  srd(const Context& context, const srd_options<D>& options, const srd_particles<D>& particles);
  srd(srd&&) noexcept;
  srd& operator=(srd&&) noexcept;
  ~srd();

  /// Enqueues steps, asynchronously on the context's stream (on the CPU they have finished on return); on CUDA several
  /// at a time are a captured graph. Allocates nothing after the first call. Never throws for bad data: see check.
  void advance(std::size_t steps);

  /// Waits for the steps and throws data_error when the run blew up, naming step and particle or cell: a velocity that
  /// is not finite, a move by more than the longest edge of the box and 32 thermal steps at once, or, with fixed sums,
  /// a cell with more particles than its sums have room for. The simulation stays invalid until restore.
  void check();

  /// The next ones synchronise and throw what check throws.
  [[nodiscard]] srd_statistics<D> measure();
  /// By particle: the fluid's, then solutes.
  [[nodiscard]] std::vector<vec<T, D>> positions();
  [[nodiscard]] std::vector<vec<T, D>> velocities();
  [[nodiscard]] srd_state<T, D> state();
  /// The box in slices of equal width across the axis. Velocities are those of particles now: under a body force the
  /// mean over a step is h g / 2 less. Throws argument_error for an axis that is not there, and for less than 1 or more
  /// than 65536 bins.
  [[nodiscard]] std::vector<srd_profile_bin<D>> velocity_profile(int axis, int bins);
  /// The amplitude of the shear wave: twice the mean over the fluid of v_x sin(2 pi y / L). 0 without particles.
  [[nodiscard]] double shear_amplitude();

  /// Goes back to a state. Synchronises. Throws argument_error when counts differ; data_error as the constructor.
  void restore(const srd_state<T, D>& state);
  /// Puts the solutes elsewhere, as a program that moves them by forces of its own does between steps. Synchronises.
  /// Throws argument_error when there are not as many as solutes; data_error as the constructor, and what check throws.
  void set_solutes(std::span<const vec<T, D>> positions, std::span<const vec<T, D>> velocities);

  /// Steps enqueued, from the step of the state that was restored.
  [[nodiscard]] std::uint64_t step() const;
  /// Number of particles, solutes included.
  [[nodiscard]] std::size_t size() const;
  /// Solutes alone.
  [[nodiscard]] std::size_t solutes() const;
  /// Upper corner of the box; the lower one is 0.
  [[nodiscard]] vec<double, D> box_size() const;
  /// Bytes of the context's memory in use.
  [[nodiscard]] std::size_t bytes() const;
  /// With everything that was left out filled in.
  [[nodiscard]] const srd_options<D>& options() const;
  [[nodiscard]] const Context& context() const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

/// How a viscosity is measured: shear waves decay as exp(-nu k^2 t), k = 2 pi / L; the decay is taken from
/// `first` to `last` times 1 / (nu k^2), nu from theory.
struct srd_viscosity_protocol {
  std::size_t runs = 8;    ///< seeds options.seed, options.seed + 1, ...
  double amplitude = 0.5;  ///< of the wave, in sqrt(kT / m)
  double first = 0.1;
  double last = 1;
};

struct srd_viscosity {
  double mean = 0;            ///< kinematic, over all runs
  double standard_error = 0;  ///< of the mean, from their scatter; 0 for one run
  std::uint64_t steps = 0;    ///< of one run
};

/// Measures the viscosity of the fluid, in a box without walls, of about particles_per_cell * (number of cells)
/// particles. Synchronises. Throws argument_error for impossible options and protocols.
template <typename Context, typename T, int D>
[[nodiscard]] srd_viscosity measure_viscosity(const Context& context, const srd_options<D>& options,
                                              double particles_per_cell, const srd_viscosity_protocol& protocol = {});

}  // namespace quadrat
