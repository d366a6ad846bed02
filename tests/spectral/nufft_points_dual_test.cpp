// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "quadrat/spectral/nufft_target_plan.hpp"
#include "spectral/nufft_support.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"
#include "support/late_errors.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

// Setting points asynchronously, graphs, and the first and last steps of transforms alone.

namespace quadrat::test {

namespace {

class nufft_points_test : public backend_test {};

template <typename T, int D>
nufft_case<T, D> moving_case(const vec<int, D>& modes, double tolerance, nufft_values kind, std::size_t count,
                             std::uint64_t seed) {
  nufft_case<T, D> it;
  it.modes = modes;
  it.tolerance = tolerance;
  it.options.values = kind;
  add_points(it, places::uniform, count, seed);
  return it;
}

template <typename T, int D>
void expect_right_after_moves(const vec<int, D>& modes, double tolerance, nufft_values kind) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none), usual;
  nufft_run<T, D> run(context, moving_case<T, D>(modes, tolerance, kind, 300, 1));
  for (const std::size_t count : {300u, 40u, 0u, 1u, 300u}) {
    const auto it = moving_case<T, D>(modes, tolerance, kind, count, 2 + count);
    const auto points = to_device(usual, it.points);
    const std::size_t before = memory.allocations();
    run.plan().set_points_async(points_of(points));
    run.plan().check();
    EXPECT_EQ(memory.allocations(), before);
    EXPECT_EQ(run.plan().point_count(), count);
    expect_right(run, it, false);
  }
}

TEST_F(nufft_points_test, transforms_are_those_of_points_that_are_set_asynchronously) {
  for (const nufft_values kind : {nufft_values::complex, nufft_values::real}) {
    expect_right_after_moves<double, 3>({6, 5, 8}, 1e-9, kind);
    expect_right_after_moves<float, 3>({6, 5, 8}, 1e-4, kind);
    expect_right_after_moves<float, 2>({16, 9}, 1e-3, kind);
    expect_right_after_moves<double, 1>({40}, 1e-5, kind);
  }
}

TEST_F(nufft_points_test, a_refused_point_is_reported_and_makes_the_plan_unusable) {
  const backend_context context;
  auto it = moving_case<double, 2>({8, 9}, 1e-3, nufft_values::complex, 20, 1);
  nufft_plan<backend_context, double, 2> plan(context, it.modes, it.tolerance);
  const auto good = to_device(context, it.points);
  expect_words(error_of<argument_error>([&] { plan.set_points_async(points_of(good)); }),
               {"set_points has not been called"});
  plan.check();
  plan.set_points(points_of(good));
  it.points[7][0] = std::numeric_limits<double>::quiet_NaN();
  const auto bad = to_device(context, it.points);
  array<std::complex<double>, backend_context> values(context, 20), modes(context, 72);
  expect_words(late_error(plan, [&] { plan.set_points_async(points_of(bad)); }), {"point 7 ", "not finite"});
  for (int round = 0; round < 2; ++round) {
    expect_words(error_of<data_error>([&] { plan.check(); }), {"point 7 ", "not finite"});
    EXPECT_THROW(plan.type_1(values.data(), modes.data()), argument_error);
    EXPECT_THROW(plan.type_2(modes.data(), values.data()), argument_error);
  }
  plan.set_points_async(points_of(good));
  plan.check();
  plan.type_1(values.data(), modes.data());
  add_points(it, places::uniform, 1, 3);
  const auto more = to_device(context, it.points);
  expect_words(error_of<argument_error>([&] { plan.set_points_async(points_of(more)); }), {"21 points", "had 20"});
}

/// Type 1 by spreading, a plain sum over the mesh, and division by the transform of the window.
TEST_F(nufft_points_test, spreading_alone_is_the_first_step_of_type_1) {
  const backend_context context;
  const auto it = moving_case<double, 1>({12}, 1e-6, nufft_values::complex, 50, 5);
  nufft_run<double, 1> run(context, it);
  const auto values = random_complex<double>(100, 3);
  const auto there = to_device(context, values);
  const auto extent = static_cast<std::size_t>(run.plan().mesh()[0]);
  array<std::complex<double>, backend_context> mesh(context, 2 * extent);
  run.plan().spread(there.data(), mesh.data(), {2, 0});
  const auto found = to_host(context, mesh);
  const auto factors = run.plan().window().transforms(7, static_cast<double>(extent));
  const auto wanted = run.type_1(values, {2, 1});
  for (std::size_t i = 0; i < 24; ++i) {
    const int k = static_cast<int>(i % 12) - 6;
    std::complex<double> sum = 0;
    for (std::size_t n = 0; n < extent; ++n) {
      const double angle = 2 * std::numbers::pi * k * static_cast<double>(n) / static_cast<double>(extent);
      sum += found[i / 12 * extent + n] * std::polar(1.0, angle);
    }
    EXPECT_LT(std::abs(sum / factors[static_cast<std::size_t>(std::abs(k))] - wanted[i]), 1e-11);
  }
}

