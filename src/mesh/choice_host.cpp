// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/choice.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "core/method_choice.hpp"
#include "mesh/methods.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

spread_choice choose_spread_method(const spread_request& request) {
  const method_demand demand{spread_method_kind, request.cuda, request.level};
  const std::vector<expected_time> times = expected_times<spread_method_list>(demand, request);
  require(!times.empty(), "no method of spreading has this level of reproducibility here");
  const bool alone = times.size() == 1 || !std::isfinite(times[1].milliseconds);
  return {std::string(times[0].method),
          alone ? std::string("no other method is considered here at this level of reproducibility")
                : comparison(times, request.uses)};
}

}  // namespace quadrat::detail
