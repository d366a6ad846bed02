// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"

// The guarantees of the levels of determinism.

namespace quadrat::test {

namespace {

template <typename T>
class spread_determinism : public backend_test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(spread_determinism, precisions);

/// Contexts that must all give the same bits: on the CPU with different numbers of threads.
std::vector<backend_context> contexts_of(determinism level) {
  std::vector<backend_context> contexts;
#if QUADRAT_BACKEND_CUDA
  for (int i = 0; i < 4; ++i) {
    backend_context::options chosen;
    chosen.reproducibility = level;
    contexts.emplace_back(chosen);
  }
#else
  for (const int threads : {1, 2, 3, 7, 2}) contexts.emplace_back(cpu_context::options{threads, level, nullptr});
#endif
  return contexts;
}

template <typename T>
std::vector<T> spread_mesh(const backend_context& context, spread_plan<backend_context, T, 3>& plan,
                           const spread_case<T, 3>& it, const spread_input<T, 3>& input) {
  const auto values = to_device(context, input.values);
  auto mesh = to_device(context, input.before.mesh);
  plan_calls<T, 3>(plan, it.components).spread(values.data(), mesh.data(), it.call());
  return to_host(context, mesh);
}

template <typename T>
std::vector<T> spread_mesh(const backend_context& context, const spread_case<T, 3>& it, const spread_input<T, 3>& input,
                           const std::string& method) {
  auto plan = make_plan(context, it, method, it.order);
  set_points(context, plan, it);
  return spread_mesh(context, plan, it, input);
}

/// Uniform points; points with a crowd; clipped at an open axis; few points on many mesh points, and many on few.
template <typename T>
std::vector<spread_case<T, 3>> cases() {
  std::vector<spread_case<T, 3>> result;
  result.push_back(uniform_case<T, 3>(5, size_or(5000, 600), 20));
  result.push_back(uniform_case<T, 3>(3, size_or(2500, 600), 13));
  std::mt19937_64 random(8);
  for (std::size_t i = 0; i < size_or(2500, 300); ++i) {
    result.back().points.push_back(make_vec<T, 3>([&](int) { return T(0.1) + T(0.01) * random_unit<T>(random); }));
  }
  result.push_back(uniform_case<T, 3>(7, size_or(2000, 200), 10));
  result.back().domain.periodic = {false, true, false};
  result.back().options.clip = true;
  result.push_back(uniform_case<T, 3>(2, 50, 40));
  result.push_back(uniform_case<T, 3>(6, size_or(2500, 300), 4));
  for (auto& it : result) {
    it.signed_values = true;
    it.components = 1 + it.seed % 2;
    it.vectors = 1 + it.seed % 3;
  }
  return result;
}

TYPED_TEST(spread_determinism, spreading_gives_the_same_bits_for_any_timing_and_number_of_threads) {
  using T = TypeParam;
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    const auto contexts = contexts_of(level);
    for (const auto& it : cases<T>()) {
      const spread_input<T, 3> input(it);
      for (const std::string& method : methods_here(level)) {
        const auto first = spread_mesh(contexts[0], it, input, method);
        for (const backend_context& context : contexts) {
          auto plan = make_plan(context, it, method, it.order);
          set_points(context, plan, it);
          for (int run = 0; run < 2; ++run) {
            EXPECT_TRUE(same_bits(spread_mesh(context, plan, it, input), first))
                << method << " at level " << static_cast<int>(level) << ", " << describe(it);
          }
        }
      }
    }
  }
}

TYPED_TEST(spread_determinism, spreading_gives_the_same_bits_after_other_points) {
  using T = TypeParam;
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    const backend_context context = contexts_of(level)[1];
    const auto all = cases<T>();
    auto it = all[0], other = all[0];
    other.points.resize(other.points.size() / 3);
    const spread_input<T, 3> input(it);
    for (const std::string& method : methods_here(level)) {
      const auto first = spread_mesh(context, it, input, method);
      auto plan = make_plan(context, it, method, it.order);
      set_points(context, plan, other);
      set_points(context, plan, it);
      EXPECT_TRUE(same_bits(spread_mesh(context, plan, it, input), first)) << method;
    }
  }
}

