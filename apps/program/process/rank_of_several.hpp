// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat::program {

/// What the environment that mpirun or srun set up says of this process, before MPI is initialized. All 0 or 1 for a
/// process alone.
struct process_place {
  int rank = 0;
  int local_rank = 0;   ///< among the processes of this machine
  int local_ranks = 1;  ///< processes of this machine
};

[[nodiscard]] const process_place& place_of_process();

/// Whether this process is to print: rank 0 alone speaks for all.
[[nodiscard]] inline bool speaks() { return place_of_process().rank == 0; }

}  // namespace quadrat::program
