// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

/// What the rows say: `median_ms` is the time of set_keys and reduce together, called one after the other; `graph_ms`
/// the same in a captured CUDA graph; `kept_ms` and `kept_graph_ms` that of reduce alone, with keys that were set once
/// for several uses; `set_keys_ms` and `set_keys_graph_ms` that of setting them so. Results are overwritten: clearing
/// is inside. `floor_ms` is one read of keys and values and one write of results at the speed of copies.

namespace quadrat::bench {

/// Sums in the paper's three orders of keys by every method and the automatic choice.
void run_keyed_reach(const session& s);
/// The paper's experiment: its methods, with each way to find peers and each to combine them.
void run_keyed_paper(const session& s);
/// The automatic choice against the best method, on a hundred combinations of order, sizes and types.
void run_keyed_auto(const session& s);
/// Ten elements a key, from 10^4 elements to 10^8.
void run_keyed_sizes(const session& s);
/// The same bits in every run, and compensated sums.
void run_keyed_deterministic(const session& s);

}  // namespace quadrat::bench
