// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// The most bytes of shared memory that a block may have on chips of the compute capability that the environment
/// variable QUADRAT_LEAST_ARCHITECTURE names, such as "80" for 8.0. Null or empty: the largest number. Throws
/// argument_error for others than wheels have code for.
[[nodiscard]] std::size_t shared_memory_named(const char* architecture);

/// The most bytes of shared memory that a block may have on the context's device, and on that architecture. So a newer
/// device chooses as an older one does.
[[nodiscard]] std::size_t shared_memory_of_block(const cuda_context& context);

}  // namespace quadrat::detail
