// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "keyed/cost.hpp"
#include "keyed/engine.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// Each block bins its elements in shared memory: directly where there is room for all keys, otherwise in a hash table.
/// Source: voting-and-shuffling, "Performance tests" (binning with a hash function).
class shared_bins_engine : public streaming_key_engine<cuda_context, shared_bins_engine> {
 public:
  using streaming_key_engine::streaming_key_engine;

  void count(std::uint64_t* results, bool accumulate) override;
  template <typename T>
  void run(const key_reduction<T>& reduction);
};

struct shared_bins_method : key_method_defaults {
  static constexpr std::string_view name = "shared_bins";
  static constexpr std::string_view summary = "blocks bin their elements in shared memory, by hash if keys are many";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  static method_cost cost(const key_request& request);
  template <typename Context>
  using engine = shared_bins_engine;
};

}  // namespace quadrat::detail
