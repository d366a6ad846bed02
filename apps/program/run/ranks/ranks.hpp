// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "program/run/options.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/io/scene.hpp"

namespace quadrat::program {

/// Whether a run is to have several ranks: the processes that mpirun has started, or --devices of this process. Throws
/// backend_error where mpirun has started several processes and this build has no MPI, argument_error for both at once.
[[nodiscard]] bool wants_ranks(const run_options& options);

/// Calls body(ranks) on each of them. What rank 0 throws is thrown here; if another one fails alone, it is named and
/// all end.
void on_ranks(const run_options& options, const std::function<void(communicator&)>& body);

/// The threads of one rank of a run on the CPU, and the device of one on GPUs.
[[nodiscard]] int threads_of_rank(const io::run_table& run, const communicator& ranks);
[[nodiscard]] int device_of_rank(const communicator& ranks);

/// Ranks whose messages between devices go by NCCL, if that is there and each rank has a device of its own; otherwise
/// none. Collective.
[[nodiscard]] std::unique_ptr<communicator> device_ranks(communicator& ranks, const cpu_context& context);
[[nodiscard]] std::unique_ptr<communicator> device_ranks(communicator& ranks, const cuda_context& context);

}  // namespace quadrat::program
