// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "mesh/shape.hpp"
#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"
#include "support/scarce_memory.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

// What plans allocate, and when; and what happens when memory runs out.

namespace quadrat::test {

namespace {

using plan3 = spread_plan<backend_context, float, 3>;
using case3 = spread_case<float, 3>;

class spread_memory_test : public backend_test {};

/// Complex values in two vectors, and a footprint of 5^3.
case3 complex_case(std::size_t count = 700, std::uint64_t seed = 4) {
  case3 it = uniform_case<float, 3>(seed, count, 17);
  it.components = it.vectors = 2;
  return it;
}

/// The number before a word in a text; 0 if there is none.
std::size_t number_before(const std::string& text, const std::string& word) {
  const std::size_t end = text.find(word);
  if (end == std::string::npos || end == 0) return 0;
  const std::size_t start = text.find_last_not_of("0123456789", end - 1);
  return std::stoull("0" + text.substr(start + 1, end - start - 1));
}

/// Small results of every call, allocated in advance.
struct calls_and_results {
  array<float, backend_context> values, mesh, gradients;

  calls_and_results(const backend_context& context, const case3& it, std::size_t nodes)
      : values(to_device(context, random_values<float>(it.points.size() * 4, 1, true))),
        mesh(to_device(context, random_values<float>(nodes * 4, 2, true))),
        gradients(to_device(context, random_values<float>(it.points.size() * 12, 3, true))) {}

  void make(plan3& plan) {
    for (const std::size_t components : {1u, 2u}) {
      const plan_calls<float, 3> calls(plan, components);
      for (const mesh_call& call : {mesh_call{1, false}, mesh_call{2, true}, mesh_call{2, false}}) {
        calls.spread(values.data(), mesh.data(), call);
        calls.interpolate(mesh.data(), values.data(), call);
        calls.gradient(mesh.data(), gradients.data(), call);
      }
    }
  }
};

TEST_F(spread_memory_test, execution_and_the_same_points_again_allocate_nothing) {
  for (const std::string& method : methods_here()) {
    for (const determinism level : {determinism::none, determinism::run_to_run, determinism::canonical}) {
      const auto able = methods_here(level);
      if (std::find(able.begin(), able.end(), method) == able.end()) continue;
      SCOPED_TRACE(method + " at level " + std::to_string(static_cast<int>(level)));
      counting_memory memory;
      const backend_context context = memory.context(level), usual;
      const case3 it = complex_case();
      auto plan = make_plan(context, it, method, it.order);
      calls_and_results results(usual, it, plan.mesh_size());
      const points_on_device<float, 3> points(usual, it.points);
      usual.synchronize();
      plan.set_points(points.view());
      const std::size_t before = memory.allocations();
      results.make(plan);
      context.synchronize();
      EXPECT_EQ(memory.allocations(), before) << "execution";
      plan.set_points(points.view());
      EXPECT_EQ(memory.allocations(), before) << "the same points";
      results.make(plan);
      context.synchronize();
      EXPECT_EQ(memory.allocations(), before) << "execution afterwards";
      expect_right(context, plan, it);
    }
  }
}

/// All except a few words of the plan itself.
void expect_bytes_of(const counting_memory& memory, const plan3& plan) {
  EXPECT_LE(plan.bytes(), memory.live_bytes());
  EXPECT_GE(plan.bytes() + 1024, memory.live_bytes());
}

TEST_F(spread_memory_test, bytes_are_those_of_the_memory) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    counting_memory memory;
    const backend_context context = memory.context(determinism::none);
    {
      auto plan = make_plan(context, complex_case(), method, 4);
      for (const std::size_t count : {20u, 3000u, 100u}) {
        set_points(context, plan, complex_case(count));
        context.synchronize();
        expect_bytes_of(memory, plan);
      }
    }
    context.synchronize();
    EXPECT_EQ(memory.live_bytes(), 0u) << "given back";
  }
}

TEST_F(spread_memory_test, bytes_include_what_counting_the_points_left_out_takes) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  case3 it = complex_case(100'000);
  it.domain.periodic[1] = false;
  it.options.clip = true;
  auto plan = make_plan(context, it, "particle", 4);
  set_points(context, plan, it);
  context.synchronize();
  expect_bytes_of(memory, plan);
}

