// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "quadrat/distributed/communicator.hpp"

namespace quadrat {

/// Calls body(ranks) in `count` threads of this process, each as one rank; returns when all have returned. Each makes a
/// context of its own: on CUDA a device for each rank (or one device for several, to test), between which messages are
/// copied directly, in order of the streams and without waiting for a device. OpenMP: each rank has its own team, so
/// contexts should share out the threads.
///
/// Throws argument_error for fewer than 1 or more than 4096 ranks. If a body throws, the communication of all other
/// ranks throws rank_error; when all have ended, the exception of the rank that failed first is rethrown.
void run_ranks(int count, const std::function<void(communicator&)>& body);

}  // namespace quadrat
