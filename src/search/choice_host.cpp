// SPDX-License-Identifier: BSD-3-Clause
#include "search/choice.hpp"

#include "search/methods.hpp"
#include "tune/choice.hpp"

namespace quadrat::detail {

namespace {

[[nodiscard]] choice_task list_task(const neighbor_request& request) {
  return {"neighbors", {.kind = "neighbor method", .cuda = request.cuda}};
}

}  // namespace

std::vector<expected_time> neighbor_times(const neighbor_request& request, const device_profile& profile) {
  return times_by_profile<neighbor_method_list>(list_task(request), request, profile);
}

explanation explain_neighbor_method(const neighbor_request& request, const device_profile& profile) {
  explanation result = explain<neighbor_method_list>(list_task(request), request, profile);
  const point_sample& sample = request.sample;
  result.load = {{"points", static_cast<double>(request.points)},
                 {"points_per_cell", request.per_cell()},
                 {"sampled", sample.seen},
                 {"fullest_cell", sample.fullest},
                 {"disorder", sample.distance}};
  return result;
}

std::vector<named_cost> neighbor_costs(const neighbor_request& request) {
  return costs_of<neighbor_method_list>(request);
}

}  // namespace quadrat::detail