TEST_F(spread_memory_test, what_is_not_allowed_is_refused_before_anything_is_allocated) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    counting_memory memory;
    const backend_context context = memory.context(determinism::none), usual;
    case3 it = complex_case();
    it.options.most_bytes = 2000;
    auto plan = make_plan(context, it, method, it.order);
    const points_on_device<float, 3> points(usual, it.points);
    usual.synchronize();
    const std::size_t before = memory.allocations();
    const std::string text = error_of<argument_error>([&] { plan.set_points(points.view()); });
    EXPECT_EQ(memory.allocations(), before);
    EXPECT_NE(text.find(method), std::string::npos) << text;
    EXPECT_NE(text.find("2000"), std::string::npos) << text;
    EXPECT_GE(number_before(text, " bytes"), it.points.size() * 16) << text;
    EXPECT_NE(error_of<argument_error>([&] { plan.spread(nullptr, static_cast<float*>(nullptr)); }), "no error");
  }
}

/// 2^31 - 1 points, of which only the first exists: the message gives the bytes they would need, without integer
/// overflow.
TEST_F(spread_memory_test, the_most_points_are_refused_with_what_they_would_need) {
  const backend_context context;
  const auto one = to_device(context, std::vector<float>{1, 1, 1});
  for (const std::string& method : methods_here()) {
    for (const int order : {1, 8}) {
      case3 it = complex_case();
      it.options.most_bytes = std::size_t{1} << 34;
      auto plan = make_plan(context, it, method, order);
      const std::string text =
          error_of<argument_error>([&] { plan.set_points(strided_points<3>(one.data(), max_count)); });
      EXPECT_NE(text.find(method), std::string::npos) << text;
      EXPECT_GE(number_before(text, " bytes"), std::size_t{max_count} * 8) << text;
    }
  }
}

/// Of the methods that may be chosen `particle` holds the least: with just its bytes there is a plan.
TEST_F(spread_memory_test, another_method_is_taken_where_the_fastest_needs_too_much) {
  constexpr std::size_t count = 500;
  case3 it = complex_case(count);
  it.options.most_bytes = count * sizeof(detail::placed_point<float>);
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  auto plan = make_plan(context, it, "auto", it.order);
  set_points(context, plan, it);
  EXPECT_LE(plan.bytes(), it.options.most_bytes);
  expect_right(context, plan, it);
  it.options.most_bytes -= 1;
  auto less = make_plan(context, it, "auto", it.order);
  const std::string text = error_of<argument_error>([&] { set_points(context, less, it); });
  EXPECT_NE(text.find(" kB) are allowed"), std::string::npos) << text;
}

/// A plan with a memory limit keeps to it, or refuses; with enough it does not refuse.
TEST_F(spread_memory_test, no_more_is_held_than_is_allowed) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    const backend_context usual;
    case3 it = complex_case(500);
    auto free_plan = make_plan(usual, it, method, it.order);
    set_points(usual, free_plan, it);
    const std::size_t held = free_plan.bytes();
    for (const std::size_t percent : {30u, 90u, 120u, 1000u}) {
      counting_memory memory;
      const backend_context context = memory.context(determinism::none);
      it.options.most_bytes = held * percent / 100;
      auto plan = make_plan(context, it, method, it.order);
      const points_on_device<float, 3> points(context, it.points);
      const std::size_t before = memory.live_bytes();
      const std::string text = error_of<argument_error>([&] { plan.set_points(points.view()); });
      EXPECT_LE(memory.live_bytes() - before, it.options.most_bytes + 1024) << percent << "%: " << text;
      if (percent == 1000) {
        EXPECT_EQ(text, "no error");
      }
      if (text != "no error") {
        EXPECT_EQ(memory.live_bytes(), before) << percent << "%";
        continue;
      }
      expect_right(context, plan, it);
    }
  }
}

