// SPDX-License-Identifier: BSD-3-Clause
#include "program/run/ranks/ranks.hpp"

#include <omp.h>

#include <algorithm>
#include <memory>

#include "program/process/rank_of_several.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/mpi.hpp"
#include "quadrat/distributed/nccl.hpp"

namespace quadrat::program {

bool wants_ranks(std::int64_t devices) {
  const bool several = started_as_one_of_several();
  require(devices >= 1, "--devices is ", devices, "; at least 1 is needed");
  require(!several || devices == 1, "--devices is for one process; mpirun has started several");
  if (several && QUADRAT_HAS_MPI == 0) {
    throw backend_error(
        "started as one of several processes, but this build has no MPI: configure it where MPI is found "
        "(script/bootstrap --mpi), or start one process");
  }
  return several || devices > 1;
}

int threads_of_rank(std::int64_t threads, const communicator& ranks) {
  if (threads > 0) return static_cast<int>(threads);
  const int neighbors = ranks.name() == "threads" ? ranks.size() : place_of_process().local_ranks;
  return std::max(1, omp_get_max_threads() / neighbors);
}

int device_of_rank(const communicator& ranks) {
  const int local = ranks.name() == "threads" ? ranks.rank() : place_of_process().local_rank;
  const auto devices = static_cast<int>(cuda_devices().size());
  return local % std::max(devices, 1);
}

std::unique_ptr<communicator> device_ranks(communicator&, const cpu_context&) { return nullptr; }

std::unique_ptr<communicator> device_ranks(communicator& ranks, const cuda_context& context) {
  const bool mine = ranks.name() == "mpi" && nccl_is_there() &&
                    place_of_process().local_ranks <= static_cast<int>(cuda_devices().size());
  for (const bool one : all_values(ranks, static_cast<char>(mine))) {
    if (!one) return nullptr;
  }
  return make_nccl_communicator(ranks, context);
}

}  // namespace quadrat::program
