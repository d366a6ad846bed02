// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/choice.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "mesh/methods.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

spread_choice choose_spread_method(const spread_request& request) {
  const method_demand demand{spread_method_kind, request.cuda, request.level};
  std::vector<expected_time> times = expected_times<spread_method_list>(demand, request);
  require(!times.empty(), "no method of spreading has this level of reproducibility here");
  std::string fastest(times[0].method);
  return {std::move(fastest), std::move(times), request.uses};
}

std::string spread_choice::reason() const {
  if (times.empty()) return "asked for";
  const bool alone = times.size() == 1 || !std::isfinite(times[1].milliseconds);
  return alone ? "no other method is considered here at this level of reproducibility" : comparison(times, uses);
}

}  // namespace quadrat::detail
