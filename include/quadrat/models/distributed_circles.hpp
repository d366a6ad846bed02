// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "quadrat/core/instance.hpp"
#include "quadrat/models/circles.hpp"
#include "quadrat/models/distributed_model.hpp"

namespace quadrat {

/// Circles (circles.hpp) over any number of ranks: each owns the agents of a block of cells and moves them, over
/// `trimmed` rows of the cell list `counting`; agents outside the box belong to its nearest cells. Agents change ranks,
/// and ghosts are chosen, when an agent has moved by an eighth of the reach since the last time; until then a step
/// sends positions of ghosts and one small record for the agreement of ranks.
///
/// Determinism: at `canonical` the bits of `circles` on any number of ranks, including statistics; at `run_to_run` the
/// same bits in every run on the same number of ranks.
template <typename Context, typename T, int D>
class distributed_circles : public distributed_model<circles<Context, T, D>> {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Rank 0 gives all agents; others give none. The communicator must outlive this. Throws on all ranks what `circles`
  /// throws; argument_error for an order other than `trimmed` and a cell list other than `counting`.
  distributed_circles(const Context& context, communicator& ranks, const circles_options& options,
                      std::span<const vec<double, D>> positions);

  /// Takes steps as `advance` does, and adds a record of each to `records`, on all ranks: those of circles::record, but
  /// times are of the host, the agreement of ranks included. Waits. May allocate. Throws what check throws.
  int record(std::size_t steps, const std::function<int()>& wish, std::vector<circles_record>& records);
};

}  // namespace quadrat
