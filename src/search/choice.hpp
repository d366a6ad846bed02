// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/method_choice.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "quadrat/tune/explanation.hpp"
#include "search/request.hpp"

namespace quadrat::detail {

/// The methods that can be chosen, fastest first. Needs no device.
[[nodiscard]] std::vector<expected_time> neighbor_times(const neighbor_request& request, const device_profile& profile);

/// All methods, with what the choice knows of each.
[[nodiscard]] explanation explain_neighbor_method(const neighbor_request& request, const device_profile& profile);

/// The cost of each method that can be chosen.
[[nodiscard]] std::vector<named_cost> neighbor_costs(const neighbor_request& request);

}  // namespace quadrat::detail
