// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "quadrat/core/instance.hpp"
#include "quadrat/models/distributed_model.hpp"
#include "quadrat/models/granular.hpp"

namespace quadrat {

/// Whether a step first computes the grains that are ghosts elsewhere, and the others while these travel.
enum class halo_overlap {
  automatic,  ///< like `always`, except between threads with GPUs, whose messages take less time
  never,
  always
};

/// The granular model (granular.hpp) over any number of ranks: each owns the grains of a block of cells and moves them;
/// forces include ghosts of others. No rank has all grains: each measures its own, and `measure` joins them.
///
/// Grains change ranks, and ghosts are chosen, only when a grain has moved by half of the skin since the last time;
/// until then a step sends positions and velocities of ghosts and one small record for the agreement of ranks. The
/// skin follows the speed of the grains. Within a call moves are made ahead, so many steps in one call are faster.
/// Blocks are balanced by the number of grains when the imbalance has cost more than balancing. The cell list is
/// `counting`.
///
/// Determinism: at `canonical` positions, velocities and statistics have the bits of `granular` with any method, on any
/// number of ranks; terms of sums go to ranks by id, 80 bytes per grain. At `run_to_run` the same bits in every run on
/// the same number of ranks.
template <typename Context, typename T>
class distributed_granular : public distributed_model<granular<Context, T>> {
  static_assert(detail::instance<Context, T>::exists);
  using distributed_model<granular<Context, T>>::whole;

 public:
  /// The ranks give the grains, with ids in order of rank; rank 0 may give all. The communicator must outlive this.
  /// `skin` is in diameters; the skin in use is half to eight times that. `overlap` does not change the bits at
  /// `canonical`. Throws on all ranks what `granular` throws; argument_error for methods other than "counting" (or
  /// none), and for a skin that is negative or not finite.
  distributed_granular(const Context& context, communicator& ranks, const granular_options& options,
                       std::span<const vec<double, 3>> positions, std::span<const vec<double, 3>> velocities = {},
                       double skin = 0.5, halo_overlap overlap = halo_overlap::automatic);

  /// On each rank the state of consecutive ids, those of keys_of_rank(size(), rank, ranks), so that no rank holds all.
  /// Waits. May allocate. Throws what check throws.
  [[nodiscard]] granular_state<T> share();
  /// Restores the state that the ranks give, consecutive ids in order of rank: what `share` gave on any number of
  /// ranks, or rank 0 all of it and others none. The step is that of rank 0; the storage order is not used. Waits. May
  /// allocate. Throws what granular::restore throws, on all ranks.
  void restore(const granular_state<T>& state);
};

}  // namespace quadrat
