// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/method.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/tune/explanation.hpp"

/// Grains in a closed box: the particles model of S. Green ("CUDA particles", 2008), used as the application in
/// uniform-grid-atomics (section 3). Grains have unit mass and equal radius r. One step is
///   1. v += g dt, times the global damping; x += v dt; a component nearer than r to a face of the box is put back to
///      distance r, and its velocity is multiplied by the wall restitution;
///   2. the cell list is built;
///   3. for every j closer than 2 r, with d the distance, n = (x_j - x_i) / d and u = v_j - v_i,
///      v_i += -k (2r - d) n + c u + s (u - (u.n) n) + a (x_j - x_i), with all terms from the old state. There is no
///      dt: as a force, the spring constant is k / dt. The collider sphere acts by the same law, at rest, from distance
///      radius + r.
namespace quadrat {

/// A fixed sphere that grains collide with.
struct granular_collider {
  std::array<double, 3> center{};
  double radius = 0;
};

/// The constants of the model: lengths are in the unit of the box, times in that of time_step, masses in grain masses.
/// The defaults are Green's.
struct granular_parameters {
  double radius = 1.0 / 64;
  double time_step = 0.5;
  std::array<double, 3> gravity{0, -3e-4, 0};
  double spring = 0.5;             ///< k
  double damping = 0.02;           ///< c
  double shear = 0.1;              ///< s
  double attraction = 0;           ///< a
  double global_damping = 1;       ///< factor on every velocity in every step
  double wall_restitution = -0.5;  ///< factor on the velocity component at a wall
  std::optional<granular_collider> collider{};
};

/// Throws argument_error for the first constant that is not finite, or not positive although it must be.
void check(const granular_parameters& parameters);

/// The initial positions of grains, at rest.
enum class granular_start {
  lattice,        ///< a cube of touching grains at the lower corner, x fastest and z slowest
  left_half,      ///< evenly spread over x < middle of the box, overlapping if necessary: the paper's wave
  uniform_random  ///< independent uniform positions; overlaps are likely
};

/// As a number of grains: all of them.
inline constexpr std::size_t granular_all = static_cast<std::size_t>(-1);

/// Positions of `count` grains, identical on every platform. Lattice and left half add a uniform jitter of +-(jitter x
/// radius) to each coordinate. Throws argument_error if the box cannot hold the lattice (saying how many grains it
/// would hold), or is smaller than a grain. With `first` and `number`, only those of the grains [first, first +
/// number), as far as they exist.
[[nodiscard]] std::vector<vec<double, 3>> granular_initial_positions(granular_start start, std::size_t count,
                                                                     double radius, const std::array<double, 3>& lower,
                                                                     const std::array<double, 3>& upper,
                                                                     double jitter = 0.01, std::uint64_t seed = 1,
                                                                     std::size_t first = 0,
                                                                     std::size_t number = granular_all);

/// A method of running the model. All methods have the determinism level run_to_run or higher.
using granular_method = method_info;

/// All methods: every cell list of the library, and engines written for this model.
[[nodiscard]] std::span<const granular_method> granular_methods();

/// The default method: the one expected to be fastest, among those with the determinism level of the context. Does not
/// wait. Allocates nothing.
[[nodiscard]] std::string_view granular_default_method(const cpu_context& context);
[[nodiscard]] std::string_view granular_default_method(const cuda_context& context);

/// The options of a simulation. If neither method nor cells are given, the model chooses them by the profile and a
/// sample of the positions. It reconsiders the choice at steps that are multiples of 512 (on CUDA with 100,000 grains
/// or more), so the choice depends on the states of the run alone (docs/concepts/choosing.md).
struct granular_options {
  granular_parameters parameters{};
  std::array<double, 3> lower{-1, -1, -1};
  std::array<double, 3> upper{1, 1, 1};
  /// Cells per axis. Default: the finest grid whose cells are not smaller than a grain.
  std::optional<std::array<int, 3>> cells{};
  std::string method{};      ///< one of granular_methods(); empty or "auto": the default of the context
  std::size_t capacity = 0;  ///< of a cell, for methods with fixed cells; 0: the method's default
  /// The model chooses by the measured times of its first steps, and again if the load has changed by a factor of two.
  /// While it tries, `advance` waits for the device. Not at run_to_run and canonical.
  bool autotune = false;
};

/// Sums and extremes over all grains at one step. Energies are totals, in units of grain mass.
struct granular_statistics {
  std::uint64_t step = 0;
  double kinetic_energy = 0;
  double contact_energy = 0;        ///< k / (2 dt) times the sum over pairs of squared overlaps (no collider)
  double gravitational_energy = 0;  ///< zero at the lower corner of the box
  double kinetic_energy_per_particle = 0;
  double mean_height = 0;              ///< mean y
  double contacts_per_particle = 0;    ///< mean number of others closer than 2 r
  double candidates_per_particle = 0;  ///< mean number of others in the 27 cells around, clipped at the box
  std::size_t largest_cell = 0;        ///< most grains in one cell
  double max_speed = 0;
};

/// The complete state, on the host: the contents of a checkpoint. Restored with the same method and device, a run
/// continues with the same bits (at `canonical`, with any method).
template <typename T>
struct granular_state {
  std::uint64_t step = 0;
  std::vector<vec<T, 3>> positions{};   ///< by particle id
  std::vector<vec<T, 3>> velocities{};  ///< by particle id
  /// The id of the grain in each slot of memory, if the method reorders grains; empty: slot = id.
  std::vector<particle_id> storage_order{};
  std::string variant{};  ///< the chosen variant; empty: none, or to be chosen again
};

template <typename Context, typename T>
class granular_engine;

/// A simulation: owns the grains in the memory of its context. Move-only. T: float or double; Context: cpu_context or
/// cuda_context.
///
/// Determinism is that of the context: with `none`, the order of sums depends on the atomic operations; with
/// `run_to_run`, each cell list has an order that is independent of timing and threads; with `canonical`, the forces on
/// a grain are added in order of the other grain's id, which gives the same bits for every method. Sorting the contacts
/// of each grain costs time: with 16 contacts per grain a step takes 3 to 7 times as long on a GPU, and a few percent
/// longer on a CPU.
template <typename Context, typename T>
class granular {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// Places the grains (velocities empty: at rest). Copies from the host and synchronizes. Throws argument_error for
  /// impossible options, an unknown method (naming the valid ones), a method that the backend lacks, cells smaller than
  /// a grain, differing counts, more than 2^31 - 1 grains, and autotune at run_to_run or canonical; data_error for a
  /// position that is not finite or outside the box (naming the first).
  granular(const Context& context, const granular_options& options, std::span<const vec<double, 3>> positions,
           std::span<const vec<double, 3>> velocities = {});

