// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "quadrat/core/instance.hpp"
#include "quadrat/models/brownian.hpp"
#include "quadrat/models/distributed_model.hpp"

namespace quadrat {

/// Brownian dynamics (brownian.hpp) over any number of ranks: each owns the spheres of a block of cells; the mobility
/// is that of all (distributed/mobility.hpp), by the method `split`, or `free`. Forces are those of the options. The
/// repulsion acts between own spheres and ghosts; a sphere is a ghost on every rank with a sphere bonded to it, however
/// long the bond is. Spheres change ranks, and ghosts are chosen, when one has moved by half of a skin, in a midpoint
/// step also at the middle. Each rank has the list of all bonds.
///
/// Random numbers depend on the number of the sphere and on the mode. Moves equal those of one rank within rounding, so
/// trajectories diverge as with another precision. Determinism: with run_to_run the same bits in every run on the same
/// number of ranks.
template <typename Context, typename T>
class distributed_brownian : public distributed_model<brownian<Context, T>> {
  static_assert(detail::instance<Context, T, 3>::exists);

 public:
  /// Rank 0 gives all positions; others give none. Options are the same on all ranks. The communicator must outlive
  /// this. Throws on all ranks what `brownian` throws; argument_error for methods that distributed_mobility does not
  /// have.
  distributed_brownian(const Context& context, communicator& ranks, const brownian_options& options,
                       std::span<const vec<double, 3>> positions);

  /// The report of the mobility that the steps use; for "free" only the method.
  [[nodiscard]] mobility_report mobility() const;
};

}  // namespace quadrat
