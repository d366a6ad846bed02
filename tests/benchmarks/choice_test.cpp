// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "choice/frames.hpp"
#include "choice/judge.hpp"
#include "choice/least_squares.hpp"
#include "choice/loads.hpp"
#include "choice/places.hpp"
#include "mesh/request.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "spectral/cost.hpp"

// The fit of constants, and what is judged by them.

namespace quadrat::bench {

namespace {

TEST(fit_relative, finds_constants_that_times_were_made_of) {
  const std::vector<double> constants{0.5, 0, 3};
  std::vector<std::vector<double>> amounts;
  std::vector<double> times;
  for (int i = 1; i <= 40; ++i) {
    amounts.push_back({1, std::sqrt(i), 0.01 * i * i});
    times.push_back(constants[0] + constants[2] * 0.01 * i * i);
  }
  std::vector<double> weights(times.size(), 1.0);
  std::vector<double> found = fit_relative(amounts, times, weights);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k], constants[k], 1e-3) << k;
  times[7] *= 50;  // somebody else used the machine
  found = fit_relative(amounts, times, weights);
  EXPECT_NEAR(found[2], 3, 0.1);
}

TEST(fit_relative, is_not_led_by_a_few_that_took_far_less) {
  // Most starts of threads take 30, some happen to take 4.
  std::vector<double> times(20, 30.0);
  times[3] = times[11] = 4;
  const std::vector<std::vector<double>> amounts(times.size(), {1.0});
  const std::vector<double> found = fit_relative(amounts, times, std::vector<double>(times.size(), 1.0));
  EXPECT_NEAR(found[0], 30, 3);
}

TEST(fit_relative, is_led_by_what_takes_far_longer_where_nothing_interrupts) {
  std::vector<double> times(20, 1.0);
  times[3] = times[11] = 30;
  const std::vector<std::vector<double>> amounts(times.size(), {1.0});
  const std::vector<double> ones(times.size(), 1.0);
  EXPECT_LT(fit_relative(amounts, times, ones)[0], 1.2);
  EXPECT_GT(fit_relative(amounts, times, ones, false)[0], 2);
}

TEST(fit_relative, gives_no_negative_constants_and_0_to_what_never_occurs) {
  const std::vector<double> found = fit_relative({{1, 0, 5}, {1, 0, 10}}, {6, 1}, {1, 1});
  for (const double one : found) EXPECT_GE(one, 0);
  EXPECT_EQ(found[1], 0);
  EXPECT_TRUE(fit_relative({}, {}, {}).empty());
}

/// A measured row in which `tiles` takes a tenth of `single_mesh`.
[[nodiscard]] row some_row(double points) {
  detail::spread_request request{};
  request.points = points;
  request.nodes = 4096;
  request.bytes = 4 * request.nodes;
  request.uses = 1;
  request.width = 6;
  row one{{"op", "mesh"}, {"grid", "test"}, {"n", points}, {"distribution", "uniform"}};
  one["prepare_ms"] = {{"tiles", 1e-5 * points}, {"single_mesh", 1e-4 * points}};
  one["use_ms"] = {{"tiles", 1e-5 * points}, {"single_mesh", 1e-4 * points}};
  one["load"] = to_row(request);
  return one;
}

TEST(judged_choices, have_no_regret_with_constants_that_fit) {
  std::vector<row> rows;
  for (double points = 1000; points < 1e7; points *= 3) rows.push_back(some_row(points));
  device_profile start;
  const device_profile fitted = fit_profile(rows, start);
  std::vector<row> judged;
  for (const row& one : rows) {
    for (row& result : judge(one, fitted)) judged.push_back(result);
  }
  EXPECT_EQ(judged.size(), 3 * rows.size());
  for (const row& one : judged) {
    EXPECT_EQ(one["chosen"], "tiles");
    EXPECT_EQ(one["regret"], 1.0);
  }
  const std::vector<row> summary = summarize_regret(judged);
  ASSERT_EQ(summary.size(), 1U);
  EXPECT_EQ(summary[0]["cases"], judged.size());
  EXPECT_EQ(summary[0]["worst"], 1.0);
}

TEST(judged_choices, of_the_first_call_pay_for_a_sample_if_it_takes_one) {
  row measured = some_row(1e6);
  measured["sample_ms"] = 3.0;
  const device_profile fitted = fit_profile({some_row(1e3), some_row(1e6)}, {});
  const row once = judge(measured, fitted).front();
  EXPECT_EQ(once["regret"], 1.0);
  EXPECT_NEAR(once["first_regret"].get<double>(), 1 + 3 / once["best_ms"].get<double>(), 1e-9);
  // Where runs must be repeatable a short call is not worth it.
  row brief = some_row(1e3);
  brief["sample_ms"] = 3.0;
  detail::spread_request repeatable = spread_request_of(brief["load"]);
  repeatable.level = determinism::run_to_run;
  brief["load"] = to_row(repeatable);
  EXPECT_EQ(judge(brief, fitted).front()["first_regret"], 1.0);
}

TEST(judged_choices, keep_constants_of_what_no_case_has_any_of) {
  device_profile start;
  start.constants["mesh.tiles.team"] = 0.25;
  start.constants["mesh.tiles.points"] = 1e9;
  const device_profile fitted = fit_profile({some_row(1000), some_row(100000)}, start);  // one thread: no teams
  EXPECT_EQ(fitted.constants.at("mesh.tiles.team"), 0.25);
  EXPECT_LT(fitted.constants.at("mesh.tiles.points"), 1e9);
}

