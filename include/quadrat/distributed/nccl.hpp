// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "quadrat/core/context.hpp"
#include "quadrat/distributed/communicator.hpp"

namespace quadrat {

/// Whether this build supports NCCL and the library is installed (libnccl.so.2, loaded at run time).
[[nodiscard]] bool nccl_is_there();

/// The same ranks, but with NCCL for messages between devices. Each rank must have a device of its own. Messages travel
/// on a separate stream between `start` and `finish`, concurrently with the work of the context's stream; no thread
/// waits for them. Messages in host memory go through `host`, which must outlive this. Collective. Throws backend_error
/// on all ranks if NCCL is missing or fails.
[[nodiscard]] std::unique_ptr<communicator> make_nccl_communicator(communicator& host, const cuda_context& context);

}  // namespace quadrat
