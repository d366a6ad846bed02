// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "program/device_options.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/distributed/communicator.hpp"

namespace quadrat::program {

/// Whether the work has several ranks: the processes that mpirun has started, or --devices of this process. Throws
/// backend_error if mpirun has started several processes and this build has no MPI, and argument_error for both at
/// once.
[[nodiscard]] bool wants_ranks(std::int64_t devices);

/// Calls body(ranks) on each rank. Rethrows what rank 0 throws. If another rank fails alone, its number is printed and
/// all ranks end.
void on_ranks(std::int64_t devices, const std::function<void(communicator&)>& body);

/// The number of threads of a rank on the CPU, and the device of a rank on GPUs. `threads`: those asked for; 0: all.
[[nodiscard]] int threads_of_rank(std::int64_t threads, const communicator& ranks);
[[nodiscard]] int device_of_rank(const communicator& ranks);

/// Ranks that send messages between devices by NCCL, if it is installed and each rank has its own device; otherwise
/// nullptr. Collective.
[[nodiscard]] std::unique_ptr<communicator> device_ranks(communicator& ranks, const cpu_context& context);
[[nodiscard]] std::unique_ptr<communicator> device_ranks(communicator& ranks, const cuda_context& context);

/// Calls f(context, ranks) with a context of the device of this rank, and ranks whose messages are between devices.
template <typename F>
void on_device_of_rank(const device_options& options, communicator& host, F&& f) {
  device_options chosen = options;
  chosen.threads = threads_of_rank(options.threads, host);
  chosen.number = device_of_rank(host);
  on_device(chosen, [&](const auto& context) {
    const std::unique_ptr<communicator> owned = device_ranks(host, context);
    f(context, owned == nullptr ? host : *owned);
  });
}

}  // namespace quadrat::program