TEST(judged_choices, have_the_regret_of_constants_that_do_not_fit) {
  device_profile wrong = fit_profile({some_row(1000), some_row(100000)}, {});
  for (auto& [name, constant] : wrong.constants) constant *= name.starts_with("mesh.tiles") ? 1000 : 1;
  for (const row& one : judge(some_row(5000), wrong)) {
    EXPECT_EQ(one["chosen"], "single_mesh");
    EXPECT_NEAR(one["regret"].get<double>(), 10, 1e-9);
  }
}

/// A transform with a dear mesh, by two oversamplings.
[[nodiscard]] row transform_row(double points) {
  row out{{"op", "nufft"}, {"grid", "test"}, {"case", 0}, {"n", points}};
  const auto add = [&](const std::string& name, double nodes, int width) {
    const detail::transform_load load{false, true, 2, 3, points, nodes, width, 1};
    out["load"][name] = to_row(load);
    out["prepare_ms"][name] = 0;
    out["use_ms"][name] = 1e-4 * nodes + 1e-7 * points * width * width * (width + 3);
  };
  add("oversampling 1.5", 1e5, 7);
  add("oversampling 2", 2.4e5, 5);
  return out;
}

TEST(judged_choices, of_parameters_compare_candidates_by_one_cost) {
  std::vector<row> measured;
  for (const double points : {1e3, 1e4, 1e5, 1e6}) measured.push_back(transform_row(points));
  const device_profile fitted = fit_profile(measured, {});
  EXPECT_TRUE(fitted.constants.contains("nufft.transform.mesh"));
  std::set<std::string> chosen;
  for (const row& one : measured) {
    const std::vector<row> judged = judge(one, fitted);
    ASSERT_EQ(judged.size(), 1U);
    EXPECT_EQ(judged[0]["regret"], 1.0);
    chosen.insert(judged[0]["chosen"].get<std::string>());
  }
  EXPECT_EQ(chosen.size(), 2U);
}

TEST(choice_loads, are_read_as_they_were_written) {
  const row one = some_row(12345)["load"];
  EXPECT_EQ(to_row(spread_request_of(one)), one);
  row broken = one;
  broken.erase("points");
  EXPECT_THROW(static_cast<void>(spread_request_of(broken)), nlohmann::json::exception);
}

TEST(choice_loads, of_transforms_of_earlier_versions_say_by_the_shipped_profile_whether_points_are_sorted) {
  for (const double points : {1e3, 1e7}) {
    const detail::transform_load load{true, true, 2, 3, points, 1e6, 6, 1, true};
    row one = to_row(load);
    EXPECT_TRUE(transform_load_of(one).tiled);
    one.erase("tiled");
    EXPECT_EQ(transform_load_of(one).tiled, points > 1e6);
  }
}

TEST(choice_places, are_all_in_the_box_the_same_in_any_order_of_memory) {
  std::set<std::string_view> distributions(place_distributions.begin(), place_distributions.end());
  for (const std::string_view fitted : place_distributions) distributions.insert(unseen_distribution(fitted));
  EXPECT_EQ(distributions.size(), place_distributions.size() + 2);
  for (const std::string_view distribution : distributions) {
    for (const int dimension : {2, 3}) {
      std::map<bool, std::multiset<double>> found;
      for (const bool sorted : {false, true}) {
        const auto places = make_places(distribution, 1000, dimension, 5, sorted);
        ASSERT_EQ(places.size(), 1000U * static_cast<std::size_t>(dimension));
        for (const double x : places) EXPECT_TRUE(x >= 0 && x < 1) << distribution << " " << x;
        found[sorted] = {places.begin(), places.end()};
      }
      EXPECT_EQ(found[false], found[true]) << distribution;
    }
  }
  EXPECT_TRUE(make_places("uniform", 0, 3, 5, true).empty());
  EXPECT_THROW(static_cast<void>(make_places("unform", 10, 3, 5, false)), argument_error);
}

// These are of the same suite because a suite is a process, and each process simulates the frames again.

/// Of the fluid: the share of the bottom that has anything above it.
template <int D>
[[nodiscard]] double wetted(const frame<D>& fluid) {
  std::set<int> columns;
  for (const auto& x : fluid) columns.insert(static_cast<int>(x[0] * 20));
  return static_cast<double>(columns.size()) / 20;
}

TEST(choice_places, are_of_a_fluid_that_falls_and_stays_in_its_box) {
  const auto& frames = dam_break_frames<2>();
  ASSERT_GE(frames.size(), 8U);
  EXPECT_LT(wetted(frames.front()), 0.3);
  EXPECT_GT(wetted(frames.back()), 0.9);
  for (const auto& now : frames) {
    ASSERT_EQ(now.size(), frames.front().size());
    for (const auto& x : now) EXPECT_TRUE(x[0] >= 0 && x[0] <= 1 && x[1] >= 0 && x[1] <= 1) << x[0] << " " << x[1];
  }
  // It does not collapse: few particles are much nearer to another than at rest.
  std::size_t near = 0;
  const auto& last = frames.back();
  for (std::size_t i = 0; i < last.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) near += norm(last[i] - last[j]) < 0.5 * dam_break_spacing<2>() ? 1 : 0;
  }
  EXPECT_LT(near, last.size() / 5);
}

TEST(choice_places, are_of_persons_who_gather_without_standing_on_each_other) {
  const auto& frames = crowd_frames();
  ASSERT_GE(frames.size(), 8U);
  const auto met = [](const frame<2>& now, double distance) {
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) pairs += norm(now[i] - now[j]) < distance ? 1 : 0;
    }
    return pairs;
  };
  const double diameter = 0.6 / 40;
  EXPECT_GT(met(frames.back(), 2 * diameter), met(frames.front(), 2 * diameter) * 5 / 4);
  EXPECT_LT(met(frames.back(), 0.5 * diameter), frames.back().size() / 20);
}

}  // namespace

}  // namespace quadrat::bench