template <typename Number>
void expect_adjoint_steps(const backend_context& context, nufft_values kind) {
  const auto it = moving_case<double, 2>({7, 10}, 1e-4, kind, 60, 5);
  nufft_run<double, 2> run(context, it);
  const auto size = static_cast<std::size_t>(run.plan().mesh()[0] * run.plan().mesh()[1]);
  const auto numbers = [](std::size_t count, std::uint64_t seed) {
    const auto all = random_complex<double>(count, seed);
    if constexpr (std::is_same_v<Number, double>) {
      return real_parts(all);
    } else {
      return all;
    }
  };
  const auto values = numbers(60, 1), mesh = numbers(size, 2);
  const auto from = to_device(context, values), nodes = to_device(context, mesh);
  array<Number, backend_context> there(context, size), back(context, 60);
  run.plan().spread(from.data(), there.data());
  run.plan().interpolate(nodes.data(), back.data());
  const auto spread = to_host(context, there), found = to_host(context, back);
  std::complex<double> a = 0, b = 0;
  for (std::size_t k = 0; k < size; ++k) a += std::conj(std::complex<double>(mesh[k])) * spread[k];
  for (std::size_t j = 0; j < 60; ++j) b += std::conj(std::complex<double>(found[j])) * values[j];
  EXPECT_LT(std::abs(a - b), 1e-12 * 60);
  EXPECT_GT(std::abs(a), 1e-3);
}

TEST_F(nufft_points_test, interpolating_alone_is_the_adjoint_of_spreading_alone) {
  const backend_context context;
  expect_adjoint_steps<std::complex<double>>(context, nufft_values::complex);
  expect_adjoint_steps<double>(context, nufft_values::real);
}

TEST_F(nufft_points_test, single_steps_are_refused_like_transforms) {
  const backend_context context;
  nufft_plan<backend_context, double, 1> plan(context, {8}, 1e-3);
  std::complex<double>* const nothing = nullptr;
  double* const real = nullptr;
  const auto error = [&](auto&& call) { return error_of<argument_error>(call); };
  expect_words(error([&] { plan.spread(nothing, nothing); }), {"no points are set"});
  const auto points = to_device(context, std::vector<vec<double, 1>>{{0.5}});
  plan.set_points(points_of(points));
  expect_words(error([&] { plan.spread(real, real); }), {"these are real"});
  expect_words(error([&] { plan.interpolate(real, real); }), {"these are real"});
  expect_words(error([&] { plan.interpolate(nothing, nothing); }), {"null"});
  array<std::complex<double>, backend_context> numbers(context, 64);
  expect_words(error([&] { plan.spread(numbers.data(), numbers.data(), {0, 1}); }), {"0 value vectors"});
}

#if QUADRAT_BACKEND_CUDA
template <typename T>
void copy_into(const backend_context& context, const std::vector<T>& from, array<T, backend_context>& to) {
  copy_bytes(context, from.data(), to.data(), to.bytes());
}

/// Both types and the points; replayed for other points and values.
template <typename T, int D>
void expect_replay(const vec<int, D>& modes, double tolerance, determinism level) {
  const backend_context context = context_at(level);
  const auto it = moving_case<T, D>(modes, tolerance, nufft_values::complex, 500, 1);
  nufft_run<T, D> run(context, it);
  auto& plan = run.plan();
  auto points = to_device(context, it.points);
  auto values = to_device(context, random_complex<T>(500, 2));
  auto given = to_device(context, random_complex<T>(plan.mode_count(), 3));
  array<std::complex<T>, backend_context> found(context, plan.mode_count()), back(context, 500);
  const auto execute = [&] {
    plan.set_points_async(points_of(points));
    plan.type_1_async(values.data(), found.data());
    plan.type_2_async(given.data(), back.data());
  };
  execute();
  cuda_graph graph;
  graph.capture(context, execute);
  for (const std::uint64_t seed : {4u, 5u}) {
    const auto next = moving_case<T, D>(modes, tolerance, nufft_values::complex, 500, seed);
    const auto strengths = random_complex<T>(500, seed + 1), wave = random_complex<T>(plan.mode_count(), seed + 2);
    copy_into(context, next.points, points);
    copy_into(context, strengths, values);
    copy_into(context, wave, given);
    graph.launch(context);
    plan.check();
    const complex_values exact = exact_values(strengths), exact_wave = exact_values(wave);
    expect_within(exact_values(to_host(context, found)), reference::nufft_1(next.problem(), exact, 1), moduli(exact),
                  tolerance, false);
    expect_within(exact_values(to_host(context, back)), reference::nufft_2(next.problem(), exact_wave, -1),
                  moduli(exact_wave), tolerance, false);
  }
  auto bad = it.points;
  bad[9][0] = std::numeric_limits<T>::infinity();
  copy_into(context, bad, points);
  graph.launch(context);
  expect_words(error_of<data_error>([&] { plan.check(); }), {"point 9 ", "not finite"});
}

