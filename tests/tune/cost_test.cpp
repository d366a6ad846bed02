// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "contacts/choice.hpp"
#include "keyed/choice.hpp"
#include "mesh/choice.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "search/choice.hpp"
#include "tune/choice.hpp"

// Costs as sums of terms, and the constants that the library comes with.

namespace quadrat::test {

namespace {

using detail::cost_unit;
using detail::expected_ms;
using detail::method_cost;

[[nodiscard]] device_profile profile_with(std::map<std::string, double, std::less<>> constants) {
  device_profile profile;
  profile.constants = std::move(constants);
  return profile;
}

TEST(method_cost, is_the_sum_of_its_terms_with_what_is_done_once_shared_out) {
  const device_profile profile = profile_with({{"m.a.set_start", 2}, {"m.a.start", 3}, {"m.a.bytes", 0.5}});
  const method_cost cost = method_cost()
                               .once("start", cost_unit::launch, 1)
                               .each("start", cost_unit::launch, 1)
                               .each("bytes", cost_unit::byte, 10);
  EXPECT_DOUBLE_EQ(expected_ms(profile, "m", "a", cost, 1), 2 + 3 + 5);
  EXPECT_DOUBLE_EQ(expected_ms(profile, "m", "a", cost, 4), 2 + 4 * (3 + 5));
}

TEST(method_cost, on_another_device_bytes_and_steps_scale_and_starts_do_not) {
  device_profile profile = profile_with({{"m.a.start", 1}, {"m.a.bytes", 1}, {"m.a.steps", 1}});
  profile.byte_scale = 10;
  profile.step_scale = 100;
  const method_cost cost = method_cost()
                               .each("start", cost_unit::launch, 1)
                               .each("bytes", cost_unit::byte, 1)
                               .each("steps", cost_unit::step, 1);
  EXPECT_DOUBLE_EQ(expected_ms(profile, "m", "a", cost, 1), 111);
}

TEST(method_cost, is_infinite_where_the_profile_lacks_a_constant) {
  const method_cost cost = method_cost().each("start", cost_unit::launch, 1);
  EXPECT_TRUE(std::isinf(expected_ms(profile_with({{"m.b.start", 1}}), "m", "a", cost, 1)));
}

/// Requests of both devices.
[[nodiscard]] detail::spread_request spreading(bool cuda) {
  detail::spread_request request{};
  request.cuda = cuda;
  request.points = 1e5;
  request.nodes = 262144;
  request.bytes = 4 * request.nodes;
  request.uses = 1;
  request.width = 6;
  return request;
}
[[nodiscard]] detail::key_request reduction(bool cuda, double uses) {
  detail::key_request request{};
  request.cuda = cuda;
  request.threads = 2;
  request.free_bytes = ~std::size_t{0};
  request.elements = 1e6;
  request.keys = 1000;
  request.row_bytes = 4;
  request.uses = uses;
  request.sample = {4096, 0, 0.5, 32, 28, 960, 1000, 1000, 0.001};
  return request;
}

void expect_constants(bool cuda, std::string_view module, const std::vector<detail::named_cost>& costs,
                      const std::vector<std::string_view>& others) {
  for (const auto& [method, level, serves, cost] : costs) {
    if (std::ranges::find(others, method) != others.end()) continue;
    EXPECT_TRUE(std::isfinite(expected_ms(shipped_profile(cuda), module, method, cost, 1)))
        << (cuda ? "H200: " : "CPU: ") << module << "." << method;
    EXPECT_LT(cost.terms().size(), method_cost::most_terms) << method;
  }
}

TEST(shipped_profiles, have_every_constant_of_every_method_that_runs_there) {
  for (const bool cuda : {false, true}) {
    const std::vector<std::string_view> spreading_elsewhere =
        cuda ? std::vector<std::string_view>{"multicolor"} : std::vector<std::string_view>{"particle_threads"};
    expect_constants(cuda, "mesh", detail::spread_costs(spreading(cuda)), spreading_elsewhere);
    const std::vector<std::string_view> keyed_elsewhere =
        cuda ? std::vector<std::string_view>{"private_tables", "partitioned"}
             : std::vector<std::string_view>{"warp_peers", "shared_bins", "runs"};
    for (const double uses : {1.0, 10.0}) {
      expect_constants(cuda, "keyed", detail::key_costs(reduction(cuda, uses)), keyed_elsewhere);
    }
    const std::vector<std::string_view> lists_elsewhere =
        cuda ? std::vector<std::string_view>{"sweeps"} : std::vector<std::string_view>{"masks", "warps"};
    expect_constants(cuda, "neighbors", detail::neighbor_costs({cuda, 1000, true}), lists_elsewhere);
    detail::pair_request bodies{1000};
    bodies.cuda = cuda;
    expect_constants(cuda, "contacts", detail::contact_costs(bodies), {});
    // Ewald sums and transforms: tests/ewald/cost_test.cpp and tests/spectral/choice_test.cpp.
  }
}

TEST(explanation, tells_all_candidates_and_why_some_cannot_serve) {
  const detail::spread_request request = spreading(false);
  const explanation result = detail::explain_spread_method(request, shipped_profile(false));
  EXPECT_EQ(result.chosen, detail::choose_spread_method(request, shipped_profile(false)).method);
  EXPECT_EQ(result.candidates.front().method, result.chosen);
  for (const candidate& one : result.candidates) {
    EXPECT_EQ(one.why_not.empty(), std::isfinite(one.milliseconds)) << one.method;
    if (one.method == "particle_threads") {
      EXPECT_EQ(one.why_not, "not on CPUs");
    }
    if (one.method == "gather") {
      EXPECT_EQ(one.why_not, "only if asked for");
    }
    EXPECT_NE(result.text().find("  " + one.method), std::string::npos);
    EXPECT_NE(result.json().find("\"method\": \"" + one.method + "\""), std::string::npos);
  }
  EXPECT_NE(result.text().find("profile: shipped, of generic CPU"), std::string::npos) << result.text();
}

TEST(explanation, memory_that_is_not_there_rules_methods_out) {
  detail::spread_request request = spreading(false);
  request.free_bytes = 1;
  const explanation result = detail::explain_spread_method(request, shipped_profile(false));
  EXPECT_EQ(result.candidates.front().why_not, "needs more memory than there is");
  EXPECT_FALSE(result.chosen.empty());
}

}  // namespace

}  // namespace quadrat::test
