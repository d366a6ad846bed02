// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/context.hpp"
#include "search/nearest/rows.hpp"

namespace quadrat::detail {

/// Finds the rows of all points of the tree on a CPU, one leaf at a time: one walk finds the leaves within reach of any
/// of its points, and vector instructions test each point against many candidates. The result has the same bits as one
/// row at a time.
template <typename T, int D>
void find_nearest_rows_by_leaves(const cpu_context& context, const nearest_search<T, D>& search);

}  // namespace quadrat::detail
