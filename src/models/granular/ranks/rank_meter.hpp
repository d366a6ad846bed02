// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "distributed/particles/rows_by_id.hpp"
#include "models/granular/ranks/grains_of_rank.hpp"
#include "quadrat/models/granular.hpp"

/// Results from the grains of all ranks, without gathering them on one.
namespace quadrat::detail {

/// A grain on its way to another rank.
template <typename T>
struct sent_grain {
  vec<T, 3> position;
  vec<T, 3> velocity;
  particle_id id;
};

/// The own grains as rows, in the memory of the context.
template <typename Context, typename T>
[[nodiscard]] array<sent_grain<T>, Context> rows_of_grains(const Context& context,
                                                           const grains_of_rank<Context, T>& grains);

/// The grains of consecutive ids (keys_of_rank) of all ranks' grains, in order of id, in host memory. Collective.
template <typename Context, typename T>
[[nodiscard]] granular_state<T> grains_by_id(const Context& context, communicator& ranks,
                                             const grains_of_rank<Context, T>& grains, std::size_t count);

/// The statistics of all grains, on every rank: each rank measures its own, with the grains in the cells around theirs.
/// At `canonical` the sums have the bits of granular_meter on one rank; otherwise they are those of ranks, added in
/// order of rank. Memory is proportional to the grains of a rank, and is released. Collective; synchronizes.
template <typename Context, typename T>
[[nodiscard]] granular_statistics measure_ranks(const Context& context, communicator& ranks,
                                                const granular_setup<T>& setup, const granular_parameters& parameters,
                                                const grains_of_rank<Context, T>& grains);

}  // namespace quadrat::detail
