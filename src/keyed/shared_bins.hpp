// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "keyed/key_engine.hpp"

namespace quadrat::detail {

/// Each block bins its elements in shared memory: directly where there is room for all keys, otherwise in a hash table
/// whose keys are claimed on the way. Source: voting-and-shuffling, "Performance tests" (binning with a hash function).
class shared_bins_engine : public streaming_key_engine<cuda_context, shared_bins_engine> {
 public:
  using streaming_key_engine::streaming_key_engine;

  void count(std::uint64_t* results, bool accumulate) override;
  template <typename T>
  void run(const key_reduction<T>& reduction);
};

}  // namespace quadrat::detail
