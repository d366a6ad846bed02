// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/mpi.hpp"

#include <cstdlib>
#include <string_view>

#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

bool started_as_one_of_several() {
  // Open MPI; MPICH and relatives under Hydra or PMI; Slurm's srun sets the last one for each task.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && std::atoi(value) > 1) return true;
  }
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return tasks != nullptr && std::getenv("SLURM_PROCID") != nullptr && std::atoi(tasks) > 1;
}

#if !QUADRAT_HAS_MPI

namespace {
[[noreturn]] void no_mpi() {
  throw backend_error("this build of quadrat has no MPI; configure it where MPI is found (script/bootstrap --mpi)");
}
}  // namespace

mpi_session::mpi_session() { no_mpi(); }
mpi_session::~mpi_session() = default;
void mpi_session::abort(const std::string&) { std::abort(); }
std::unique_ptr<communicator> make_mpi_communicator(const void*) { no_mpi(); }
void run_under_mpi(const std::function<void(communicator&)>&) { no_mpi(); }

#endif

}  // namespace quadrat
