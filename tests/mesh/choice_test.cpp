// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/choice.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mesh/checks.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/mesh/methods.hpp"
#include "quadrat/mesh/spread_plan.hpp"

namespace quadrat::test {

namespace {

[[nodiscard]] detail::spread_setup<float> setup_of(int mesh, double uses, int order = 6) {
  const auto domain = make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true});
  const auto window = bspline_window<float>(order);
  spread_options options;
  options.uses = uses;
  return {detail::make_shape<float, 3>(domain, {mesh, mesh, mesh}, window), window, options};
}

/// The choice on a GPU.
[[nodiscard]] detail::spread_choice choice_of(int mesh, std::size_t points, double uses,
                                              determinism level = determinism::none) {
  return detail::choose_spread_method(detail::request_of(true, level, setup_of(mesh, uses), points),
                                      shipped_profile(true));
}

/// Methods of a backend can be chosen only if it is built.
class spread_choice_cuda : public testing::Test {
  void SetUp() override {
    if (QUADRAT_HAS_CUDA == 0) GTEST_SKIP() << "this build has no CUDA";
  }
};

TEST_F(spread_choice_cuda, takes_the_method_that_was_measured_to_be_fastest) {
  EXPECT_EQ(choice_of(128, 10000000, 1).method, "tiles");
  EXPECT_EQ(choice_of(64, 1000000, 1000).method, "tiles");
  EXPECT_EQ(choice_of(64, 100000, 1).method, "tiles");
  EXPECT_EQ(choice_of(256, 1000, 1).method, "particle_threads");
  EXPECT_EQ(choice_of(64, 10000, 1).method, "particle_threads");
}

TEST_F(spread_choice_cuda, goes_by_the_number_of_uses) {
  EXPECT_EQ(choice_of(128, 100000, 1).method, "particle_threads");
  EXPECT_EQ(choice_of(128, 100000, 1000).method, "tiles");
}

/// No absolute times: those of another machine could be wrong by any factor.
TEST_F(spread_choice_cuda, says_how_the_best_two_compare) {
  const std::string reason = choice_of(128, 10000000, 5).reason();
  EXPECT_TRUE(reason.starts_with("for 5 uses tiles is expected to take least, particle_threads ")) << reason;
  EXPECT_TRUE(reason.ends_with(" times as long")) << reason;
}

TEST_F(spread_choice_cuda, has_the_level_of_determinism_that_is_asked_for) {
  EXPECT_EQ(choice_of(64, 1000, 1, determinism::run_to_run).method, "tiles");
  EXPECT_EQ(choice_of(64, 1000, 1, determinism::canonical).method, "single_mesh");
}

TEST_F(spread_choice_cuda, takes_only_methods_that_set_points_asynchronously_unless_told_that_they_need_not) {
  for (const double uses : {1.0, 100.0, 1e4}) {
    for (const std::size_t points : {1000u, 4000u, 100000u}) {
      for (const int mesh : {32, 64, 128}) EXPECT_NE(choice_of(mesh, points, uses).method, "hybrid_mesh");
    }
  }
  auto setup = setup_of(80, 1e4);
  setup.options.asynchronous = false;
  const auto chosen =
      detail::choose_spread_method(detail::request_of(true, determinism::none, setup, 4000), shipped_profile(true));
  EXPECT_EQ(chosen.method, "hybrid_mesh");
}

TEST(spread_choice, takes_no_method_that_cannot_set_points_asynchronously_where_an_axis_is_open) {
  for (const bool cuda : {false, true}) {
    if (cuda && QUADRAT_HAS_CUDA == 0) continue;
    for (const bool periodic : {false, true}) {
      detail::spread_request request = detail::request_of(cuda, determinism::none, setup_of(32, 100), 600, 2);
      request.periodic = periodic;
      const explanation why = detail::explain_spread_method(request, shipped_profile(cuda));
      for (const candidate& one : why.candidates) {
        if (one.method != "single_mesh") continue;
        EXPECT_EQ(one.why_not.empty(), periodic);
      }
      EXPECT_TRUE(periodic || why.chosen != "single_mesh");
    }
  }
}

/// On a CPU.
[[nodiscard]] std::string method_on_cpu(int order, std::size_t points, double uses, determinism level, int threads) {
  const auto request = detail::request_of(false, level, setup_of(64, uses, order), points, threads);
  return detail::choose_spread_method(request, shipped_profile(false)).method;
}

TEST(spread_choice, on_cpus_takes_tiles_for_many_points_unless_sums_shall_be_in_order) {
  for (const int order : {4, 6}) {
    for (const double uses : {1.0, 10.0}) {
      for (const determinism level : {determinism::none, determinism::run_to_run}) {
        EXPECT_EQ(method_on_cpu(order, 1000000, uses, level, 2), "tiles") << order << " " << uses;
      }
    }
  }
  for (const std::size_t points : {0u, 1u, 1000u, 1000000u}) {
    EXPECT_EQ(method_on_cpu(6, points, 1, determinism::canonical, 2), "single_mesh");
  }
}

TEST(spread_choice, is_the_callers_where_there_is_one) {
  const auto domain = make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true});
  const std::vector<vec<float, 3>> points(10, {0.5F, 0.5F, 0.5F});
  for (const std::string& asked : {std::string("gather"), std::string("auto"), std::string()}) {
    spread_options options;
    options.method = asked;
    spread_plan<cpu_context, float, 3> plan(cpu_context(), domain, {8, 8, 8}, 4, options);
    plan.set_points(points_of(points));
    const explanation why = plan.explanation();
    EXPECT_EQ(why.chosen, plan.method());
    EXPECT_EQ(why.reason, plan.reason());
    EXPECT_EQ(plan.reason() == "asked for", asked == "gather");
    EXPECT_TRUE(asked != "gather" || plan.method() == "gather");
    EXPECT_EQ(why.candidates.size(), spread_methods().size());
  }
}

/// How many points a plan has looked at after each set of so many.
[[nodiscard]] std::vector<double> sampled_after(determinism level, const std::vector<std::size_t>& counts) {
  const auto domain = make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true});
  const cpu_context context({.threads = 1, .reproducibility = level});
  spread_plan<cpu_context, float, 3> plan(context, domain, {8, 8, 8}, 4);
  std::vector<double> sampled;
  for (const std::size_t count : counts) {
    const std::vector<vec<float, 3>> points(count, {0.5F, 0.5F, 0.5F});
    plan.set_points(points_of(points));
    for (const auto& [name, value] : plan.explanation().load) {
      if (name == "sampled") sampled.push_back(value);
    }
  }
  return sampled;
}

TEST(spread_choice, points_are_looked_at_first_and_where_their_number_changes_by_half) {
  EXPECT_EQ(sampled_after(determinism::none, {300, 300, 310, 400, 500, 200}),
            (std::vector<double>{300, 300, 300, 300, 500, 200}));
  EXPECT_EQ(sampled_after(determinism::run_to_run, {300, 500}), (std::vector<double>{0, 0})) << "not worth it";
}

}  // namespace

}  // namespace quadrat::test
