// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

// Plans that time methods, and plans that do not.

namespace quadrat::test {

namespace {

/// A plan that is given two sets of points by turns.
class plan_by_turns {
 public:
  using plan_type = spread_plan<backend_context, float, 3>;

  plan_by_turns(const backend_context& context, std::size_t points, bool autotune, const std::string& method = "auto")
      : context_(context), sides_{side(context, points, 5), side(context, points, 6)} {
    spread_options options;
    options.method = method;
    options.autotune = autotune;
    plan_.emplace(context, sides_[0].it.domain, sides_[0].it.mesh, 4, options);
  }

  [[nodiscard]] plan_type& plan() { return *plan_; }
  void take_turn() {
    side& now = sides_[++turns_ % 2];
    plan_->set_points(now.points.view());
    use(now);
    methods.emplace(plan_->method());
  }
  void use_latest() { use(sides_[turns_ % 2]); }
  void overwrite_latest() {
    side& now = sides_[turns_ % 2];
    fill_bytes(context_, now.mesh.data(), 0xff, now.mesh.bytes());
    fill_bytes(context_, now.found.data(), 0xff, now.found.bytes());
  }
  void expect_right_latest() {
    const side& now = sides_[turns_ % 2];
    EXPECT_LT(relative_error(to_host(context_, now.mesh), now.wanted.mesh), spread_tolerance<float>) << plan_->method();
    EXPECT_LT(relative_error(to_host(context_, now.found), now.wanted.values), spread_tolerance<float>)
        << plan_->method();
  }

  std::set<std::string> methods;

 private:
  struct side {
    spread_case<float, 3> it;
    spread_input<float, 3> input;
    wanted_results wanted;
    points_on_device<float, 3> points;
    array<float, backend_context> values, mesh, read, found;

    // Memory of the plan's stream: the plan may still use it when it is released.
    side(const backend_context& context, std::size_t count, std::uint64_t seed)
        : it(case_of(count, seed)),
          input(it),
          wanted(wanted_of(it, input, problem_of(it))),
          points(context, it.points),
          values(to_device(context, input.values)),
          mesh(to_device(context, input.before.mesh)),
          read(to_device(context, input.mesh)),
          found(to_device(context, input.before.values)) {}
    static spread_case<float, 3> case_of(std::size_t count, std::uint64_t seed) {
      spread_case<float, 3> it = uniform_case<float, 3>(seed, count, 10);
      it.order = 4;
      return it;
    }
  };

  void use(side& now) {
    plan_->spread_async(now.values.data(), now.mesh.data());
    plan_->interpolate_async(now.read.data(), now.found.data());
  }

  backend_context context_;
  side sides_[2];
  std::optional<plan_type> plan_;
  std::size_t turns_ = 0;
};

constexpr int enough_turns = 60;

class spread_autotune : public backend_test {};

TEST_F(spread_autotune, results_are_right_while_methods_are_timed_and_the_fastest_stays) {
  std::size_t tuned = 0;
  for (const std::size_t points : {300u, 4000u}) {
    plan_by_turns plan(backend_context(), points, true);
    for (int turn = 0; turn < enough_turns; ++turn) {
      plan.take_turn();
      plan.expect_right_latest();
    }
    EXPECT_EQ(plan.plan().explanation().changes.size(), plan.methods.size() > 1 ? 1u : 0u);
    tuned += plan.methods.size() > 1 ? 1 : 0;
    plan.methods.clear();
    for (int turn = 0; turn < 20; ++turn) plan.take_turn();
    EXPECT_EQ(plan.methods.size(), 1u);
  }
  EXPECT_GE(tuned, 1u) << "several methods may be the fastest for at least one number of points";
}

TEST_F(spread_autotune, without_it_the_method_stays_and_as_many_points_again_allocate_nothing) {
  counting_memory memory;
  plan_by_turns plan(memory.context(determinism::none), 300, false);
  plan.take_turn();
  plan.take_turn();
  const std::size_t allocations = memory.allocations();
  plan.methods.clear();
  for (int turn = 0; turn < 400; ++turn) plan.take_turn();
  plan.expect_right_latest();
  EXPECT_EQ(plan.methods.size(), 1u);
  EXPECT_EQ(memory.allocations(), allocations) << plan.plan().explanation().text();
  EXPECT_TRUE(plan.plan().explanation().changes.empty());
}

TEST_F(spread_autotune, a_named_method_stays) {
  plan_by_turns plan(backend_context(), 300, true, "particle");
  for (int turn = 0; turn < enough_turns; ++turn) plan.take_turn();
  EXPECT_EQ(plan.methods, std::set<std::string>{"particle"});
}

TEST_F(spread_autotune, is_refused_where_runs_must_be_repeatable) {
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    EXPECT_THROW(plan_by_turns(context_at(level), 300, true), argument_error);
  }
}

TEST_F(spread_autotune, ends_when_points_are_set_asynchronously) {
  plan_by_turns plan(backend_context(), 300, true);
  plan.take_turn();
  const auto it = uniform_case<float, 3>(7, 300, 10);
  const points_on_device<float, 3> points(backend_context(), it.points);
  plan.plan().set_points_async(points.view());
  plan.plan().check();
  for (int turn = 0; turn < enough_turns; ++turn) plan.take_turn();
  EXPECT_EQ(plan.methods.size(), 1u);
  plan.expect_right_latest();
}

#if QUADRAT_BACKEND_CUDA
/// Captured while a candidate is timed. An even number of turns later its points are there again.
TEST_F(spread_autotune, a_captured_graph_keeps_its_method_and_stays_valid) {
  const backend_context context;
  plan_by_turns plan(context, 300, true);
  for (int turn = 0; turn < 6; ++turn) plan.take_turn();
  const std::string method(plan.plan().method());
  cuda_graph graph;
  graph.capture(context, [&] { plan.use_latest(); });
  plan.methods.clear();
  for (int turn = 0; turn < enough_turns; ++turn) plan.take_turn();
  EXPECT_EQ(plan.methods, std::set<std::string>{method});
  plan.overwrite_latest();
  graph.launch(context);
  plan.expect_right_latest();
}
#endif

}  // namespace

}  // namespace quadrat::test
