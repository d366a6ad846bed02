// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "keyed/cost.hpp"
#include "keyed/engine.hpp"
#include "keyed/sorted/sums.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// Sorts the elements by key, stably, once for all uses; then as for ordered keys. Sums are the same in every run.
template <typename Context>
class sort_reduce_engine : public typed_key_engine<Context, sort_reduce_engine<Context>> {
 public:
  sort_reduce_engine(const Context& context, const key_setup& setup) : context_(context), setup_(setup) {}

  [[nodiscard]] std::uint64_t most_elements() const override { return max_count; }
  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override;
  void set_keys(const key_source& keys) override;
  void count(std::uint64_t* results, bool accumulate) override {
    count_ordered(context_, elements_, results, accumulate, scratch_);
  }
  [[nodiscard]] std::size_t bytes() const override;
  template <typename T>
  void run(const key_reduction<T>& reduction) {
    reduce_ordered(context_, elements_, reduction, setup_.options.compensated, scratch_);
  }

 private:
  Context context_;
  key_setup setup_;
  array<std::uint32_t, Context> keys_[2];
  array<std::uint32_t, Context> order_[2];
  workspace<Context> scratch_;
  // Keys out of range are reported when they are copied; faults found in sorted order are not read.
  std::optional<fault_state<Context>> unread_;
  ordered_elements elements_{};
};

struct sort_reduce_method : key_method_defaults {
  static constexpr std::string_view name = "sort_reduce";
  static constexpr std::string_view summary = "elements sorted by key, once for all uses, then as ordered";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::run_to_run;
  static constexpr bool compensates = true;
  static bool serves(const key_request& /*request*/) { return true; }
  static method_cost cost(const key_request& request) {
    return request.cuda ? cuda_sort_cost(request) : cpu_sort_cost(request);
  }
  static method_cost cpu_sort_cost(const key_request& request);
  template <typename Context>
  using engine = sort_reduce_engine<Context>;
};

}  // namespace quadrat::detail
