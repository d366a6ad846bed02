// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "quadrat/core/context.hpp"
#include "quadrat/distributed/communicator.hpp"

namespace quadrat {

/// Whether this build knows NCCL, and the library is installed (libnccl.so.2, loaded at run time).
[[nodiscard]] bool nccl_is_there();

/// The same ranks, with messages between devices by NCCL: each rank one device, all different. They travel on a stream
/// of their own between `start` and `finish`, beside the work of the context's stream, and no thread waits for them.
/// What concerns host memory goes through `host`, which must outlive this. Collective. Throws backend_error on all
/// ranks where NCCL is not there or refuses.
[[nodiscard]] std::unique_ptr<communicator> make_nccl_communicator(communicator& host, const cuda_context& context);

}  // namespace quadrat
