// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/cells/counting.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/orders.hpp"
#include "quadrat/tune/explanation.hpp"

/// Circles: the benchmark of modular-bin-strips. Massless agents, uniformly distributed at first, move toward a steady
/// state of circles (2D) or spheres (3D). With e the unit vector from agent i to agent j and d their distance, one step
/// is, with all terms from the old state,
///   original form (2016): x_i += sum over j of { -k_rep d e for d < r; k_att (2r - d) e for r <= d < 2r }, and then
///     each coordinate is clamped to [0, W - 1];
///   sine form (of today's benchmark): x_i += 1 / max(n, 1) sum over j with d < R of -k sin(2 pi d / R) e, with n the
///     number of those j, in a box [-W/2, W/2], which agents may leave.
/// Agents at the same place do not move each other (e is undefined), but are neighbors.
namespace quadrat {

enum class circles_form { original, sine };

/// Names of the forms, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> circles_form_names{"original", "sine"};

/// The constants of the model. Lengths are in the unit of the box; one step is the unit of time.
struct circles_parameters {
  circles_form form = circles_form::sine;
  double width = 100;        ///< W
  double radius = 2;         ///< original: r, half of the reach; sine: R, the reach
  double force = 0.05;       ///< sine: k
  double repulsion = 1e-3;   ///< original: k_rep
  double attraction = 1e-3;  ///< original: k_att

  /// Agents nearer than this are neighbors.
  [[nodiscard]] double reach() const { return form == circles_form::original ? 2 * radius : radius; }
};

/// The usual constants of a form: r = 5 or R = 2, W = 100.
[[nodiscard]] circles_parameters circles_defaults(circles_form form);

/// Throws argument_error for the first constant that is not finite, or not positive although it must be.
void check(const circles_parameters& parameters);

/// The number of agents in a box of width W: floor(W^D density). The usual density is 0.01 for the original form, 1 for
/// the sine form. Throws argument_error for a negative density, or one that gives more than 2^31 - 1 agents.
[[nodiscard]] std::size_t circles_count(const circles_parameters& parameters, int dimension, double density);

/// The box in which agents start, and which is divided into cells.
template <int D>
[[nodiscard]] box<double, D> circles_box(const circles_parameters& parameters);

/// `count` independent uniform positions in the box, identical on every platform.
template <int D>
[[nodiscard]] std::vector<vec<double, D>> circles_initial_positions(const circles_parameters& parameters,
                                                                    std::size_t count, std::uint64_t seed = 1);

/// The options of a simulation. If order, cell list, cells and queue are all left open, the model chooses them (below
/// the level canonical) by the profile and a sample of the positions. It reconsiders the choice at steps that are
/// multiples of 512 (on CUDA with 100,000 agents or more), so the choice depends on the states of the run alone
/// (docs/concepts/choosing.md).
struct circles_options {
  circles_parameters parameters{};
  std::string order{};      ///< of walks over neighborhoods; empty or "auto": circles_default_order
  std::string cell_list{};  ///< one of circles_cell_lists(); empty or "auto": circles_default_cell_list
  /// Cells along the reach, 1 to circles_most_cells_per_reach: the finest grid with cell edges of at least reach /
  /// cells_per_reach. The paper uses 1. 0: circles_default_cells_per_reach of the order.
  int cells_per_reach = 0;
  /// The same along x; 0: as along the other axes. Finer cells along x trim the ends of ranges more closely without
  /// adding ranges: with 4 instead of 2, trimmed reads 13 % fewer candidates in 3D.
  int cells_per_reach_x = 0;
  /// On CUDA, with order trimmed and cell list counting: model-specific kernels instead of the general walk, which
  /// queue the neighbors of an agent if cells hold few (src/models/circles/queue.hpp). Default: if possible.
  std::optional<bool> queue_neighbors = std::nullopt;
  /// The model chooses by the measured times of its first steps, and again if the load has changed by a factor of two.
  /// While it tries, `advance` waits for the device. Not at run_to_run and canonical.
  bool autotune = false;
};

/// The orders of walks over a neighborhood, and the cell lists that can keep agents in the order of their cells: those
/// whose cells are ranges of slots.
[[nodiscard]] std::span<const std::string_view> circles_orders();
[[nodiscard]] std::span<const std::string_view> circles_cell_lists();
/// Whether the order can walk over the cell list. Throws argument_error for unknown names.
[[nodiscard]] bool circles_walkable(std::string_view order, std::string_view cell_list);

inline constexpr std::string_view circles_default_order = search_orders::trimmed::name;
inline constexpr std::string_view circles_default_cell_list = cell_methods::counting::name;
inline constexpr int circles_most_cells_per_reach = 8;
/// 1 for the paper's orders; 2 for trimmed, which skips more with smaller cells. Throws argument_error for an unknown
/// name.
[[nodiscard]] int circles_default_cells_per_reach(std::string_view order);

/// Statistics of the agents at one step. Deviations are population standard deviations.
struct circles_statistics {
  std::uint64_t step = 0;
  double mean_neighbors = 0;        ///< mean number of others nearer than the reach
  double neighbor_deviation = 0;    ///< standard deviation of the number of neighbors: the paper's measure of disorder
  std::size_t most_neighbors = 0;   ///< largest number of neighbors of an agent
  double candidates_per_agent = 0;  ///< agents that a walk reads, itself included
  double mean_displacement = 0;     ///< of the next step
  double max_displacement = 0;      ///< of the next step
};

/// One step of a recorded run.
struct circles_record {
  std::uint64_t step = 0;         ///< from 1: the step from the initial to the first new positions
  double milliseconds = 0;        ///< of the whole step: cell list, walk and move
  double mean_neighbors = 0;      ///< mean number of neighbors
  double neighbor_deviation = 0;  ///< standard deviation of the number of neighbors
  double mean_displacement = 0;   ///< mean length of the step's moves
};

/// The complete state, on the host: the contents of a checkpoint.
template <typename T, int D>
struct circles_state {
  std::uint64_t step = 0;
  std::vector<vec<T, D>> positions{};        ///< by agent
  std::vector<particle_id> storage_order{};  ///< the agent in each slot of memory; empty: slot = agent
  std::string variant{};                     ///< the chosen variant; empty: none, or to be chosen again
};

template <typename Context, typename T, int D>
class circles_engine;

/// A simulation: owns the agents in the memory of its context, in the order of their cells. Move-only. T: float or
/// double; D: 2 or 3; Context: cpu_context or cuda_context.
///
/// Determinism is that of the context: with `none`, the order of sums depends on the atomic operations of the cell
/// list; with `run_to_run`, its order is independent of timing and threads, so that the same options give the same
/// bits. With `canonical` integers are summed, with terms cut to 2^-30 (float) or 2^-60 (double) of the largest
/// possible one, so that order, cell list, storage order and number of ranks make no difference. Neighbors are then not
/// queued, and nothing is chosen.
template <typename Context, typename T, int D>
class circles {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Places the agents. Copies from the host and synchronizes. Throws argument_error for impossible options, an unknown
  /// order or cell list (naming the valid ones), an order that cannot walk the cell list (naming those that it can
  /// walk), more than 2^31 - 1 agents, and autotune at run_to_run or canonical; data_error for a position that is not
  /// finite or outside the box (naming the first).
  circles(const Context& context, const circles_options& options, std::span<const vec<double, D>> positions);

