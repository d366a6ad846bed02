// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ewald/short_range/short_range.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// add_short_range for all slots of one system, without virials: some threads for each charge, and polynomials with a
/// fixed number of terms. Returns whether it supports this number of terms; if not, it does nothing. `row_candidates`:
/// expected in a row of cells, shared by the threads of a charge. Asynchronous.
template <typename T>
[[nodiscard]] bool enqueue_short_range(const cuda_context& context, const add_short_range<T>& task,
                                       const ewald_domain<T>& domain, double row_candidates);

}  // namespace quadrat::detail
