// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "quadrat/distributed/communicator.hpp"

namespace quadrat::detail {

/// An existing file, opened by MPI. Collective. Throws io_error.
[[nodiscard]] std::unique_ptr<shared_file> open_mpi_file(MPI_Comm comm, const std::string& path,
                                                         const std::string& name);

}  // namespace quadrat::detail