TEST_F(spread_memory_test, what_is_not_there_is_refused_before_anything_is_allocated) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    scarce_memory memory;
    backend_context::options chosen;
    chosen.memory = &memory;
    const backend_context context(chosen);
    const case3 it = complex_case();
    auto plan = make_plan(context, it, method, it.order);
    const points_on_device<float, 3> points(context, it.points);
    memory.available = 3000;
    const std::size_t before = memory.allocations;
    const std::string text = error_of<argument_error>([&] { plan.set_points(points.view()); });
    EXPECT_EQ(memory.allocations, before);
    EXPECT_NE(text.find("3000"), std::string::npos) << text;
    memory.available = ~std::size_t{0};
    plan.set_points(points.view());
    // Memory that it already holds counts as available.
    memory.available = number_before(text, " bytes") - std::min(plan.bytes(), number_before(text, " bytes"));
    plan.set_points(points.view());
    expect_right(context, plan, it);
  }
}

/// Plans that ran out of memory, at any allocation, work like new ones when there is memory again.
TEST_F(spread_memory_test, plans_are_usable_after_memory_ran_out_anywhere) {
  const case3 few = complex_case(90, 5), many = complex_case(300);
  const backend_context usual;
  const points_on_device<float, 3> few_stored(usual, few.points), many_stored(usual, many.points);
  usual.synchronize();
  array<float, backend_context> values(usual, many.points.size()), mesh(usual, 17 * 17 * std::size_t{20});
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    for (std::size_t allocations = 0; allocations < 60; ++allocations) {
      counting_memory memory;
      const backend_context context = memory.context(determinism::none);
      auto plan = make_plan(context, few, method, few.order);
      plan.set_points(few_stored.view());
      memory.allow(allocations);
      bool enough = true;
      try {
        plan.set_points(many_stored.view());
      } catch (const std::bad_alloc&) {
        enough = false;
        EXPECT_THROW(plan.spread(values.data(), mesh.data()), argument_error) << allocations;
      }
      memory.allow_all();
      if (!enough) plan.set_points(many_stored.view());
      case3 it = many;
      it.order = few.order;
      expect_right(context, plan, it);
      if (enough || HasFailure()) break;
      EXPECT_LT(allocations, 59u);
    }
  }
}

#if QUADRAT_BACKEND_CUDA
TEST_F(spread_memory_test, execution_is_replayed_from_a_graph) {
  for (const std::string& method : methods_here()) {
    for (const std::size_t components : {1u, 2u}) {
      SCOPED_TRACE(method);
      const backend_context context;
      case3 it = complex_case(3000);
      it.components = components;
      it.accumulate = components == 2;
      auto plan = make_plan(context, it, method, it.order);
      set_points(context, plan, it);
      const spread_input<float, 3> old(it);
      auto values = to_device(context, old.values), mesh = to_device(context, old.mesh);
      auto spread = to_device(context, old.before.mesh), found = to_device(context, old.before.values),
           gradients = to_device(context, old.before.gradients), found_in_pass = to_device(context, old.before.values),
           gradients_in_pass = to_device(context, old.before.gradients);
      const plan_calls<float, 3> calls(plan, components);
      const auto execute = [&] {
        calls.spread(values.data(), spread.data(), it.call());
        calls.interpolate(mesh.data(), found.data(), it.call());
        calls.gradient(mesh.data(), gradients.data(), it.call());
        calls.with_gradient(mesh.data(), found_in_pass.data(), gradients_in_pass.data(), it.call());
      };
      execute();
      cuda_graph graph;
      graph.capture(context, execute);
      it.seed += 10;
      const spread_input<float, 3> input(it);
      const auto copy = [&](const std::vector<float>& from, auto& to) {
        copy_bytes(context, from.data(), to.data(), to.bytes());
      };
      copy(input.values, values);
      copy(input.mesh, mesh);
      copy(input.before.mesh, spread);
      copy(input.before.values, found);
      copy(input.before.gradients, gradients);
      copy(input.before.values, found_in_pass);
      copy(input.before.gradients, gradients_in_pass);
      graph.launch(context);
      expect_agreement<float>({to_host(context, spread), to_host(context, found), to_host(context, gradients),
                               to_host(context, found_in_pass), to_host(context, gradients_in_pass)},
                              wanted_of(it, input, problem_of(it)));
    }
  }
}
#endif

}  // namespace

}  // namespace quadrat::test
