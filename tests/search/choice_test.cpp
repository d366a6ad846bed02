// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>

#include "core/method_choice.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "search/methods.hpp"

// The method of a neighbor list if none is asked for.

namespace quadrat::test {

namespace {

using detail::neighbor_request;

[[nodiscard]] std::string_view chosen_method(const neighbor_request& request) {
  return detail::expected_times<detail::neighbor_method_list>({"neighbor method", request.cuda}, request)
      .front()
      .method;
}

/// By measured thresholds.
[[nodiscard]] std::string_view wanted_method(const neighbor_request& request) {
  const bool trimmed = request.one_cutoff && request.points <= std::size_t{1} << 27;
  if (trimmed && request.cuda && QUADRAT_HAS_CUDA != 0) return request.points <= 28000 ? "warps" : "masks";
  if (request.points <= 64) return "brute_force";
  if (request.radii) return request.cuda || request.excluded ? "levels" : "sweeps";
  return request.one_cutoff && !request.cuda ? "sweeps" : "strips";
}

}  // namespace

TEST(neighbor_choice, goes_by_the_cutoffs_and_the_points) {
  for (const bool cuda : {false, true}) {
    for (const bool one_cutoff : {false, true}) {
      for (const int others : {0, 1, 2, 3}) {
        neighbor_request request{cuda, 0, one_cutoff};
        request.radii = (others & 1) != 0 && !one_cutoff;
        request.excluded = (others & 2) != 0 && !one_cutoff;
        const auto check = [&](std::size_t points) {
          request.points = points;
          ASSERT_EQ(chosen_method(request), wanted_method(request))
              << points << (cuda ? " points on CUDA" : " points on the CPU");
        };
        for (std::size_t points = 0; points < 200; ++points) check(points);
        for (std::size_t points = 49990; points < 50010; ++points) check(points);
        for (std::size_t points = 200; points < std::size_t{1} << 32; points += points / 3) check(points);
        check(std::size_t{1} << 27);
        check((std::size_t{1} << 27) + 1);
      }
    }
  }
}

TEST(neighbor_choice, every_method_that_can_be_chosen_says_why_and_what_it_serves) {
  detail::neighbor_method_list::for_each([](auto method) {
    using type = decltype(method);
    constexpr bool has_cost = requires { type::cost(neighbor_request{}); };
    constexpr bool has_reason = requires { type::reason; };
    constexpr bool serves_some = requires { type::serves(neighbor_request{}); };
    constexpr bool says_which = requires { type::served; };
    EXPECT_EQ(has_cost, has_reason) << type::name;
    EXPECT_EQ(serves_some, says_which) << type::name;
  });
}

TEST(neighbor_choice, methods_serve_what_their_records_say) {
  const neighbor_request all{false, 1000, true};
  const neighbor_request very_many{false, (std::size_t{1} << 27) + 1, true};
  const neighbor_request with_queries{false, 1000, false};
  const neighbor_request with_radii{false, 1000, false, true};
  const neighbor_request with_radii_and_exclusions{false, 1000, false, true, true};
  for (const neighbor_method& method : neighbor_methods()) {
    const bool trimmed = method.name == "masks" || method.name == "warps";
    const bool levels = method.name == "levels", sweeps = method.name == "sweeps";
    EXPECT_TRUE(detail::method_serves(method.name, all)) << method.name;
    EXPECT_EQ(detail::method_serves(method.name, very_many), !trimmed) << method.name;
    EXPECT_EQ(detail::method_serves(method.name, with_queries), !trimmed && !sweeps && !levels) << method.name;
    EXPECT_EQ(detail::method_serves(method.name, with_radii), !trimmed) << method.name;
    EXPECT_EQ(detail::method_serves(method.name, with_radii_and_exclusions), !trimmed && !sweeps) << method.name;
    EXPECT_EQ(method.reproducible, determinism::run_to_run) << method.name;
  }
  EXPECT_THROW(static_cast<void>(detail::method_serves("msaks", all)), argument_error);
}

}  // namespace quadrat::test
