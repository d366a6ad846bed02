// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/models/granular.hpp"
#include "quadrat/models/rank_report.hpp"

namespace quadrat {

/// Whether a step pushes the grains that are ghosts elsewhere first, and the others while these travel.
enum class halo_overlap {
  automatic,  ///< as `always`, but not between threads with GPUs, whose messages take less time than that
  never,
  always
};

/// The granular model (granular.hpp) over any number of ranks: each owns the grains of a block of cells and moves them;
/// forces see the ghosts of others. Move-only. All calls are collective, and synchronize.
///
/// Grains change ranks, and ghosts are chosen, only when a grain has moved by half of the skin since the last time;
/// until then a step sends positions and velocities of ghosts, and one small record by which ranks agree. The skin
/// follows the speed of the grains. Moves are made ahead within a call: to take many steps in one call is faster.
/// Blocks are balanced by the number of grains when the imbalance has cost more steps than balancing does. The cell
/// list is `counting`.
///
/// Determinism: at `canonical` positions, velocities and statistics have the same bits on any number of ranks, those of
/// `granular` with any method; at `run_to_run` the same in every run on the same number of ranks.
template <typename Context, typename T>
class distributed_granular {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// Grains are those that the ranks give, with ids in order of rank: rank 0 may give all. The communicator must
  /// outlive this. `skin` is in diameters; from half of it to eight times as much are used. `overlap`: at `canonical`
  /// the bits are the same. Throws on all ranks what `granular` throws; argument_error for methods other than
  /// "counting" (or none), and for a skin that is negative or not finite.
  distributed_granular(const Context& context, communicator& ranks, const granular_options& options,
                       std::span<const vec<double, 3>> positions, std::span<const vec<double, 3>> velocities = {},
                       double skin = 0.5, halo_overlap overlap = halo_overlap::automatic);
  distributed_granular(distributed_granular&&) noexcept;
  distributed_granular& operator=(distributed_granular&&) noexcept;
  ~distributed_granular();

  /// Takes time steps. Never throws for bad data: see check.
  void advance(std::size_t steps);
  /// The same, but all ranks end together after the first step at which wish() is not 0 on any of them: it is asked
  /// once in each step, and travels with the record of the step. Returns the largest such value, or 0.
  int advance(std::size_t steps, const std::function<int()>& wish);
  /// Throws on all ranks the same data_error if the run blew up, naming step and grain.
  void check();
  /// On all ranks: each measures its own grains. At `canonical` what is added up goes to ranks by id, 80 bytes a grain.
  [[nodiscard]] granular_statistics measure();
  /// On rank 0 the state of all grains, by id; on others an empty one. A state of any number of ranks, or of
  /// `granular`, can be restored on any other.
  [[nodiscard]] granular_state<T> state();
  /// On each rank the state of consecutive ids, those of keys_of_rank(size(), rank, ranks), so that no rank holds all.
  [[nodiscard]] granular_state<T> share();
  /// Restores the state that the ranks give, consecutive ids in order of rank: what `share` gave on any number of
  /// ranks, or rank 0 all of it and others none. The step is that of rank 0; the storage order is not used. Throws what
  /// granular::restore throws, on all ranks.
  void restore(const granular_state<T>& state);

  [[nodiscard]] std::uint64_t step() const;
  /// Grains of all ranks, and of this one.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t own() const;
  /// Of all ranks, on all of them.
  [[nodiscard]] std::vector<rank_report> report();
  /// Bytes of the context's memory in use on this rank.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const granular_options& options() const;
  [[nodiscard]] const Context& context() const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace quadrat
