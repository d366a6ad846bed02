// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "core/paper_methods.hpp"
#include "keyed/cost.hpp"
#include "keyed/engine.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// One compare-and-swap loop per element: how doubles had to be summed on GPUs without the atomic instruction. Source:
/// voting-and-shuffling, "Double precision atomics and warp divergence".
class cas_loop_engine : public streaming_key_engine<cuda_context, cas_loop_engine> {
 public:
  using streaming_key_engine::streaming_key_engine;

  void count(std::uint64_t* results, bool accumulate) override;
  template <typename T>
  void run(const key_reduction<T>& reduction);
};

struct cas_loop_method : key_method_defaults, paper_method {
  static constexpr std::string_view name = "cas_loop";
  static constexpr std::string_view summary = "a compare-and-swap loop per element, as older GPUs needed";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  template <typename Context>
  using engine = cas_loop_engine;
};

}  // namespace quadrat::detail
