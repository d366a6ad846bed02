// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

/// Keys of rows: `median_ms` is the time of set_keys followed by reduce, and `graph_ms` the same in a captured CUDA
/// graph. `kept_ms` and `kept_graph_ms` are the times of reduce alone, with keys set once for several uses;
/// `set_keys_ms` and `set_keys_graph_ms` those of setting them. Results are overwritten, so clearing is included.
/// `floor_ms` is one read of keys and values and one write of results at the speed of copies.

namespace quadrat::bench {

/// Sums in the paper's three orders of keys by every method and the automatic choice.
void run_keyed_reach(const session& s);
/// The paper's experiment: its methods, with every variant of finding and combining peers.
void run_keyed_paper(const session& s);
/// The automatic choice against the best method, on a hundred combinations of order, sizes and types.
void run_keyed_auto(const session& s);
/// Ten elements per key, from 10^4 elements to 10^8.
void run_keyed_sizes(const session& s);
/// Sums, counts and means on the CPU compared with a plain loop of one thread; `times_plain_loop` is the speedup.
void run_keyed_host(const session& s);
/// Reproducible and compensated sums.
void run_keyed_deterministic(const session& s);

}  // namespace quadrat::bench
