// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "quadrat/distributed/communicator.hpp"

/// Ranks that are processes under MPI. In the library quadrat::mpi (find_package(quadrat COMPONENTS mpi)); a build
/// without MPI has the same functions, which throw backend_error.
namespace quadrat {

/// MPI of this process, from its initialization to its finalization. One at a time, in the main thread; not where the
/// caller has initialized MPI: see make_mpi_communicator.
class mpi_session {
 public:
  /// Throws backend_error where MPI is not in this build, or has been initialized or finalized before.
  mpi_session();
  /// Finalizes MPI, for which all ranks must come here; a rank that cannot must call `abort`.
  ~mpi_session();
  mpi_session(const mpi_session&) = delete;
  mpi_session& operator=(const mpi_session&) = delete;

  /// All processes.
  [[nodiscard]] communicator& ranks() { return *ranks_; }
  /// Prints "quadrat: rank 2 of 4: words" on stderr and ends all ranks with a nonzero status.
  [[noreturn]] void abort(const std::string& words);

 private:
  std::unique_ptr<communicator> ranks_;
};

/// Ranks of the caller's `MPI_Comm`, of which this is a pointer, where the caller has initialized MPI. A duplicate is
/// used, so that its messages meet no others; it must be destroyed before MPI is finalized. Collective. Throws
/// backend_error. Messages between devices go directly if this MPI says that it is aware of CUDA.
[[nodiscard]] std::unique_ptr<communicator> make_mpi_communicator(const void* mpi_comm);

/// Whether this process seems to have been started as one of several, by mpirun or srun. Without MPI.
[[nodiscard]] bool started_as_one_of_several();

/// Calls body with all processes. If it throws, the rank is named on stderr with the words of the exception, and all
/// ranks end with a nonzero status: none waits forever. An error that all have agreed on is printed once.
void run_under_mpi(const std::function<void(communicator&)>& body);

}  // namespace quadrat
