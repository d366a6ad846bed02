// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mesh/methods.hpp"
#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"
#include "support/late_errors.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

// spread_plan::set_points_async and check.

namespace quadrat::test {

namespace {

using async_plan = spread_plan<backend_context, float, 3>;
using async_input = spread_case<float, 3>;
using async_points = points_on_device<float, 3>;

class asynchronous_points_test : public backend_test {};

async_input async_case(std::size_t count, std::uint64_t seed) {
  async_input it = uniform_case<float, 3>(seed, count, 18);
  it.order = 4;
  return it;
}

/// Whether the record of a method says that it sets points asynchronously.
bool should_set(const std::string& method, determinism level, bool periodic) {
  detail::spread_request request{};
  request.level = level;
  request.periodic = periodic;
  bool able = false;
  detail::spread_method_list::with(detail::spread_method_kind, method, [&](auto record) {
    able = detail::does_set_points_async<decltype(record)>(request);
  });
  return able;
}

/// The methods that do in every box.
std::vector<std::string> methods_for_any_box(determinism level = determinism::none) {
  std::vector<std::string> names = methods_here(level);
  std::erase_if(names, [&](const std::string& name) { return !should_set(name, level, false); });
  return names;
}

/// Whether the points were set; false if the method says that it cannot.
bool try_to_set(async_plan& plan, const async_points& points, const std::string& method) {
  try {
    plan.set_points_async(points.view());
    return true;
  } catch (const argument_error& problem) {
    expect_words(problem.what(), {method, "call set_points"});
    return false;
  }
}

std::string error_of_points(async_plan& plan, const async_points& points) {
  return late_error(plan, [&] { plan.set_points_async(points.view()); });
}

/// Equal numbers, fewer, none, one, and all in one place.
TEST_F(asynchronous_points_test, results_are_those_of_the_new_points_and_nothing_is_allocated) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    for (const std::string& method : methods_here(level)) {
      for (const std::size_t most : {700u, 4'000u}) {
        SCOPED_TRACE(method + " " + std::to_string(most));
        counting_memory memory;
        const backend_context context = memory.context(level), usual;
        auto plan = make_plan(context, async_case(0, 1), method, 4);
        set_points(context, plan, async_case(most, 2));
        std::vector<async_input> cases{async_case(most, 3), async_case(most / 7, 4), async_case(0, 5),
                                       async_case(1, 6)};
        cases.push_back(async_case(500, 7));
        std::fill(cases.back().points.begin(), cases.back().points.end(), cases.back().points[0]);
        bool able = true;
        for (const async_input& it : cases) {
          async_points points(usual, it.points);
          usual.synchronize();
          const std::size_t before = memory.allocations();
          able = try_to_set(plan, points, method);
          if (!able) break;
          context.synchronize();
          points.overwrite(usual);
          usual.synchronize();
          EXPECT_EQ(memory.allocations(), before);
          EXPECT_EQ(plan.point_count(), it.points.size());
          plan.check();
          expect_right(context, plan, it);
        }
        EXPECT_EQ(able, should_set(method, level, true));
      }
    }
  }
}

TEST_F(asynchronous_points_test, a_method_that_needs_to_know_where_points_are_names_those_that_do_not) {
  for (const determinism level : {determinism::none, determinism::run_to_run, determinism::canonical}) {
    const backend_context context({.reproducibility = level});
    async_input it = async_case(100, 1);
    it.domain.periodic[1] = false;
    it.options.clip = true;
    auto plan = make_plan(context, it, "single_mesh", 4);
    set_points(context, plan, it);
    const async_points points(context, it.points);
    const std::string problem = error_of<argument_error>([&] { plan.set_points_async(points.view()); });
    expect_words(problem, {"the method single_mesh", "call set_points"});
    for (const std::string& method : methods_here(level)) {
      if (method == "single_mesh") continue;
      EXPECT_EQ(problem.find(method + ",") != std::string::npos || problem.ends_with(method),
                should_set(method, level, false))
          << problem;
    }
    EXPECT_EQ(problem.ends_with("call set_points"), level == determinism::canonical) << problem;
  }
}

/// A few points less, for which a mesh point has fewer threads, and more rows may be long for these.
TEST_F(asynchronous_points_test, fewer_points_of_sparse_rows_need_no_more_memory) {
  for (const determinism level : {determinism::none, determinism::run_to_run, determinism::canonical}) {
    for (const std::size_t most : {215u, 430u, 860u, 1720u}) {
      counting_memory memory;
      const backend_context context = memory.context(level), usual;
      auto plan = make_plan(context, async_case(0, 1), "single_mesh", 4);
      set_points(context, plan, async_case(most, 2));
      for (const std::size_t count : {most - 1, most - most / 20, most / 2}) {
        const async_input it = async_case(count, 3);
        const async_points points(usual, it.points);
        usual.synchronize();
        const std::size_t before = memory.allocations();
        plan.set_points_async(points.view());
        EXPECT_EQ(memory.allocations(), before) << count << " of " << most;
        plan.check();
        expect_right(context, plan, it);
      }
    }
  }
}

TEST_F(asynchronous_points_test, a_refused_point_is_reported_by_every_check_until_points_are_set_again) {
  for (const std::string& method : methods_for_any_box()) {
    SCOPED_TRACE(method);
    const backend_context context;
    const async_input good = async_case(300, 2);
    async_input bad = good;
    bad.points[17][1] = std::numeric_limits<float>::quiet_NaN();
    auto plan = make_plan(context, good, method, 4);
    set_points(context, plan, good);
    const async_points good_points(context, good.points), bad_points(context, bad.points);
    array<float, backend_context> values(context, 300), mesh(context, plan.mesh_size());
    const auto check = [&] { plan.check(); };
    const auto spread = [&] { plan.spread(values.data(), mesh.data()); };
    expect_words(error_of_points(plan, bad_points), {"point 17 ", "not finite"});
    for (int round = 0; round < 2; ++round) {
      expect_words(error_of<data_error>(check), {"point 17 ", "not finite"});
      expect_words(error_of<argument_error>(spread), {"no points are set"});
    }
    plan.set_points_async(good_points.view());
    plan.check();
    expect_right(context, plan, good);
    expect_words(error_of_points(plan, bad_points), {"point 17 "});
    plan.set_points(good_points.view());
    plan.check();
    expect_right(context, plan, good);
  }
}

TEST_F(asynchronous_points_test, every_kind_of_refused_point_is_named) {
  const backend_context context;
  const auto complaint = [&](async_input it, float x) {
    auto plan = make_plan(context, it, "particle", 4);
    set_points(context, plan, it);
    it.points[3][0] = x;
    const async_points points(context, it.points);
    return error_of_points(plan, points);
  };
  async_input it = async_case(9, 1);
  for (auto& point : it.points) point[0] = 0.5f;
  expect_words(complaint(it, 1e9f), {"point 3 ", "outside the box"});
  it.domain.periodic[0] = false;
  expect_words(complaint(it, -1.5f), {"point 3 ", "footprint", "open axis"});
}

TEST_F(asynchronous_points_test, works_with_what_leaves_the_mesh_but_does_not_count_it) {
  for (const std::string& method : methods_for_any_box()) {
    SCOPED_TRACE(method);
    const backend_context context;
    async_input it = async_case(500, 2);
    it.domain.periodic[0] = it.domain.periodic[2] = false;
    it.options.clip = true;
    auto plan = make_plan(context, it, method, 4);
    set_points(context, plan, it);
    EXPECT_GT(plan.left_out().clipped, 0u);
    it.points = async_case(400, 3).points;
    const async_points points(context, it.points);
    plan.set_points_async(points.view());
    plan.check();
    expect_right(context, plan, it);
    expect_words(error_of<argument_error>([&] { (void)plan.left_out(); }), {"does not count"});
    plan.set_points(points.view());
    EXPECT_GT(plan.left_out().clipped, 0u);
  }
}

TEST_F(asynchronous_points_test, what_has_no_memory_yet_is_refused) {
  const backend_context context;
  async_input it = async_case(40, 2);
  auto plan = make_plan(context, it, "tiles", 4);
  const async_points points(context, it.points);
  const auto set = [&] { plan.set_points_async(points.view()); };
  expect_words(error_of<argument_error>(set), {"set_points has not been called"});
  plan.check();
  set_points(context, plan, async_case(39, 2));
  expect_words(error_of<argument_error>(set), {"40 points", "had 39"});
  expect_right(context, plan, async_case(39, 2));
  plan.set_points(points.view());
  it.points[0][0] = std::numeric_limits<float>::infinity();
  const async_points bad(context, it.points);
  EXPECT_THROW(plan.set_points(bad.view()), data_error);
  expect_words(error_of<argument_error>(set), {"has failed"});
}

TEST_F(asynchronous_points_test, is_the_same_in_every_run_where_the_context_asks_for_it) {
  for (const std::string& method : methods_for_any_box(determinism::run_to_run)) {
    SCOPED_TRACE(method);
    const backend_context context = context_at(determinism::run_to_run);
    const async_input it = async_case(20'000, 5);
    const spread_input<float, 3> input(it);
    auto plan = make_plan(context, it, method, 4);
    set_points(context, plan, it);
    const auto first = run_plan(context, plan, it, input);
    const async_points points(context, it.points);
    for (int round = 0; round < 3; ++round) {
      plan.set_points_async(points.view());
      EXPECT_TRUE(same_bits(run_plan(context, plan, it, input).mesh, first.mesh));
    }
  }
}

/// Enough points for the sort in two levels on GPUs, and then so few that alone they would be sorted in another way.
TEST_F(asynchronous_points_test, few_points_fit_where_many_were) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none), usual;
  const std::size_t most = size_or(210'000, 20'000);
  auto plan = make_plan(context, async_case(0, 1), "tiles", 4);
  set_points(context, plan, async_case(most, 2));
  for (const std::size_t count : {std::size_t{500}, most, std::size_t{9}}) {
    const async_input it = async_case(count, 3);
    auto fresh = make_plan(usual, it, "tiles", 4);
    set_points(usual, fresh, it);
    const async_points points(usual, it.points);
    usual.synchronize();
    const std::size_t before = memory.allocations();
    plan.set_points_async(points.view());
    plan.check();
    EXPECT_EQ(memory.allocations(), before);
    const spread_input<float, 3> input(it);
    const auto found = run_plan(context, plan, it, input), wanted = run_plan(usual, fresh, it, input);
    const auto furthest = [](const std::vector<float>& a, const std::vector<float>& b) {
      float most_apart = 0;
      for (std::size_t i = 0; i < a.size(); ++i) most_apart = std::max(most_apart, std::fabs(a[i] - b[i]));
      return most_apart;
    };
    EXPECT_LT(furthest(found.mesh, wanted.mesh), 1e-5f * static_cast<float>(1 + count / 100));
    EXPECT_LT(furthest(found.values, wanted.values), 1e-4f);
  }
}