TEST_F(nufft_points_test, setting_points_and_both_types_are_replayed_from_a_graph) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    expect_replay<float, 3>({8, 9, 10}, 1e-4, level);
    expect_replay<double, 3>({8, 9, 10}, 1e-11, level);
    expect_replay<float, 2>({20, 21}, 1e-3, level);
    expect_replay<double, 1>({70}, 1e-6, level);
  }
}

TEST_F(nufft_points_test, a_transform_that_waits_throws_what_its_twin_leaves_to_check) {
  const backend_context context;
  auto it = moving_case<double, 2>({8, 9}, 1e-3, nufft_values::complex, 20, 1);
  nufft_plan<backend_context, double, 2> plan(context, it.modes, it.tolerance);
  const auto good = to_device(context, it.points);
  it.points[7][0] = std::numeric_limits<double>::quiet_NaN();
  const auto bad = to_device(context, it.points);
  array<std::complex<double>, backend_context> values(context, 20), modes(context, 72);
  array<double, backend_context> weights(context, 20);
  const auto expect_thrown_by = [&](const auto& call) {
    plan.set_points(points_of(good));
    plan.set_points_async(points_of(bad));
    plan.type_1_async(values.data(), modes.data());
    expect_words(error_of<data_error>(call), {"point 7 ", "not finite"});
  };
  expect_thrown_by([&] { plan.type_1(values.data(), modes.data()); });
  expect_thrown_by([&] { plan.type_2(modes.data(), values.data()); });
  expect_thrown_by([&] { (void)plan.density_weights(weights.data()); });
}

TEST_F(nufft_points_test, real_values_are_transformed_in_a_graph) {
  const backend_context context;
  const auto it = moving_case<double, 2>({12, 10}, 1e-7, nufft_values::real, 200, 1);
  nufft_run<double, 2> run(context, it);
  const auto strengths = random_complex<double>(200, 4), wave = random_complex<double>(run.plan().mode_count(), 5);
  const auto wanted = run.type_1(strengths), wanted_back = run.type_2(wave);
  array<double, backend_context> values(context, 200), back(context, 200);
  array<std::complex<double>, backend_context> given(context, wave.size()), found(context, wave.size());
  cuda_graph graph;
  graph.capture(context, [&] {
    run.plan().type_1_async(values.data(), found.data());
    run.plan().type_2_async(given.data(), back.data());
  });
  copy_into(context, real_parts(strengths), values);
  copy_into(context, wave, given);
  graph.launch(context);
  const auto modes = to_host(context, found);
  const auto at_points = to_host(context, back);
  for (std::size_t k = 0; k < wave.size(); ++k) EXPECT_LT(std::abs(modes[k] - wanted[k]), 1e-11);
  for (std::size_t j = 0; j < 200; ++j) EXPECT_LT(std::abs(at_points[j] - wanted_back[j]), 1e-11);
}

TEST_F(nufft_points_test, type_3_is_replayed_from_a_graph) {
  const backend_context context;
  const auto points = to_device(context, moving_case<double, 2>({8, 8}, 1e-6, nufft_values::complex, 90, 1).points);
  const auto targets = to_device(context, moving_case<double, 2>({8, 8}, 1e-6, nufft_values::complex, 70, 2).points);
  nufft_target_plan<backend_context, double, 2> plan(context, 1e-6);
  plan.set_points(points_of(points), points_of(targets));
  array<std::complex<double>, backend_context> values(context, 90), results(context, 70), direct(context, 70);
  cuda_graph graph;
  graph.capture(context, [&] { plan.type_3_async(values.data(), results.data()); });
  for (const std::uint64_t seed : {3u, 4u}) {
    copy_into(context, random_complex<double>(90, seed), values);
    graph.launch(context);
    plan.type_3(values.data(), direct.data());
    const auto found = to_host(context, results), wanted = to_host(context, direct);
    for (std::size_t k = 0; k < 70; ++k) EXPECT_LT(std::abs(found[k] - wanted[k]), 1e-11);
    EXPECT_GT(std::abs(wanted[0]), 1e-6);
  }
}
#endif

}  // namespace

}  // namespace quadrat::test
