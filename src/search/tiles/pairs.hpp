// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "quadrat/search/cluster_pairs.hpp"

namespace quadrat::detail {

/// Bit 8 a + b: whether point a of the first group and point b of the second are nearer than the root of
/// `squared_reach`; unused places are not. Compares exactly the squared norm of neighbor_search::separation.
template <typename T, int D>
using pairs_of_groups = std::uint64_t (*)(const point_group<T, D>& from, const point_group<T, D>& to,
                                          const vec<T, D>& translation, T squared_reach);

/// The variants that this CPU can run, fastest first. All give the same bits.
template <typename T, int D>
[[nodiscard]] std::vector<pairs_of_groups<T, D>> pairs_of_groups_functions();

}  // namespace quadrat::detail
