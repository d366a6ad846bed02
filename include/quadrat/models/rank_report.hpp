// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace quadrat {

/// The work of one rank of a model over ranks.
struct rank_report {
  std::uint64_t particles = 0;
  std::uint64_t ghosts = 0;
  std::uint64_t bytes_sent = 0;      ///< to other ranks
  std::uint64_t exchanges = 0;       ///< number of exchanges of particles between ranks
  std::uint64_t balances = 0;        ///< number of changes of the decomposition
  double lost_steps = 0;             ///< to imbalance: the sum over steps of (most particles of a rank / mean - 1)
  double communication_seconds = 0;  ///< in exchanges and in waiting for other ranks, on the host
};

}  // namespace quadrat
