// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "quadrat/core/instance.hpp"
#include "quadrat/models/distributed_model.hpp"
#include "quadrat/models/granular_friction.hpp"

namespace quadrat {

/// Grains with friction (granular_friction.hpp) over any number of ranks: each owns the grains of a block of cells,
/// with the histories of their contacts, which travel with them. Ranks rebuild their neighbor lists together, when a
/// grain has moved by half of the skin; grains then change ranks, and ghosts are chosen. A step sends positions,
/// velocities and spins of ghosts, and one small record for the agreement of ranks. Both ranks of a shared contact
/// compute it.
///
/// Determinism: the bits of `granular_friction`, on any number of ranks, whatever the context requires: forces are
/// added in the order in which one rank would have sorted the grains.
template <typename Context, typename T>
class distributed_granular_friction : public distributed_model<granular_friction<Context, T>> {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// Rank 0 gives all grains; others give none. The communicator must outlive this. Throws on all ranks what
  /// `granular_friction` throws.
  distributed_granular_friction(const Context& context, communicator& ranks, const granular_friction_options& options,
                                std::span<const double> radii, std::span<const vec<double, 3>> positions,
                                std::span<const vec<double, 3>> velocities = {},
                                std::span<const vec<double, 3>> angular_velocities = {},
                                std::span<const std::uint32_t> materials = {});
};

}  // namespace quadrat
