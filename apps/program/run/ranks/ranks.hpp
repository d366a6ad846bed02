// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "program/run/options.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/io/scene.hpp"

namespace quadrat::program {

/// Whether a run has several ranks: the processes that mpirun has started, or --devices of this process. Throws
/// backend_error if mpirun has started several processes and this build has no MPI, and argument_error for both at
/// once.
[[nodiscard]] bool wants_ranks(const run_options& options);

/// Calls body(ranks) on each rank. Rethrows what rank 0 throws. If another rank fails alone, its number is printed and
/// all ranks end.
void on_ranks(const run_options& options, const std::function<void(communicator&)>& body);

/// The number of threads of a rank on the CPU, and the device of a rank on GPUs.
[[nodiscard]] int threads_of_rank(const io::run_table& run, const communicator& ranks);
[[nodiscard]] int device_of_rank(const communicator& ranks);

/// Ranks that send messages between devices by NCCL, if it is installed and each rank has its own device; otherwise
/// nullptr. Collective.
[[nodiscard]] std::unique_ptr<communicator> device_ranks(communicator& ranks, const cpu_context& context);
[[nodiscard]] std::unique_ptr<communicator> device_ranks(communicator& ranks, const cuda_context& context);

}  // namespace quadrat::program