  /// Enqueues time steps. Does not wait (on the CPU they are finished on return). On CUDA a step is a captured graph.
  /// Allocates nothing after the first step. Both with one exception: where the model goes over to another choice,
  /// after steps that are multiples of 512 (on CUDA with 100,000 grains or more), and with options.autotune. Never
  /// throws for bad data: see check.
  void advance(std::size_t steps);

  /// Waits for the steps. Allocates nothing. Throws for the first fault: data_error if the run blew up, naming step and
  /// grain (a velocity that is not finite, or a move across half of the box within one step); overflow_error if a fixed
  /// cell was too small. The simulation then stays invalid until restore.
  void check();

  /// The next four wait, and may allocate. They throw what check throws.
  [[nodiscard]] granular_statistics measure();
  /// By particle id.
  [[nodiscard]] std::vector<vec<T, 3>> positions();
  [[nodiscard]] std::vector<vec<T, 3>> velocities();
  [[nodiscard]] granular_state<T> state();

  /// Restores a state of any run with the same number of grains. Waits. May allocate. Throws argument_error if the
  /// counts differ or the storage order is invalid; data_error as the constructor.
  void restore(const granular_state<T>& state);

  /// Number of steps enqueued, counted from the step of a restored state.
  [[nodiscard]] std::uint64_t step() const;
  [[nodiscard]] std::size_t size() const;
  /// Bytes of the context's memory in use: grains and cell list.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const grid<T, 3>& space() const;
  /// The options in use, with defaults filled in. `method` changes with the model's choice; cells stay those of the
  /// finest grid, to which statistics refer.
  [[nodiscard]] const granular_options& options() const;
  /// The choices, their steps and their reasons.
  [[nodiscard]] quadrat::explanation explanation() const;
  [[nodiscard]] const Context& context() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
