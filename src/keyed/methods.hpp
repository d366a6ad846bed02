// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "keyed/atomic/atomic.hpp"
#include "keyed/atomic/runs.hpp"
#include "keyed/atomic/shared_bins.hpp"
#include "keyed/atomic/warp_peers.hpp"
#include "keyed/fixed_point/engine.hpp"
#include "keyed/papers/cas_loop.hpp"
#include "keyed/papers/linked_lists.hpp"
#include "keyed/partitioned.hpp"
#include "keyed/private_tables.hpp"
#include "keyed/sorted/ordered.hpp"
#include "keyed/sorted/sort_reduce.hpp"
#include "quadrat/core/method_list.hpp"

namespace quadrat::detail {

/// The kind of method, in messages.
inline constexpr std::string_view key_method_kind = "method of keyed reduction";

/// All methods of keyed reduction: their descriptors are in the headers of their engines (core/method_choice.hpp). To
/// add one, write an engine in its own file and add a line here.
using key_method_list = method_list<atomic_method, cas_loop_method, warp_peers_method, shared_bins_method, runs_method,
                                    private_tables_method, partitioned_method, linked_lists_method, sort_reduce_method,
                                    ordered_method, fixed_point_method>;

}  // namespace quadrat::detail
