// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "quadrat/distributed/communicator.hpp"

namespace quadrat {

/// Calls body(ranks) in `count` threads of this process, each as one rank; returns when all have returned. Each body
/// makes a context of its own. On CUDA each rank has a device, or several share one, for tests. Messages between
/// devices are copied directly, in order of the streams; no thread waits for a device. Each rank has its own OpenMP
/// team, so contexts should divide the threads among them.
///
/// Throws argument_error for fewer than 1 or more than 4096 ranks. If a body throws, the communication of all other
/// ranks throws rank_error; when all have ended, the exception of the rank that failed first is rethrown.
void run_ranks(int count, const std::function<void(communicator&)>& body);

}  // namespace quadrat
