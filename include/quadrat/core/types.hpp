// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/core/macros.hpp"

namespace quadrat {

/// Index of a particle, zero-based. One context holds fewer than 2^31 particles.
using particle_id = std::uint32_t;

/// Number of a cell (or bucket), zero-based. A cell list has at most 2^31 of them.
using cell_id = std::uint32_t;

/// Marks "no particle" in links and look-ups.
inline constexpr particle_id no_particle = 0xffffffffu;

/// The largest number of particles, and of cell numbers, that one structure holds.
inline constexpr std::uint64_t max_count = (std::uint64_t{1} << 31) - 1;

/// The largest number of cells of a grid of which only the occupied ones are stored (the cell list `hashed`).
inline constexpr std::uint64_t max_sparse_count = std::uint64_t{1} << 62;

/// How reproducible a result must be.
enum class determinism {
  none,        ///< As fast as possible; the order of atomic operations may change the last bits.
  run_to_run,  ///< Same input, device and build give the same bits, for any timing and number of threads.
  canonical    ///< Sums run in order of particle id: method, walking order and storage order make no difference.
};

}  // namespace quadrat