#if QUADRAT_BACKEND_CUDA
/// The points of a sample that the choice went by.
[[nodiscard]] double sampled_by(const spread_plan<backend_context, float, 3>& plan) {
  for (const auto& [name, value] : plan.explanation().load) {
    if (name == "sampled") return value;
  }
  return -1;
}

TEST_F(asynchronous_points_test, are_looked_at_first_and_the_method_stays_also_where_a_graph_has_its_work) {
  const backend_context context;
  const async_input it = async_case(3000, 3);
  const spread_input<float, 3> input(it);
  const auto values = to_device(context, input.values);
  auto spread = to_device(context, input.before.mesh);
  const async_points points(context, it.points);
  for (const bool captured : {false, true}) {
    auto plan = make_plan(context, it, "auto", 4);
    set_points(context, plan, it);
    const std::string first(plan.method());
    EXPECT_GT(sampled_by(plan), 0);
    cuda_graph graph;
    if (captured) graph.capture(context, [&] { plan.spread_async(values.data(), spread.data()); });
    for (int call = 0; call < 20; ++call) plan.set_points(points.view());
    EXPECT_EQ(plan.method(), first);
    plan.set_points_async(points.view());  // works with every method that is chosen
    plan.spread(values.data(), spread.data());
    const auto wanted = wanted_of(it, input, problem_of(it));
    EXPECT_LT(relative_error(to_host(context, spread), wanted.mesh), spread_tolerance<float>);
  }
}

