// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// Stochastic rotation dynamics (SRD, a kind of multi-particle collision dynamics, MPC): a fluid of point particles, in
/// any consistent units. A step of length h
///   streams: x += h v + h^2 g / 2, v += h g, where g is the acceleration by a body force; a particle that hits a solid
///     wall bounces back, v -> 2 V - v with V the velocity of the wall (no slip);
///   collides: cells of edge a, all shifted by one vector that is uniform in [0, a) along each axis, rotate the
///     velocities of their particles relative to their mass-weighted mean u, v -> u + s R (v - u). R rotates by the
///     angle alpha about an axis that each cell draws uniformly from the sphere (3D), or by +alpha or -alpha (2D).
///     Without a thermostat s = 1, and mass, momentum and energy of a cell are conserved. With it, s makes the kinetic
///     energy relative to u a sample of the Gamma distribution of shape D (n - 1) / 2 and scale kT, where n is the
///     number of particles (Maxwell-Boltzmann scaling; Huang, Chatterji, Sutmann, Gompper, Winkler 2010). Cells with
///     one particle do nothing.
/// Cells cut by a wall, the first and the last of the shifted grid along its axis, are filled up with ghosts to the
/// mean number of the fluid (Lamura, Gompper, Ihle, Kroll 2001): particles at the temperature kT and with the wall's
/// mean velocity, of which only the sums are drawn. n includes them; less than one counts as one. A cell cut by two
/// walls belongs to the wall of the first axis. Solutes are point particles with individual masses that stream and
/// collide like those of the fluid.
///
/// The box is [0, cells * cell_edge] along each axis. Random numbers are Philox's, keyed by seed, step and cell: a run
/// does not depend on the number of threads or the order in memory, except as `srd_sums` states.
namespace quadrat {

/// The arithmetic of sums over cells.
enum class srd_sums {
  automatic,  ///< floating on CUDA if the context requires no determinism, fixed otherwise
  floating,   ///< in the precision of the run: the order of additions affects the last bits
  fixed       ///< in 64-bit fixed point, to about 12 digits: the same bits for any order and number of threads;
              ///< refused if the common scale of all cells is too coarse for the lightest particle
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
  vec<bool, D> periodic = vec<bool, D>::filled(true);  ///< non-periodic axes have a solid wall at each end
  /// Velocities of the lower and the upper wall of each axis; zero along the axis itself.
  std::array<std::array<vec<double, D>, 2>, static_cast<std::size_t>(D)> wall_velocity{};
  vec<double, D> acceleration{};  ///< g
  double particles_per_cell = 0;  ///< number to which ghosts fill cells; 0: the mean number of the fluid
  std::uint64_t seed = 1;         ///< of collisions and of srd_start
  std::size_t sort_every = 0;     ///< steps between sorts by cell; 0: srd_default_sort_every
  srd_sums sums = srd_sums::automatic;
};

inline constexpr std::size_t srd_default_sort_every = 100;

/// Particles on the host: first the fluid's, then one solute per mass.
template <int D>
struct srd_particles {
  std::vector<vec<double, D>> positions{};   ///< inside the box
  std::vector<vec<double, D>> velocities{};  ///< as many
  std::vector<double> solute_masses{};
};

/// An initial state: `count` particles of the fluid, and the solutes, uniform in the box; Maxwell-Boltzmann velocities,
/// shifted and scaled to momentum 0 and kinetic energy D (number - 1) kT / 2 (0 for one particle). Throws
/// argument_error for impossible options, masses and counts.
template <int D>
[[nodiscard]] srd_particles<D> srd_start(const srd_options<D>& options, std::size_t count,
                                         std::span<const double> solute_masses = {});

/// Adds the shear wave v_x += amplitude sin(2 pi y / L), where L is the length of the box along y.
template <int D>
void add_shear_wave(const srd_options<D>& options, double amplitude, srd_particles<D>& particles);

/// Transport coefficients of the fluid without walls, from theory: Gompper, Ihle, Kroll, Winkler 2009, table 1. Assumes
/// molecular chaos: in 3D, accurate to 1 to 3 % for the viscosity; at small time steps the diffusion is higher. In 2D,
/// add srd_long_time_tail.
struct srd_transport {
  double kinetic_viscosity = 0;      ///< momentum carried by streaming
  double collisional_viscosity = 0;  ///< momentum transferred by collisions
  double viscosity = 0;              ///< kinematic, the sum of both, without the thermostat
  /// The viscosity with the thermostat; equal to `viscosity` if the options have none. The thermostat erases the energy
  /// of a cell, and with it some of the momentum flux, which matters with few particles per cell. (Derived here, under
  /// the same assumption; for up to a million particles per cell.)
  double viscosity_with_thermostat = 0;
  double self_diffusion = 0;
};

/// At this mean number of particles per cell. Throws argument_error for impossible options, or a number not above 0.
template <int D>
[[nodiscard]] srd_transport srd_theory(const srd_options<D>& options, double particles_per_cell);

/// In 2D molecular chaos does not hold: a particle's momentum returns to it with the vortices that it makes, and the
/// viscosity of a flow that varies over a length L (a wavelength) grows with L. Returns the excess over the theory: kT
/// / (16 pi rho nu) ln(L / 4 a), with rho = m M / a^2 and nu the theoretical viscosity, thermostat included; 0 below L
/// = 4 a, and in 3D. The prefactor is from mode coupling (Forster, Nelson, Stephen 1977); the 4 was measured
/// (docs/guides/srd.md). A deviation of a few percent remains. Throws what srd_theory throws, and argument_error for a
/// length not above 0.
template <int D>
[[nodiscard]] double srd_long_time_tail(const srd_options<D>& options, double particles_per_cell, double length);

/// Sums over all particles at one step.
template <int D>
struct srd_statistics {
  std::uint64_t step = 0;
  double time = 0;
  double kinetic_energy = 0;
  vec<double, D> momentum{};
  /// kT, from velocities relative to the mean of their cell (in the unshifted grid), over all cells with two or more
  /// particles; 0 without such cells.
  double temperature = 0;
  double particles_per_cell = 0;  ///< mean number, solutes included
};

/// One slice of a box.
template <int D>
struct srd_profile_bin {
  double center = 0;          ///< along the axis
  std::uint64_t count = 0;    ///< of particles, solutes included
  double density = 0;         ///< particles per volume (per area in 2D)
  vec<double, D> velocity{};  ///< momentum per mass; 0 if empty
};

/// The complete state, on the host: the contents of a checkpoint. By particle: the fluid's, then solutes. Restored to a
/// simulation with the same options and masses on the same device, a run with fixed sums continues with the same bits.
template <typename T, int D>
struct srd_state {
  std::uint64_t step = 0;
  std::vector<vec<T, D>> positions{};
  std::vector<vec<T, D>> velocities{};  ///< after the collision of the step
};

/// A simulation: owns the particles in the memory of its context. Move-only. T: float or double; D: 2 or 3; Context:
/// cpu_context or cuda_context.
///
/// A step is one pass over the particles and one over the cells. The first completes the collision of the previous
/// step, streams, and sums over the cells of the next collision; the second turns these sums into the mean velocity and
/// rotation of each cell. Velocities in memory are therefore those before the collision; everything returned is the
/// state after it.
///
/// Determinism: with fixed sums, the same bits in every run, for any number of threads and any `sort_every`; a cell
/// then holds up to 64 times the mean number of particles, and at least 1024: more are a fault. The thermostat assumes
/// that particles are not faster than 16 thermal speeds along each axis. With floating sums: none.
template <typename Context, typename T, int D>
class srd {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Copies from the host and synchronizes. Throws argument_error for impossible options, masses and counts (at most
  /// 2^31 - 1 particles and one per position cells), for floating sums if the context requires determinism, and for
  /// fixed sums whose resolution is coarser than 2^-20 of the mass, thermal momentum or thermal energy of the lightest
  /// particle; data_error for a position that is not finite or outside the box, and a velocity that is not finite
  /// (naming the first).
  srd(const Context& context, const srd_options<D>& options, const srd_particles<D>& particles);

  /// Enqueues steps. Does not wait (on the CPU they are finished on return); on CUDA several at a time form a captured
  /// graph. Allocates nothing after the first call. Never throws for bad data: see check.
  void advance(std::size_t steps);

  /// Waits for the steps. Allocates nothing. Throws data_error if the run blew up, naming step and particle or cell: a
  /// velocity that is not finite, a move by more than the longest edge of the box and 32 thermal steps at once, or,
  /// with fixed sums, a cell with more particles than its sums have room for. The simulation then stays invalid until
  /// restore.
  void check();

  /// The next functions wait, and may allocate. They throw what check throws.
  [[nodiscard]] srd_statistics<D> measure();
  /// By particle: the fluid's, then solutes.
  [[nodiscard]] std::vector<vec<T, D>> positions();
  [[nodiscard]] std::vector<vec<T, D>> velocities();
  [[nodiscard]] srd_state<T, D> state();
  /// The box in slices of equal width across the axis. Velocities are the current ones: under a body force, the mean
  /// over a step is lower by h g / 2. Throws argument_error for an axis that does not exist, and for less than 1 or
  /// more than 65536 bins.
  [[nodiscard]] std::vector<srd_profile_bin<D>> velocity_profile(int axis, int bins);
  /// The amplitude of the shear wave: twice the fluid's mean of v_x sin(2 pi y / L). 0 without particles.
  [[nodiscard]] double shear_amplitude();

  /// Restores a state. Waits. May allocate. Throws argument_error if counts differ; data_error as the constructor.
  void restore(const srd_state<T, D>& state);
  /// Sets positions and velocities of the solutes, for programs that move them between steps. Waits. May allocate.
  /// Throws argument_error if the counts are not the number of solutes; data_error as the constructor, and what check
  /// throws.
  void set_solutes(std::span<const vec<T, D>> positions, std::span<const vec<T, D>> velocities);

  /// Number of steps enqueued, counted from the step of a restored state.
  [[nodiscard]] std::uint64_t step() const;
  /// The number of particles, including solutes.
  [[nodiscard]] std::size_t size() const;
  /// Number of solutes.
  [[nodiscard]] std::size_t solutes() const;
  /// Upper corner of the box; the lower one is 0.
  [[nodiscard]] vec<double, D> box_size() const;
  /// Bytes of the context's memory in use.
  [[nodiscard]] std::size_t bytes() const;
  /// The options in use, with defaults filled in.
  [[nodiscard]] const srd_options<D>& options() const;
  [[nodiscard]] const Context& context() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

/// The measurement of a viscosity: shear waves decay as exp(-nu k^2 t), k = 2 pi / L; the decay is measured from
/// `first` to `last`, in units of 1 / (nu k^2) with nu from theory.
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

/// Measures the viscosity of the fluid, in a box without walls, with about particles_per_cell * (number of cells)
/// particles. Waits. May allocate. Throws argument_error for impossible options and protocols.
template <typename Context, typename T, int D>
[[nodiscard]] srd_viscosity measure_viscosity(const Context& context, const srd_options<D>& options,
                                              double particles_per_cell, const srd_viscosity_protocol& protocol = {});

}  // namespace quadrat
