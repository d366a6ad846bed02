// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "keyed/cost.hpp"
#include "keyed/engine.hpp"
#include "keyed/sorted/sums.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// For keys that are already in order: no sort, no atomic operations. Sums are the same in every run.
template <typename Context>
class ordered_engine : public typed_key_engine<Context, ordered_engine<Context>> {
 public:
  ordered_engine(const Context& context, const key_setup& setup) : context_(context), setup_(setup) {}

  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override { return ordered_bytes(context_, count); }
  void set_keys(const key_source& keys) override {
    static_cast<void>(scratch_.request(context_, ordered_bytes(context_, keys.count)));
    keys_ = keys;
  }
  void count(std::uint64_t* results, bool accumulate) override {
    count_ordered(context_, {keys_, nullptr}, results, accumulate, scratch_);
  }
  [[nodiscard]] std::size_t bytes() const override { return scratch_.bytes(); }
  template <typename T>
  void run(const key_reduction<T>& reduction) {
    reduce_ordered(context_, {keys_, nullptr}, reduction, setup_.options.compensated, scratch_);
  }

 private:
  Context context_;
  key_setup setup_;
  key_source keys_{};
  workspace<Context> scratch_;
};

struct ordered_method : key_method_defaults {
  static constexpr std::string_view name = "ordered";
  static constexpr std::string_view summary = "for keys already in order: no sort, no atomic operations";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::run_to_run;
  static constexpr bool any_order = false;
  static constexpr bool compensates = true;
  template <typename Context>
  using engine = ordered_engine<Context>;
};

}  // namespace quadrat::detail