  /// Enqueues steps. Does not wait (on the CPU they are finished on return). On CUDA a step is a captured graph.
  /// Allocates nothing after the first step. Both with one exception: where the model goes over to another choice,
  /// after steps that are multiples of 512 (on CUDA with 100,000 agents or more), and with options.autotune. Never
  /// throws for bad data: see check.
  void advance(std::size_t steps);

  /// The same, with each step timed (by device events on CUDA) and its neighbors counted. The walk counts them anyway;
  /// a recorded step writes 4 more bytes per agent, and the sums are taken outside the timed steps. Waits. May
  /// allocate. Throws what check throws.
  [[nodiscard]] std::vector<circles_record> record(std::size_t steps);

  /// Waits for the steps. Allocates nothing. Throws data_error if a position became not finite, naming step and agent.
  /// The simulation then stays invalid until restore.
  void check();

  /// The next four wait, and may allocate. They throw what check throws.
  [[nodiscard]] circles_statistics measure();
  /// Positions by agent.
  [[nodiscard]] std::vector<vec<T, D>> positions();
  /// Number of neighbors, by agent.
  [[nodiscard]] std::vector<std::uint32_t> neighbors();
  [[nodiscard]] circles_state<T, D> state();

  /// Restores a state of any run with the same number of agents; in the sine form they may lie outside the box. Waits.
  /// May allocate. Throws argument_error if the counts differ or the storage order is invalid; data_error for a
  /// position that is not finite, or, in the original form, outside the box.
  void restore(const circles_state<T, D>& state);

  /// Number of steps enqueued, counted from the step of a restored state.
  [[nodiscard]] std::uint64_t step() const;
  [[nodiscard]] std::size_t size() const;
  /// Bytes of the context's memory in use: agents and cell list.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const grid<T, D>& space() const;
  /// The options in use, with defaults filled in. They and `space` change with the model's choice.
  [[nodiscard]] const circles_options& options() const;
  /// The choices, their steps and their reasons.
  [[nodiscard]] quadrat::explanation explanation() const;
  [[nodiscard]] const Context& context() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
