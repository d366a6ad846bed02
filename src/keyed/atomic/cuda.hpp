// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "keyed/engine.hpp"

namespace quadrat::detail {

/// One atomic operation per element and component. Four or two adjacent, aligned float components take one together;
/// other adjacent components are joined by neighboring lanes.
/// Source: voting-and-shuffling, "Performance tests" (the unoptimized implementation).
class cuda_atomic_engine : public streaming_key_engine<cuda_context, cuda_atomic_engine> {
 public:
  using streaming_key_engine::streaming_key_engine;

  void count(std::uint64_t* results, bool accumulate) override;
  template <typename T>
  void run(const key_reduction<T>& reduction);
};

}  // namespace quadrat::detail
