// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "keyed/key_engine.hpp"

namespace quadrat::detail {

/// One loop of compare and swap an element: how double sums had to be made on chips without the instruction.
/// Source: voting-and-shuffling, "Double precision atomics and warp divergence".
class cas_loop_engine : public streaming_key_engine<cuda_context, cas_loop_engine> {
 public:
  using streaming_key_engine::streaming_key_engine;

  void count(std::uint64_t* results, bool accumulate) override;
  template <typename T>
  void run(const key_reduction<T>& reduction);
};

}  // namespace quadrat::detail
