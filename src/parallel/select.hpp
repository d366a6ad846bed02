// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/context.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Lists the indices i in [0, count) with values[i] != common, in ascending order; `indices` has room for all. words[0]
/// is their number; words[1] is nonzero if a value is `bound` or more. CUDA: does not wait. Throws argument_error if
/// count exceeds 2^31 - 1.
void select_others(const cpu_context& context, const std::uint32_t* values, std::uint32_t common, std::uint32_t bound,
                   std::size_t count, std::uint32_t* indices, std::uint32_t* words, workspace<cpu_context>& scratch);
void select_others(const cuda_context& context, const std::uint32_t* values, std::uint32_t common, std::uint32_t bound,
                   std::size_t count, std::uint32_t* indices, std::uint32_t* words, workspace<cuda_context>& scratch);

}  // namespace quadrat::detail
