// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ewald/short_range/short_range.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// add_short_range for all slots by a CPU's vector instructions. `components`: memory for 4 (count + pair_lanes_beyond)
/// numbers.
template <typename T>
void sum_short_range(const cpu_context& context, const add_short_range<T>& task, T* components);

}  // namespace quadrat::detail
