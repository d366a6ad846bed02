// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/method.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// Grains in a closed box: the particles model of S. Green ("CUDA particles", 2008), which is the application of
/// uniform-grid-atomics (section 3). Grains have unit mass and one radius r. One step is
///   1. v += g dt, times the global damping; x += v dt; a component beyond the box's faces minus r is put back there
///   and
///      its velocity multiplied by the wall restitution;
///   2. the cell list is built;
///   3. for every j closer than 2 r, with d the distance, n = (x_j - x_i) / d and u = v_j - v_i,
///      v_i += -k (2r - d) n + c u + s (u - (u.n) n) + a (x_j - x_i), all read in their old state. No dt: in units of
///      force, the spring is k / dt. The collider sphere acts by the same law, at rest, from its radius + r.
namespace quadrat {

/// A sphere at rest that grains collide with.
struct granular_collider {
  std::array<double, 3> center{};
  double radius = 0;
};

/// The constants of the model: lengths in the unit of the box, times in that of time_step, the mass of a grain is 1.
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
  double wall_restitution = -0.5;  ///< factor on the velocity component that met a wall
  std::optional<granular_collider> collider{};
};

/// Throws argument_error for the first constant that is not finite, or not positive where it must be.
void check(const granular_parameters& parameters);

/// How grains are placed before step 0, at rest.
enum class granular_start {
  lattice,        ///< a cube of touching grains at the lower corner, x fastest and z slowest
  left_half,      ///< evenly spread over x < middle of the box, overlapping if they must: the paper's wave
  uniform_random  ///< independent uniform positions; overlaps are likely
};

/// Names of the starts, in the order of the enumeration.
inline constexpr std::array<std::string_view, 3> granular_start_names{"lattice", "left_half", "uniform_random"};

/// Positions of `count` grains, the same numbers on every platform. Lattice and left half move each coordinate by a
/// uniform jitter of +-(jitter x radius). Throws argument_error when the box cannot hold the lattice (saying how many
/// it would hold), or a grain does not fit in the box at all.
[[nodiscard]] std::vector<vec<double, 3>> granular_initial_positions(granular_start start, std::size_t count,
                                                                     double radius, const std::array<double, 3>& lower,
                                                                     const std::array<double, 3>& upper,
                                                                     double jitter = 0.01, std::uint64_t seed = 1);

/// A way to run the model. All have the level run_to_run of determinism, or more.
using granular_method = method_info;

/// All methods: every cell list of the library, and engines that are written for this model alone.
[[nodiscard]] std::span<const granular_method> granular_methods();

/// The method that is taken when none is asked for: the one that is expected to be quickest, of those that have the
/// level of determinism of the context.
[[nodiscard]] std::string_view granular_default_method(const cpu_context& context);
[[nodiscard]] std::string_view granular_default_method(const cuda_context& context);

/// What a simulation is made of.
struct granular_options {
  granular_parameters parameters{};
  std::array<double, 3> lower{-1, -1, -1};
  std::array<double, 3> upper{1, 1, 1};
  /// Cells per axis. Left out: the finest grid whose cells are not smaller than a grain.
  std::optional<std::array<int, 3>> cells{};
  std::string method{};      ///< one of granular_methods(); empty: the default of the context
  std::size_t capacity = 0;  ///< of a cell, for the methods that fix it; 0: their own default
};

/// Sums and extremes over all grains at one step. Energies are of the whole system, in units of grain mass.
struct granular_statistics {
  std::uint64_t step = 0;
  double kinetic_energy = 0;
  double contact_energy = 0;        ///< k / (2 dt) times the squared overlaps, each pair once (no collider)
  double gravitational_energy = 0;  ///< zero at the lower corner of the box
  double kinetic_energy_per_particle = 0;
  double mean_height = 0;              ///< mean y
  double contacts_per_particle = 0;    ///< others closer than 2 r
  double candidates_per_particle = 0;  ///< others in the 27 cells around, clipped at the box
  std::size_t largest_cell = 0;        ///< most grains in one cell
  double max_speed = 0;
};

/// Everything that changes with time, on the host: what a checkpoint holds. Restored to the same method and device, a
/// run goes on with the same bits (at `canonical`, with any method).
template <typename T>
struct granular_state {
  std::uint64_t step = 0;
  std::vector<vec<T, 3>> positions{};   ///< by particle id
  std::vector<vec<T, 3>> velocities{};  ///< by particle id
  /// The id of the grain in each slot of memory, where the method moves grains; empty where slot = id.
  std::vector<particle_id> storage_order{};
};

template <typename Context, typename T>
class granular_engine;

/// A simulation: owns the grains in the memory of its context. Move-only. T: float or double; Context: cpu_context or
/// cuda_context.
///
/// Determinism is the context's: `none` leaves the order of sums to the atomic operations; `run_to_run` builds every
/// cell list in an order of its own that timing and threads do not change; `canonical` adds the forces on a grain in
/// order of the other grain's id, which gives the same bits for every method, at the cost of sorting the contacts of
/// each grain as they are found: with 16 contacts a grain the step takes 3 to 7 times as long on a GPU, and a few
/// percent longer on a CPU.
template <typename Context, typename T>
class granular {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// Places the grains (velocities empty: at rest). Copies from the host and synchronises. Throws argument_error for
  /// impossible options, an unknown method (naming the valid ones), a method that the backend lacks, cells smaller than
  /// a grain, differing counts, more than 2^31 - 1 grains; data_error for a position that is not finite or outside the
  /// box (naming the first).
  granular(const Context& context, const granular_options& options, std::span<const vec<double, 3>> positions,
           std::span<const vec<double, 3>> velocities = {});
  granular(granular&&) noexcept;
  granular& operator=(granular&&) noexcept;
  ~granular();

  /// Enqueues time steps, asynchronously on the context's stream (on the CPU they have finished on return). Allocates
  /// nothing after the first step; on CUDA the step is a captured graph. Never throws for bad data: see check.
  void advance(std::size_t steps);

  /// Waits for the steps and throws for the first thing that went wrong in them: data_error when the run blew up,
  /// naming step and grain (a velocity that is not finite, or a move across half of the box within one step);
  /// overflow_error when a fixed cell was too small. The simulation stays invalid until restore.
  void check();

  /// The next four synchronise and throw what check throws.
  [[nodiscard]] granular_statistics measure();
  /// By particle id.
  [[nodiscard]] std::vector<vec<T, 3>> positions();
  [[nodiscard]] std::vector<vec<T, 3>> velocities();
  [[nodiscard]] granular_state<T> state();

  /// Goes back to a state, of any run with as many grains. Synchronises. Throws argument_error when the counts differ
  /// or the storage order is none; data_error as the constructor.
  void restore(const granular_state<T>& state);

  /// Steps enqueued so far, from the step of the state that was restored.
  [[nodiscard]] std::uint64_t step() const;
  [[nodiscard]] std::size_t size() const;
  /// Bytes of the context's memory in use: grains and cell list.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const grid<T, 3>& space() const;
  /// With everything that was left out filled in.
  [[nodiscard]] const granular_options& options() const;
  [[nodiscard]] const Context& context() const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace quadrat