TEST_F(asynchronous_points_test, an_error_is_not_hidden_by_the_next_points) {
  const backend_context context;
  const async_input good = async_case(300, 2);
  async_input bad = good;
  bad.points[17][1] = std::numeric_limits<float>::quiet_NaN();
  auto plan = make_plan(context, good, "particle", 4);
  set_points(context, plan, good);
  const async_points good_points(context, good.points), bad_points(context, bad.points);
  plan.set_points_async(bad_points.view());
  plan.set_points_async(good_points.view());
  expect_words(error_of<data_error>([&] { plan.check(); }), {"point 17 ", "not finite"});
}

TEST_F(asynchronous_points_test, a_call_that_waits_throws_what_its_twin_leaves_to_check) {
  const backend_context context;
  const async_input good = async_case(300, 2);
  async_input bad = good;
  bad.points[17][1] = std::numeric_limits<float>::quiet_NaN();
  auto plan = make_plan(context, good, "particle", 4);
  const async_points good_points(context, good.points), bad_points(context, bad.points);
  array<float, backend_context> values(context, 300), gradients(context, 900), mesh(context, plan.mesh_size());
  const auto expect_thrown_by = [&](const auto& call, const auto& call_async) {
    plan.set_points(good_points.view());
    plan.set_points_async(bad_points.view());
    EXPECT_NO_THROW(call_async());
    expect_words(error_of<data_error>(call), {"point 17 ", "not finite"});
  };
  expect_thrown_by([&] { plan.spread(values.data(), mesh.data()); },
                   [&] { plan.spread_async(values.data(), mesh.data()); });
  expect_thrown_by([&] { plan.interpolate(mesh.data(), values.data()); },
                   [&] { plan.interpolate_async(mesh.data(), values.data()); });
  expect_thrown_by([&] { plan.interpolate_gradient(mesh.data(), gradients.data()); },
                   [&] { plan.interpolate_gradient_async(mesh.data(), gradients.data()); });
  expect_thrown_by([&] { plan.interpolate_with_gradient(mesh.data(), values.data(), gradients.data()); },
                   [&] { plan.interpolate_with_gradient_async(mesh.data(), values.data(), gradients.data()); });
}

