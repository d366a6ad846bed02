// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "keyed/key_engine.hpp"

namespace quadrat::detail {

/// Each thread joins runs of equal keys among consecutive elements of its own, warps join what touches, and one atomic
/// operation is left for each run of a warp. Right for keys in any order, fast where equal keys stand together.
class runs_engine : public streaming_key_engine<cuda_context, runs_engine> {
 public:
  using streaming_key_engine::streaming_key_engine;

  void count(std::uint64_t* results, bool accumulate) override;
  template <typename T>
  void run(const key_reduction<T>& reduction);
};

}  // namespace quadrat::detail
