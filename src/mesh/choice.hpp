// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "core/method_choice.hpp"
#include "mesh/cost.hpp"
#include "mesh/engine.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

struct spread_choice {
  std::string method;
  std::vector<expected_time> times;  ///< of the methods considered, fastest first; none if the method was asked for
  double uses = 0;                   ///< calls of spread that the times are for

  /// Why, in one line.
  [[nodiscard]] std::string reason() const;
};

/// The method expected to take the least time, from the records of the methods. Needs no device.
[[nodiscard]] spread_choice choose_spread_method(const spread_request& request);

/// The method that the options name, or the one that suits this number of points.
template <typename Context, typename T>
[[nodiscard]] spread_choice choose_spread_method(const Context& context, const spread_setup<T>& setup,
                                                 std::size_t count) {
  const std::string& asked = setup.options.method;
  if (!asked.empty() && asked != "auto") return {asked, {}, 0};
  constexpr bool cuda = std::is_same_v<Context, cuda_context>;
  return choose_spread_method(request_of(cuda, context.reproducibility(), setup, count));
}

}  // namespace quadrat::detail
