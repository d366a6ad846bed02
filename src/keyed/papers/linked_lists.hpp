// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/paper_methods.hpp"
#include "keyed/cost.hpp"
#include "keyed/engine.hpp"
#include "keyed/folds.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// A linked list of the elements of each key, built with one atomic exchange per element; then one thread per key walks
/// its list. Source: voting-and-shuffling, introduction (the linked list approach).
template <typename Context>
class linked_lists_engine : public typed_key_engine<Context, linked_lists_engine<Context>> {
 public:
  linked_lists_engine(const Context& context, const key_setup& setup) : context_(context), setup_(setup) {}

  /// The largest 32-bit word marks the end of a list.
  [[nodiscard]] std::uint64_t most_elements() const override { return no_key; }
  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override {
    return (count + setup_.key_count) * sizeof(std::uint32_t);
  }
  void set_keys(const key_source& keys) override;
  void count(std::uint64_t* results, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override { return first_.bytes() + next_.bytes(); }
  template <typename T>
  void run(const key_reduction<T>& reduction);

 private:
  Context context_;
  key_setup setup_;
  array<std::uint32_t, Context> first_;  // by key
  array<std::uint32_t, Context> next_;   // by element
};

struct linked_lists_method : key_method_defaults, paper_method {
  static constexpr std::string_view name = "linked_lists";
  static constexpr std::string_view summary = "a linked list of the elements of each key, a thread per list";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  /// On CPUs it is best for the smallest loads.
  static method_cost cost(const key_request& request);
  template <typename Context>
  using engine = linked_lists_engine<Context>;
};

}  // namespace quadrat::detail