template <typename T, int D>
void expect_right_sums(const spread_case<T, D>& it) {
  const spread_input<T, D> input(it);
  const auto wanted = wanted_of(it, input, problem_of(it));
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    const backend_context context = contexts_of(level)[1];
    for (const std::string& method : methods_here(level)) {
      SCOPED_TRACE(method + " at level " + std::to_string(static_cast<int>(level)) + ", " + describe(it));
      expect_agreement(run_method(context, it, input, method), wanted);
    }
  }
}

/// Also in two and one dimensions, and on meshes that footprints wrap around several times.
TYPED_TEST(spread_determinism, reproducible_sums_are_right) {
  using T = TypeParam;
  for (const auto& it : cases<T>()) expect_right_sums(it);
  for (const int extent : {1, 3, 30}) {
    for (const bool accumulate : {false, true}) {
      auto plane = uniform_case<T, 2>(7, 40, extent);
      auto line = uniform_case<T, 1>(5, 100, extent);
      plane.components = 2;
      plane.vectors = 2;
      plane.accumulate = line.accumulate = accumulate;
      plane.domain.periodic[0] = line.domain.periodic[0] = accumulate;
      plane.options.clip = line.options.clip = true;
      expect_right_sums(plane);
      expect_right_sums(line);
    }
  }
}

/// `canonical`: the method makes no difference.
TYPED_TEST(spread_determinism, canonical_spreading_gives_the_same_bits_for_every_method) {
  using T = TypeParam;
  const backend_context context = contexts_of(determinism::canonical)[1];
  for (const auto& it : cases<T>()) {
    const spread_input<T, 3> input(it);
    std::vector<T> first;
    for (const std::string& method : methods_here(determinism::canonical)) {
      const auto found = spread_mesh(context, it, input, method);
      if (first.empty()) first = found;
      EXPECT_TRUE(same_bits(found, first)) << method << ", " << describe(it);
    }
  }
}

/// `canonical`: a mesh point adds its values in the order of the points. With weights of 1 (order 1) and values of very
/// different magnitude, any other order changes the result.
TYPED_TEST(spread_determinism, canonical_spreading_adds_in_the_order_of_the_points) {
  using T = TypeParam;
  const backend_context context = contexts_of(determinism::canonical)[1];
  auto it = uniform_case<T, 3>(1, size_or(3000, 500), 5);
  it.order = 1;
  spread_input<T, 3> input(it);
  for (std::size_t i = 0; i < input.values.size(); ++i) {
    input.values[i] = std::ldexp(input.values[i], static_cast<int>(i * 7 % 23)) * (i % 2 == 0 ? T(1) : T(-1));
  }
  std::vector<T> wanted(input.mesh.size(), T(0));
  const auto problem = problem_of(it);
  for (std::size_t i = 0; i < it.points.size(); ++i) {
    reference::for_each_node(problem, problem.points[i],
                             [&](std::size_t node, const auto&...) { wanted[node] += input.values[i]; });
  }
  for (const std::string& method : methods_here(determinism::canonical)) {
    EXPECT_TRUE(same_bits(spread_mesh(context, it, input, method), wanted)) << method;
  }
}

/// Always, even at the level `none`.
TYPED_TEST(spread_determinism, interpolation_gives_the_same_bits_in_every_run) {
  using T = TypeParam;
  const auto contexts = contexts_of(determinism::none);
  const auto all = cases<T>();
  for (const auto& it : {all[1], all[2]}) {
    const spread_input<T, 3> input(it);
    for (const std::string& method : methods_here()) {
      const auto first = run_method(contexts[0], it, input, method);
      for (const backend_context& context : {contexts[1], contexts[3]}) {
        const auto found = run_method(context, it, input, method);
        EXPECT_TRUE(same_bits(found.values, first.values)) << method << ", " << describe(it);
        EXPECT_TRUE(same_bits(found.gradients, first.gradients)) << method << ", " << describe(it);
      }
    }
  }
}

}  // namespace

}  // namespace quadrat::test
