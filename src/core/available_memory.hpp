// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace quadrat::detail {

/// Bytes of host memory that this process could still have, about: what the kernel of Linux has and could free, swap
/// included, within the limits of control groups (containers, batch jobs) and of the process (ulimit -v, -d). The
/// largest number where that is not known. Takes no memory itself.
[[nodiscard]] std::size_t available_host_memory() noexcept;

}  // namespace quadrat::detail
