// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "keyed/cost.hpp"
#include "keyed/engine.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Floating-point sums in fixed point, with atomic operations on integers: the same bits for every order of the
/// elements. A first pass finds the largest value of a component. On its scale most values are represented exactly, and
/// so are their sums. The other values are summed on a scale per key, that of the largest such value with the key, in
/// one more pass over the elements, which is skipped if there are none. Thus a sum does not depend on the values of
/// other keys.
///
/// Of a key's n_k elements, whose largest finite value has the size M_k, the sum is the exact one, rounded once (for
/// accumulated results, rounded and then added), plus an error of at most n_k M_k 2^-(62 - b) 2^-(62 - b) in float, and
/// three such factors in double, with b = log2(n) rounded up, at least 10, for n elements of all keys. With 2^24
/// elements that is n_k M_k 2^-76 and n_k M_k 2^-114; for a floating-point sum it is n_k M_k 2^-25 and n_k M_k 2^-54
/// already on average, if every addition rounds. Infinities and NaNs propagate as in other sums. All other operations
/// are exact anyway, and use plain atomic operations. Components are summed one after another.
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

  /// Offsets in sums_, and its length.
  struct layout {
    std::size_t tops, largest, own, words;
  };
  [[nodiscard]] layout places() const;

  Context context_;
  key_setup setup_;
  key_source keys_{};
  array<std::uint64_t, Context> sums_;
  workspace<Context> scratch_;
};

struct fixed_point_method : key_method_defaults {
  static constexpr std::string_view name = "fixed_point";
  static constexpr std::string_view summary =
      "sums as integers in fixed point: the same bits for elements in any order";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::canonical;
  static method_cost cost(const key_request& request) {
    if (!request.cuda) {
      constexpr double words = 6;
      const bool adds = starts_team(request, request.elements), takes = starts_team(request, request.keys);
      return cpu_cost({.element = 6000,
                       .commonest = adds ? 40000.0 : 0,
                       .bytes_key = 52,
                       .teams = (adds ? 2.0 : 0) + (takes ? 1 : 0)},
                      request)
          .each("words", cost_unit::byte, 8e-6 * words * request.keys);
    }
    return cuda_fixed_point_cost(request);
  }
  template <typename Context>
  using engine = fixed_point_engine<Context>;
};

}  // namespace quadrat::detail
