// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "keyed/key_engine.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Floating-point sums in fixed point, with atomic operations on integers: the same bits for every order of the
/// elements. The exponent is that of the largest value of a component, which a first pass finds. Of n elements each is
/// rounded to a float's sum by at most M 2^-(61 - b), to a double's by at most M 2^-(123 - 2b), with M the size of the
/// largest finite value of the component and b = log2(n) rounded up; then the sum is rounded once. That is finer than
/// floating-point sums are where values are of like size, and coarser for keys whose values are all much smaller than M
/// (by 2^(37 - b) and more in float, 2^(70 - 2b) in double). Infinities and NaNs come out as in other sums. Everything
/// else is exact anyway, and is done with plain atomic operations. Components are summed one after another.
template <typename Context>
class fixed_point_engine : public typed_key_engine<Context, fixed_point_engine<Context>> {
 public:
  fixed_point_engine(const Context& context, const key_setup& setup);

  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override;
  void set_keys(const key_source& keys) override;
  void count(std::uint64_t* results, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override { return sums_.bytes() + scratch_.bytes(); }
  template <typename T>
  void run(const key_reduction<T>& reduction);

 private:
  template <typename T>
  void sum_component(const component_values<const T>& values, const component_values<T>& results, int component);

  Context context_;
  key_setup setup_;
  key_source keys_{};
  array<std::uint64_t, Context> sums_;  // one or two words a key, then the size of the largest value
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
