// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "support/scarce_memory.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

// Plans whose method is chosen automatically try others by the times of rounds.

namespace quadrat::test {

namespace {

/// A plan whose rounds are of two sets of points, by turns.
class plan_in_rounds {
 public:
  using plan_type = spread_plan<backend_context, float, 3>;

  plan_in_rounds(const backend_context& context, const std::string& method)
      : context_(context), plan_(make_plan(context, sides_[0].it, method, 4)) {}

  [[nodiscard]] plan_type& plan() { return plan_; }
  [[nodiscard]] bool has_sampled() const {
    for (const auto& [name, value] : plan_.explanation().load) {
      if (name == "sampled" && value > 0) return true;
    }
    return false;
  }

  void round() {
    side& now = sides_[++rounds_ % 2];
    plan_.set_points(now.points.view());
    use(now);
  }
  void use_latest() { use(sides_[rounds_ % 2]); }
  void overwrite_latest() {
    side& now = sides_[rounds_ % 2];
    fill_bytes(context_, now.mesh.data(), 0xff, now.mesh.bytes());
    fill_bytes(context_, now.found.data(), 0xff, now.found.bytes());
  }
  /// Rounds until the first points were looked at.
  void sample() {
    for (int k = 0; k < most_rounds && !has_sampled(); ++k) round();
    ASSERT_TRUE(has_sampled());
  }
  /// The methods of so many rounds, each of which is checked.
  [[nodiscard]] std::set<std::string> methods_of(int rounds, std::size_t enough) {
    std::set<std::string> methods;
    for (int k = 0; k < rounds && methods.size() < enough; ++k) {
      round();
      methods.emplace(plan_.method());
      expect_right_latest();
    }
    return methods;
  }
  void expect_right_latest() {
    const side& now = sides_[rounds_ % 2];
    EXPECT_LT(relative_error(to_host(context_, now.mesh), now.wanted.mesh), spread_tolerance<float>) << plan_.method();
    EXPECT_LT(relative_error(to_host(context_, now.found), now.wanted.values), spread_tolerance<float>)
        << plan_.method();
  }

  /// Enough for a trial of a method that is expected to take as long as any that may be tried.
  static constexpr int most_rounds = 2500;
  static constexpr std::size_t point_count = 300;

 private:
  struct side {
    spread_case<float, 3> it;
    spread_input<float, 3> input;
    wanted_results wanted;
    points_on_device<float, 3> points;
    array<float, backend_context> values, mesh, read, found;

    explicit side(std::uint64_t seed)
        : it(case_of(seed)),
          input(it),
          wanted(wanted_of(it, input, problem_of(it))),
          points(backend_context(), it.points),
          values(to_device(backend_context(), input.values)),
          mesh(to_device(backend_context(), input.before.mesh)),
          read(to_device(backend_context(), input.mesh)),
          found(to_device(backend_context(), input.before.values)) {}
    static spread_case<float, 3> case_of(std::uint64_t seed) {
      spread_case<float, 3> it = uniform_case<float, 3>(seed, point_count, 10);
      it.order = 4;
      return it;
    }
  };

  void use(side& now) {
    plan_.spread(now.values.data(), now.mesh.data());
    plan_.interpolate(now.read.data(), now.found.data());
  }

  backend_context context_;
  std::vector<side> sides_ = [] {
    std::vector<side> sides;
    for (const std::uint64_t seed : {5u, 6u}) sides.emplace_back(seed);
    backend_context().synchronize();
    return sides;
  }();
  plan_type plan_;
  std::size_t rounds_ = 0;
};

class spread_trials : public backend_test {};

TEST_F(spread_trials, results_are_right_while_methods_change) {
  plan_in_rounds plan(backend_context(), "auto");
  EXPECT_GE(plan.methods_of(plan_in_rounds::most_rounds, 2).size(), 2u);
  static_cast<void>(plan.methods_of(30, 100));
}

TEST_F(spread_trials, none_happen_where_runs_are_repeatable_or_a_method_is_named) {
  constexpr int rounds = 400;
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    EXPECT_EQ(plan_in_rounds(context_at(level), "auto").methods_of(rounds, 2).size(), 1u);
  }
  EXPECT_EQ(plan_in_rounds(backend_context(), "particle").methods_of(rounds, 2).size(), 1u);
}

TEST_F(spread_trials, a_method_whose_memory_cannot_be_had_is_not_used) {
  scarce_memory memory;
  backend_context::options options;
  options.memory = &memory;
  plan_in_rounds plan{backend_context(options), "auto"};
  plan.sample();
  const std::string kept(plan.plan().method());
  memory.available = 4096;  // less than any engine needs for these points
  EXPECT_EQ(plan.methods_of(400, 2), std::set<std::string>{kept});
}

TEST_F(spread_trials, end_when_points_are_set_asynchronously) {
  plan_in_rounds plan(backend_context(), "auto");
  plan.sample();
  const auto it = uniform_case<float, 3>(7, plan_in_rounds::point_count, 10);
  const points_on_device<float, 3> points(backend_context(), it.points);
  plan.plan().set_points_asynchronously(points.view());
  plan.plan().check();
  EXPECT_EQ(plan.methods_of(400, 2).size(), 1u);
}

#if QUADRAT_BACKEND_CUDA
/// Captured while another method is on trial. An even number of rounds later its points are there again.
TEST_F(spread_trials, a_captured_graph_keeps_its_method_and_stays_valid) {
  const backend_context context;
  plan_in_rounds plan(context, "auto");
  ASSERT_GE(plan.methods_of(plan_in_rounds::most_rounds, 2).size(), 2u);
  const std::string method(plan.plan().method());
  cuda_graph graph;
  graph.capture(context, [&] { plan.use_latest(); });
  for (int k = 0; k < 300; ++k) {
    plan.round();
    ASSERT_EQ(plan.plan().method(), method);
  }
  plan.overwrite_latest();
  graph.launch(context);
  plan.expect_right_latest();
}
#endif

}  // namespace

}  // namespace quadrat::test
