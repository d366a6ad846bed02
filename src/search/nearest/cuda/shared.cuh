// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "search/nearest/cuda/lane_list.cuh"
#include "search/nearest/tree.hpp"

namespace quadrat::detail {

/// The shared memory of a warp.
template <typename T, int D, typename Key>
struct nearest_shared {
  /// Candidates that a lane keeps until they are merged. Lanes find theirs in different leaves, and a batch costs the
  /// same for one lane as for all. 16 would need twice as many batches.
  static constexpr int most = 32;
  lane_entry<T, Key> queue[most][32];
  /// The points of a round of leaves, one loaded by each lane: one 16-byte load each if T is float and D = 3.
  struct alignas((D + 1) * sizeof(T) <= 16 ? 16 : 32) staged_point {
    vec<T, D> at;
    particle_id id;
  };
  static constexpr unsigned leaves = 32 / nearest_width;
  staged_point points[leaves][nearest_width];
};

}  // namespace quadrat::detail
