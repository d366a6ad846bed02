// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "core/method_choice.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "search/choice.hpp"
#include "search/methods.hpp"

// The method of a neighbor list if none is asked for.

namespace quadrat::test {

namespace {

using detail::neighbor_request;

[[nodiscard]] std::string_view chosen_method(const neighbor_request& request) {
  return detail::neighbor_times(request, shipped_profile(request.cuda)).front().method;
}

/// Of evenly distributed points, `occupancy` in each cell.
[[nodiscard]] neighbor_request request_for(bool cuda, std::size_t points, bool one_cutoff, double occupancy = 10) {
  neighbor_request request{cuda, points, one_cutoff};
  request.box_cells = std::max(1.0, static_cast<double>(points) / occupancy);
  return request;
}

}  // namespace

TEST(neighbor_choice, goes_by_the_cutoffs_and_the_points) {
  for (const std::size_t points : {100'000u, 1'000'000u, 100'000'000u}) {
    EXPECT_EQ(chosen_method(request_for(false, points, true)), "sweeps") << points;
    neighbor_request radii = request_for(false, points, false);
    radii.radii = true;
    EXPECT_EQ(chosen_method(radii), "sweeps") << points;
    radii.excluded = true;
    EXPECT_EQ(chosen_method(radii), "levels") << points;
    if (QUADRAT_HAS_CUDA == 0) continue;
    EXPECT_EQ(chosen_method(request_for(true, points, true)), "masks") << points;
    radii.cuda = true;
    EXPECT_EQ(chosen_method(radii), "levels") << points;
  }
  if (QUADRAT_HAS_CUDA == 0) return;
  for (const std::size_t points : {1'000u, 10'000u, 20'000u}) {
    EXPECT_EQ(chosen_method(request_for(true, points, true)), "warps") << points;
  }
  EXPECT_EQ(chosen_method(request_for(true, 40'000, true)), "masks");
}

TEST(neighbor_choice, never_tests_every_pair_of_many_points_however_dense_they_are) {
  for (const bool cuda : {false, true}) {
    for (const bool one_cutoff : {false, true}) {
      for (const double occupancy : {1.0, 1e3, 1e9}) {
        for (std::size_t points = 1025; points < std::size_t{1} << 32; points *= 3) {
          EXPECT_NE(chosen_method(request_for(cuda, points, one_cutoff, occupancy)), "brute_force") << points;
        }
      }
    }
  }
}

TEST(neighbor_choice, takes_no_pairs_of_few_points_on_cpus) {
  for (const std::size_t points : {1u, 2u}) {
    EXPECT_EQ(chosen_method(request_for(false, points, true, 1)), "strips") << points;
  }
  // Here strips and sweeps take turns, by how crowded the points are.
  for (const std::size_t points : {10u, 20u}) {
    EXPECT_NE(chosen_method(request_for(false, points, true, 1)), "brute_force") << points;
  }
  for (const std::size_t points : {60u, 200u, 1000u}) {
    EXPECT_EQ(chosen_method(request_for(false, points, true, 1)), "sweeps") << points;
  }
}

TEST(neighbor_choice, every_method_that_serves_only_some_says_which) {
  detail::neighbor_method_list::for_each([](auto method) {
    using type = decltype(method);
    constexpr bool serves_some = requires { type::serves(neighbor_request{}); };
    constexpr bool says_which = requires { type::served; };
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

namespace {

[[nodiscard]] double sampled_points(const explanation& why) {
  for (const auto& [name, value] : why.load) {
    if (name == "sampled") return value;
  }
  return -1;
}

/// How many points a list has looked at after each build of so many.
[[nodiscard]] std::vector<double> sampled_after(determinism level, const std::vector<std::size_t>& counts) {
  const std::array boxes{make_lattice(make_box<float, 2>({0, 0}, {1, 1}, {true, true}))};
  neighbor_options<float> options;
  options.cutoff = 0.1F;
  neighbor_list<cpu_context, float, 2> list(cpu_context({.threads = 1, .reproducibility = level}), options);
  std::vector<double> sampled;
  for (const std::size_t count : counts) {
    std::vector<vec<float, 2>> points(count);
    for (std::size_t i = 0; i < count; ++i) {
      points[i] = {static_cast<float>(i % 20) / 20, static_cast<float>(i) / static_cast<float>(count)};
    }
    neighbor_input<float, 2> input;
    input.points = points_of(points.data(), count);
    input.boxes = boxes;
    list.build(input);
    sampled.push_back(sampled_points(list.explanation()));
  }
  return sampled;
}

}  // namespace

TEST(neighbor_choice, points_are_looked_at_first_and_where_their_number_changes_by_half) {
  EXPECT_EQ(sampled_after(determinism::none, {400, 400, 410, 550, 700, 300}),
            (std::vector<double>{400, 400, 400, 400, 700, 300}));
  EXPECT_EQ(sampled_after(determinism::run_to_run, {400, 700}), (std::vector<double>{0, 0})) << "not worth it";
}

}  // namespace quadrat::test
