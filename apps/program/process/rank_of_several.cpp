// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/rank_of_several.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "quadrat/distributed/mpi.hpp"

namespace quadrat::program {
namespace {

/// The first of these variables that is set, as a number.
int first_of(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    if (const char* const value = std::getenv(name)) return std::atoi(value);
  }
  return otherwise;
}

process_place read_place() {
  process_place place;
  if (!started_as_one_of_several()) return place;
  // Open MPI, MPICH and its relatives, Slurm.
  place.rank = first_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}, 0);
  place.local_rank = first_of({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}, 0);
  place.local_ranks = std::max(first_of({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, 1), place.local_rank + 1);
  return place;
}

}  // namespace

const process_place& place_of_process() {
  static const process_place place = read_place();
  return place;
}

}  // namespace quadrat::program
