// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "keyed/key_engine.hpp"
#include "keyed/ordered_sums.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// Elements are sorted by key once for all uses, stably; then keys are in order. Sums are the same in every run.
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
  // Keys out of range are found when they are taken; where they stand in order says nothing.
  std::optional<fault_state<Context>> unread_;
  ordered_elements elements_{};
};

}  // namespace quadrat::detail
