// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "contacts/brute_force/search.hpp"
#include "contacts/engine.hpp"

namespace quadrat::detail {

/// Rows read the placed bodies directly.
template <typename Context, typename T>
class brute_force_engine final : public row_engine<brute_force_engine<Context, T>, Context, T> {
 public:
  using row_engine<brute_force_engine<Context, T>, Context, T>::row_engine;
  static constexpr bool tests_all_shapes = true;

  [[nodiscard]] planned_bins<T> plan(const placed_bodies<Context, T>& bodies, const bin_options<T>& options) override;
  void insert(const placed_bodies<Context, T>& bodies);
  [[nodiscard]] std::size_t rows() const { return search_.count; }
  [[nodiscard]] brute_search<T> search() const { return search_; }
  [[nodiscard]] std::size_t bytes() const override { return 0; }

 private:
  brute_search<T> search_{};
};

struct brute_force_method : contact_method_defaults {
  static constexpr std::string_view name = "brute_force";
  static constexpr std::string_view summary = "every pair, from the lower index (parallel-binning-collision, 5-11)";
  static constexpr bool bins = false;
  static constexpr bool quadratic = true;
  template <typename Context, typename T>
  using engine = brute_force_engine<Context, T>;

  [[nodiscard]] static method_cost cost(const pair_request& request) {
    const double bodies = request.megabodies();
    method_cost cost;
    cost.each("start", cost_unit::launch, 1);
    cost.each("bodies", cost_unit::step, request.share(bodies));
    cost.each("tests", cost_unit::step, request.share(1e6 * bodies * bodies));
    cost.each("turned", cost_unit::step, request.turned(request.share(1e6 * bodies * bodies)));
    if (request.cuda) {
      cost.each("turned_bodies", cost_unit::step, request.turned(bodies));
      cost.each("wide_bodies", cost_unit::step, request.turned(request.wide(bodies)));
    }
    cost = request.cuda ? with_densest(cost, request) : with_contacts(cost, request);
    return request.bodies > brute_force_most_bodies ? cost.last_resort("tests every pair") : cost;
  }
};

}  // namespace quadrat::detail