TEST_F(asynchronous_points_test, a_call_that_waits_leaves_no_work_on_the_stream) {
  const backend_context context;
  const async_input it = async_case(200'000, 2);
  auto plan = make_plan(context, it, "particle", 4);
  set_points(context, plan, it);
  array<float, backend_context> values(context, it.points.size()), mesh(context, plan.mesh_size());
  plan.spread(values.data(), mesh.data());
  EXPECT_EQ(cudaStreamQuery(context.stream()), cudaSuccess);
  plan.interpolate(mesh.data(), values.data());
  EXPECT_EQ(cudaStreamQuery(context.stream()), cudaSuccess);
}

TEST_F(asynchronous_points_test, setting_points_and_using_them_is_replayed_from_a_graph) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    for (const std::string& method : methods_for_any_box(level)) {
      for (const std::size_t count : {600u, 20'000u}) {
        SCOPED_TRACE(method + " " + std::to_string(count));
        const backend_context context = context_at(level);
        const async_input it = async_case(count, 3), next = async_case(count, 4);
        auto plan = make_plan(context, it, method, 4);
        set_points(context, plan, it);
        auto points = to_device(context, it.points);
        const spread_input<float, 3> input(it);
        const auto values = to_device(context, input.values);
        auto spread = to_device(context, input.before.mesh), found = to_device(context, input.before.values);
        cuda_graph graph;
        graph.capture(context, [&] {
          plan.set_points_async(points_of(points));
          plan.spread_async(values.data(), spread.data());
          plan.interpolate_async(spread.data(), found.data());
        });
        for (const async_input& now : {next, it, next}) {
          copy_bytes(context, now.points.data(), points.data(), points.bytes());
          graph.launch(context);
          plan.check();
          const auto wanted = wanted_of(now, input, problem_of(now));
          EXPECT_LT(relative_error(to_host(context, spread), wanted.mesh), spread_tolerance<float>);
        }
        auto bad = next.points;
        bad[5][2] = std::numeric_limits<float>::infinity();
        copy_bytes(context, bad.data(), points.data(), points.bytes());
        graph.launch(context);
        expect_words(error_of<data_error>([&] { plan.check(); }), {"point 5 ", "not finite"});
      }
    }
  }
}
#endif

}  // namespace

}  // namespace quadrat::test
