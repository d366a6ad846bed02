// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "keyed/cost.hpp"
#include "keyed/engine.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// Each thread joins runs of equal keys among its consecutive elements, the warp joins runs that continue across lanes,
/// and one atomic operation remains per run of a warp. Correct for keys in any order, fast where equal keys are
/// adjacent.
class runs_engine : public streaming_key_engine<cuda_context, runs_engine> {
 public:
  using streaming_key_engine::streaming_key_engine;

  void count(std::uint64_t* results, bool accumulate) override;
  template <typename T>
  void run(const key_reduction<T>& reduction);
};

struct runs_method : key_method_defaults {
  static constexpr std::string_view name = "runs";
  static constexpr std::string_view summary = "adjacent equal keys are joined first, in threads and warps";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  static method_cost cost(const key_request& request) { return cuda_cost({left_over::runs, 1.4, 0.25}, request); }
  template <typename Context>
  using engine = runs_engine;
};

}  // namespace quadrat::detail
