// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "keyed/key_engine.hpp"
#include "keyed/ordered_sums.hpp"

namespace quadrat::detail {

/// Keys are in order already: no sort, no atomic operations. Sums are the same in every run.
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

}  // namespace quadrat::detail
