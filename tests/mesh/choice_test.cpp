// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/choice.hpp"

#include <gtest/gtest.h>

#include "mesh/checks.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/config.hpp"

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
  return detail::choose_spread_method(detail::request_of(true, level, setup_of(mesh, uses), points));
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
  EXPECT_EQ(choice_of(256, 100000, 100).method, "tiles");
  EXPECT_EQ(choice_of(256, 1000, 1).method, "particle_threads");
  EXPECT_EQ(choice_of(64, 10000, 1).method, "particle_threads");
}

TEST_F(spread_choice_cuda, goes_by_the_number_of_uses) {
  EXPECT_EQ(choice_of(64, 1000, 1).method, "particle_threads");
  EXPECT_EQ(choice_of(64, 1000, 1000).method, "single_mesh");
}

/// No absolute times: those of another machine could be wrong by any factor.
TEST_F(spread_choice_cuda, says_how_the_best_two_compare) {
  EXPECT_EQ(choice_of(128, 10000000, 5).reason(),
            "for 5 uses tiles is expected to take least, particle_threads 12 times as long");
}

TEST_F(spread_choice_cuda, has_the_level_of_determinism_that_is_asked_for) {
  EXPECT_EQ(choice_of(64, 1000, 1, determinism::run_to_run).method, "tiles");
  EXPECT_EQ(choice_of(64, 1000, 1, determinism::canonical).method, "single_mesh");
}

TEST(spread_choice, on_cpus_takes_tiles_unless_sums_shall_be_in_order) {
  for (const int order : {1, 2, 6}) {
    for (const std::size_t points : {0u, 1u, 1000u, 1000000u}) {
      for (const double uses : {1.0, 1000.0}) {
        const auto setup = setup_of(64, uses, order);
        for (const determinism level : {determinism::none, determinism::run_to_run}) {
          const cpu_context context({.reproducibility = level});
          EXPECT_EQ(detail::choose_spread_method(context, setup, points).method, "tiles");
        }
        const cpu_context canonical({.reproducibility = determinism::canonical});
        EXPECT_EQ(detail::choose_spread_method(canonical, setup, points).method, "single_mesh");
      }
    }
  }
}

TEST(spread_choice, is_the_callers_where_there_is_one) {
  auto setup = setup_of(64, 1);
  setup.options.method = "gather";
  const auto choice = detail::choose_spread_method(cpu_context(), setup, 1000);
  EXPECT_EQ(choice.method, "gather");
  EXPECT_EQ(choice.reason(), "asked for");
  setup.options.method = "auto";
  EXPECT_EQ(detail::choose_spread_method(cpu_context(), setup, 1000).method, "tiles");
}

}  // namespace

}  // namespace quadrat::test
