// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat::program {

/// This process among others, from the environment that mpirun or srun set up. Works before MPI is initialized. For a
/// single process, ranks are 0 and numbers 1.
struct process_place {
  int rank = 0;
  int local_rank = 0;   ///< among the processes of this machine
  int local_ranks = 1;  ///< processes of this machine
};

[[nodiscard]] const process_place& place_of_process();

/// Whether this process prints: only rank 0 does.
[[nodiscard]] inline bool speaks() { return place_of_process().rank == 0; }

}  // namespace quadrat::program
