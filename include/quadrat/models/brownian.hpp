// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/method.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/hydro/mobility.hpp"
#include "quadrat/models/brownian_forces.hpp"

/// Brownian dynamics of equal spheres in a fluid with hydrodynamic interactions (the fluid carries the motion of each
/// to all others), without inertia, in a periodic box and in any consistent units:
///   dx = M F dt + sqrt(2 kT) B dW, B B^T = M,
/// with the mobility M of Rotne, Prager and Yamakawa (quadrat/hydro/mobility.hpp). M has no divergence, so that the
/// equation in Ito's sense needs no drift term kT div M. The mean flow of the box vanishes.
///
/// Random numbers are functions of seed, step and sphere (or mode of the mesh): a run does not depend on the number of
/// threads or on measurements.
namespace quadrat {

/// The integration scheme of a step.
enum class brownian_scheme {
  euler_maruyama,  ///< x += h M F + sqrt(2 kT h) B z
  /// x* = x + h M F / 2 + sqrt(kT h) B z1; x += h M* F* + sqrt(kT h) B (z1 + z2), with the noise of the start of the
  /// step in both (Ito). Of second order if M is constant; more than twice as costly as euler_maruyama.
  midpoint
};

/// Names, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> brownian_scheme_names{"euler_maruyama", "midpoint"};

/// All methods of applying the mobility: those of mobility_methods(), and "free", without hydrodynamic interactions.
[[nodiscard]] std::span<const method_info> brownian_methods();

struct brownian_options {
  vec<double, 3> box{20, 20, 20};  ///< extents; the lower corner is 0
  double radius = 1;               ///< a, hydrodynamic
  double viscosity = 1;
  double temperature = 1;  ///< kT; 0: no noise
  double time_step = 0.01;
  brownian_scheme scheme = brownian_scheme::euler_maruyama;
  std::string method{};        ///< one of brownian_methods(); empty or "auto": chosen by the mobility
  double accuracy = 1e-3;      ///< of the mobility
  int most_iterations = 200;   ///< of the mobility
  std::size_t most_bytes = 0;  ///< of the mobility
  vec<double, 3> force{};      ///< on each sphere
  double repulsion = 0;        ///< constant of soft_repulsion between all spheres; 0: none
  double repulsion_range = 0;  ///< 0: 2 a
  double spring = 0;           ///< constant of harmonic_spring along the bonds
  double spring_length = 0;
  std::vector<brownian_bond> bonds{};
  std::uint64_t seed = 1;
};

/// The mobility of a sphere under a force along each axis on it and on all its images: in a periodic cube of edge L,
/// (1 - 2.8372974794806 x + 4 pi x^3 / 3) / (6 pi eta a), x = a / L. Short-time self-diffusion is kT times this, for
/// every configuration of other spheres. Throws argument_error for lengths and a viscosity that are not positive.
[[nodiscard]] vec<double, 3> periodic_self_mobility(const vec<double, 3>& box, double radius, double viscosity);

/// The root mean square move of a free sphere along an axis in one step, by noise alone.
[[nodiscard]] double brownian_move(const brownian_options& options);

/// The initial positions of spheres.
enum class brownian_start {
  lattice,         ///< simple cubic, as wide as the box allows, x fastest
  uniform_random,  ///< independent: spheres may overlap
  chains  ///< random walks from random places, with steps of spring_length, or sqrt(3 kT / spring) if that is 0
};

/// Names, in the order of the enumeration.
inline constexpr std::array<std::string_view, 3> brownian_start_names{"lattice", "uniform_random", "chains"};

/// Positions of `count` spheres, in the box. Chains have `chain_length` spheres each; the last one has the remainder.
/// Throws argument_error for impossible options and counts.
[[nodiscard]] std::vector<vec<double, 3>> brownian_positions(const brownian_options& options, brownian_start start,
                                                             std::size_t count, std::size_t chain_length = 1);
/// The bonds of such chains: each sphere with the next of its chain.
[[nodiscard]] std::vector<brownian_bond> chain_bonds(std::size_t count, std::size_t chain_length);

/// Means over all spheres at one step.
struct brownian_statistics {
  std::uint64_t step = 0;
  double time = 0;
  double mean_square_displacement = 0;  ///< since step 0, across the box's boundaries
  vec<double, 3> mean_displacement{};
  /// The diffusion in a step from the present configuration: kT times the mean square of one draw of B z, along all
  /// three axes. Its relative standard deviation is sqrt(2 / 3 N), if spheres are not close to each other.
  double short_time_diffusion = 0;
  double short_time_theory = 0;  ///< kT times the mean of periodic_self_mobility (or of a free sphere's)
  double energy = 0;             ///< of all forces between spheres, total
  int iterations = 0;            ///< of Lanczos, for that draw; 0 without
};

/// The complete state, on the host: the contents of a checkpoint. Restored to a simulation with the same options and
/// forces on the same device, a run continues with the same bits if its context requires run_to_run.
template <typename T>
struct brownian_state {
  std::uint64_t step = 0;
  std::vector<vec<T, 3>> positions{};          ///< in the box
  std::vector<vec<std::int32_t, 3>> images{};  ///< boxes crossed: unwrapped = positions + images * box
  std::vector<vec<T, 3>> origins{};            ///< positions at step 0
};

/// A simulation: owns the spheres in the memory of its context. Move-only. T: float or double; Context: cpu_context or
/// cuda_context. Determinism: that of the context, at most run_to_run.
template <typename Context, typename T>
class brownian {
  static_assert(detail::instance<Context, T, 3>::exists);

 public:
  /// Copies positions (any image of each) from the host and synchronizes. Throws argument_error for impossible options
  /// and counts, for noise below the rounding of positions in this precision, and what the mobility throws; data_error
  /// naming the first position that is not finite.
  brownian(const Context& context, const brownian_options& options, std::span<const vec<double, 3>> positions);

  /// Adds forces of one's own, for all steps to come. See brownian_pair_force and brownian_bond_force; `domain` is the
  /// box that they need. Does not wait. Allocates nothing.
  void add_force(std::unique_ptr<brownian_force<Context, T>> force);
  [[nodiscard]] const box<T, 3>& domain() const;

  /// Takes steps. Waits where the mobility does. May allocate. Throws data_error where the mobility does not converge.
  void advance(std::size_t steps);

  /// Waits for the steps. Allocates nothing. Throws data_error if the run blew up, naming step and sphere: a move that
  /// is not finite, or across half of the box in one step. The simulation then stays invalid until restore.
  void check();

  /// The next functions wait, and may allocate. They throw what check throws.
  [[nodiscard]] brownian_statistics measure();
  /// Inside the box.
  [[nodiscard]] std::vector<vec<T, 3>> positions();
  /// Since step 0, across the box's boundaries.
  [[nodiscard]] std::vector<vec<double, 3>> displacements();
  /// The total force on each sphere.
  [[nodiscard]] std::vector<vec<T, 3>> forces();
  [[nodiscard]] brownian_state<T> state();

  /// Restores a state. Waits. May allocate. Throws argument_error if counts differ; data_error as the constructor.
  void restore(const brownian_state<T>& state);

  /// Number of steps taken, counted from the step of a restored state.
  [[nodiscard]] std::uint64_t step() const;
  [[nodiscard]] std::size_t size() const;
  /// Bytes of the context's memory in use.
  [[nodiscard]] std::size_t bytes() const;
  /// The report of the mobility; for "free" only the method.
  [[nodiscard]] mobility_report report() const;
  /// The options in use, with defaults filled in.
  [[nodiscard]] const brownian_options& options() const;
  [[nodiscard]] const Context& context() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
