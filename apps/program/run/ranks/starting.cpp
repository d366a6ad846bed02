// SPDX-License-Identifier: BSD-3-Clause
// Apart from ranks.cpp, because it needs MPI; only the program uses it.
#include <exception>

#include "program/run/ranks/ranks.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "quadrat/distributed/mpi.hpp"

namespace quadrat::program {

namespace {

/// As run_ranks, but an exception is rethrown only on rank 0. A rank that fails alone ends all.
void with_processes(const std::function<void(communicator&)>& body) {
  mpi_session session;
  try {
    body(session.ranks());
  } catch (const std::exception& problem) {
    // The other ranks know of the error: rank 0 has told them to end, or all have agreed on it.
    if (session.ranks().rank() == 0) throw;
    if (!session.ranks().agreed_to_fail()) session.abort(problem.what());
  }
}

}  // namespace

void on_ranks(std::int64_t devices, const std::function<void(communicator&)>& body) {
  if (devices > 1) {
    run_ranks(static_cast<int>(devices), body);
  } else {
    with_processes(body);
  }
}

}  // namespace quadrat::program
