// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "quadrat/distributed/communicator.hpp"

/// Ranks that are processes under MPI. In the library quadrat::mpi (find_package(quadrat COMPONENTS mpi)). A build
/// without MPI has the same functions; they throw backend_error.
namespace quadrat {

/// Initializes MPI in this process, and finalizes it at the end. One object at a time, in the main thread. Not for
/// callers that have initialized MPI themselves: see make_mpi_communicator.
class mpi_session {
 public:
  /// Throws backend_error if MPI is not in this build, or has been initialized or finalized before.
  mpi_session();
  /// Finalizes MPI, which needs all ranks. A rank that cannot get here must call `abort`.
  ~mpi_session();
  mpi_session(const mpi_session&) = delete;
  mpi_session& operator=(const mpi_session&) = delete;

  /// All processes.
  [[nodiscard]] communicator& ranks() { return *ranks_; }
  /// Prints "quadrat: rank 2 of 4: WORDS" on stderr and ends all ranks with a nonzero status.
  [[noreturn]] void abort(const std::string& words);

 private:
  std::unique_ptr<communicator> ranks_;
};

/// The ranks of the caller's `MPI_Comm`, to which `mpi_comm` points; the caller has initialized MPI. Uses a duplicate,
/// so that messages do not mix with the caller's. Must be destroyed before MPI is finalized. Messages between devices
/// go directly if this MPI says that it is CUDA-aware. Collective. Throws backend_error.
[[nodiscard]] std::unique_ptr<communicator> make_mpi_communicator(const void* mpi_comm);

/// Whether mpirun or srun seems to have started this process as one of several. Does not need MPI.
[[nodiscard]] bool started_as_one_of_several();

/// Calls body with all processes. If it throws, prints the rank and the exception's message on stderr, and ends all
/// ranks with a nonzero status: none waits forever. An error that all ranks have agreed on is printed once.
void run_under_mpi(const std::function<void(communicator&)>& body);

}  // namespace quadrat
