// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace quadrat::detail {

/// About how many bytes of host memory this process could still allocate: what the Linux kernel has free or could free,
/// swap included, within the limits of control groups (containers, batch jobs) and of the process (ulimit -v, -d). The
/// largest number if that is not known. Up to 10 milliseconds old. Does not allocate.
[[nodiscard]] std::size_t available_host_memory() noexcept;

}  // namespace quadrat::detail
