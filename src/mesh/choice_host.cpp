// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/choice.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "mesh/methods.hpp"
#include "quadrat/core/error.hpp"
#include "tune/choice.hpp"

namespace quadrat::detail {

namespace {

[[nodiscard]] choice_task spread_task(const spread_request& request) {
  return {"mesh", {spread_method_kind, request.cuda, request.level}, request.uses, request.free_bytes};
}

}  // namespace

spread_choice choose_spread_method(const spread_request& request, const device_profile& profile) {
  std::vector<expected_time> times = times_by_profile<spread_method_list>(spread_task(request), request, profile);
  require(!times.empty(), "no method of spreading has this level of reproducibility here");
  std::string fastest(times[0].method);
  return {std::move(fastest), std::move(times), request};
}

std::string spread_choice::reason() const {
  if (times.empty()) return "asked for";
  const bool alone = times.size() == 1 || !std::isfinite(times[1].milliseconds);
  return alone ? "no other method is considered here at this level of reproducibility"
               : comparison(times, request.uses);
}

explanation explain_spread_method(const spread_request& request, const device_profile& profile) {
  explanation result = explain<spread_method_list>(spread_task(request), request, profile);
  const point_sample& sample = request.sample;
  result.load = {{"points", request.points},       {"mesh_points", request.nodes},  {"footprint", request.footprint},
                 {"uses", request.uses},           {"sampled", sample.seen},        {"occupancy", sample.occupancy},
                 {"fullest_tile", sample.fullest}, {"disorder", request.disorder()}};
  return result;
}

std::vector<named_cost> spread_costs(const spread_request& request) { return costs_of<spread_method_list>(request); }

}  // namespace quadrat::detail
