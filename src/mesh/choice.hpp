// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "core/method_choice.hpp"
#include "mesh/request.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "quadrat/tune/explanation.hpp"
#include "tune/cost.hpp"

namespace quadrat::detail {

struct spread_choice {
  std::string method;
  std::vector<expected_time> times;  ///< of the methods considered, fastest first; empty if the caller named one
  spread_request request{};          ///< for which they are

  /// The reason for the choice, in one line.
  [[nodiscard]] std::string reason() const;
};

/// The method expected to take the least time, from the descriptors of the methods. Needs no device.
[[nodiscard]] spread_choice choose_spread_method(const spread_request& request, const device_profile& profile);

/// All methods, with what the choice knows of each.
[[nodiscard]] explanation explain_spread_method(const spread_request& request, const device_profile& profile);

/// The cost of each method that can be chosen.
[[nodiscard]] std::vector<named_cost> spread_costs(const spread_request& request);

}  // namespace quadrat::detail
