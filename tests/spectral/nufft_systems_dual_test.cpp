// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/spectral/normal_operator.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "spectral/nufft_support.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"
#include "support/late_errors.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

// Transforms of several systems of points in one call.

namespace quadrat::test {

namespace {

class nufft_systems_test : public backend_test {};

/// Points of all systems, mixed.
template <typename T, int D>
struct systems_case {
  nufft_case<T, D> all;
  std::vector<std::uint32_t> system;

  /// The points of one system alone, and their indices.
  [[nodiscard]] nufft_case<T, D> part(std::uint32_t which, std::vector<std::size_t>& indices) const {
    nufft_case<T, D> one = all;
    one.options.systems = 1;
    one.points.clear();
    for (std::size_t i = 0; i < system.size(); ++i) {
      if (system[i] != which) continue;
      one.points.push_back(all.points[i]);
      indices.push_back(i);
    }
    return one;
  }
};

template <typename T, int D>
systems_case<T, D> make_systems(const vec<int, D>& modes, double tolerance, nufft_values kind,
                                const std::vector<int>& sizes, std::uint64_t seed) {
  systems_case<T, D> it;
  it.all.modes = modes;
  it.all.tolerance = tolerance;
  it.all.options.values = kind;
  it.all.options.systems = static_cast<int>(sizes.size());
  it.all.options.order = seed % 2 == 0 ? mode_order::centered : mode_order::fft;
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    it.system.insert(it.system.end(), static_cast<std::size_t>(sizes[s]), static_cast<std::uint32_t>(s));
  }
  std::mt19937_64 random(seed);
  std::shuffle(it.system.begin(), it.system.end(), random);
  add_points(it.all, places::far, it.system.size(), seed + 1);
  return it;
}

/// A plan with the points of a case.
template <typename T, int D>
class systems_run : public nufft_run<T, D> {
 public:
  systems_run(const backend_context& context, const systems_case<T, D>& it)
      : nufft_run<T, D>(context, without_points(it.all)) {
    const auto points = to_device(context, it.all.points);
    const auto systems = to_device(context, it.system);
    this->plan().set_points(points_of(points), systems.data());
  }

 private:
  /// nufft_run sets points of one system: none.
  static nufft_case<T, D> without_points(nufft_case<T, D> all) {
    all.points.clear();
    return all;
  }
};

template <typename Number>
std::vector<Number> at(const std::vector<Number>& values, const std::vector<std::size_t>& indices, std::size_t first) {
  std::vector<Number> some;
  for (const std::size_t i : indices) some.push_back(values[first + i]);
  return some;
}

/// Every system against direct sums over its own points; two vectors.
template <typename T, int D>
void expect_right(systems_run<T, D>& run, const systems_case<T, D>& it) {
  SCOPED_TRACE(it.all.text());
  const auto systems = static_cast<std::size_t>(it.all.options.systems);
  const std::size_t count = it.system.size(), stored = run.plan().mode_count() / systems;
  EXPECT_LE(run.plan().error_bound(), it.all.tolerance);
  auto values = random_complex<T>(2 * count, 5);
  const auto given = random_complex<T>(2 * systems * stored, 6);
  if (it.all.real()) {
    for (auto& x : values) x = x.real();
  }
  const complex_values exact = exact_values(values), exact_given = exact_values(given);
  const auto modes = run.type_1(values, {2, 1}), back = run.type_2(given, {2, -1});
  for (std::size_t part = 0; part < 2 * systems; ++part) {
    std::vector<std::size_t> indices;
    const auto one = it.part(static_cast<std::uint32_t>(part % systems), indices);
    const auto problem = one.problem();
    ASSERT_EQ(problem.mode_count(), stored);
    const std::size_t first = part / systems * count;
    const complex_values own(modes.begin() + static_cast<std::ptrdiff_t>(part * stored),
                             modes.begin() + static_cast<std::ptrdiff_t>((part + 1) * stored));
    const complex_values strengths = at(exact, indices, first);
    expect_within(own, reference::nufft_1(problem, strengths, 1), moduli(strengths), it.all.tolerance, false);
    const complex_values wave(exact_given.begin() + static_cast<std::ptrdiff_t>(part * stored),
                              exact_given.begin() + static_cast<std::ptrdiff_t>((part + 1) * stored));
    const auto wanted = it.all.real() ? exact_values(reference::nufft_2_real(problem, wave, it.all.modes[D - 1], -1))
                                      : reference::nufft_2(problem, wave, -1);
    expect_within(at(back, indices, first), wanted, moduli(wave) * (it.all.real() ? 2 : 1), it.all.tolerance, false);
  }
}

/// Empty systems, also the first and the last, one point, and very unequal numbers.
const std::vector<int> unequal{0, 1, 40, 3, 0, 150, 2, 0};

template <typename T, int D>
void expect_right_systems(const std::vector<vec<int, D>>& modes, const std::vector<double>& tolerances) {
  const backend_context context;
  std::uint64_t seed = 1;
  for (const auto& numbers : modes) {
    for (const double tolerance : tolerances) {
      for (const nufft_values kind : {nufft_values::complex, nufft_values::real}) {
        const auto it = make_systems<T, D>(numbers, tolerance, kind, unequal, ++seed);
        systems_run<T, D> run(context, it);
        expect_right(run, it);
      }
    }
  }
}

/// Windows for small tolerances are wider than the meshes of few modes.
TEST_F(nufft_systems_test, each_system_is_transformed_by_itself) {
  expect_right_systems<double, 1>({{1}, {2}, {31}}, {1e-2, 1e-12});
  expect_right_systems<double, 2>({{1, 1}, {2, 5}, {12, 9}}, {1e-5, 1e-12});
  expect_right_systems<double, 3>({{1, 1, 1}, {1, 2, 3}, {6, 5, 8}}, {1e-3, 1e-10});
  expect_right_systems<float, 1>({{50}}, {1e-4});
  expect_right_systems<float, 2>({{7, 10}}, {1e-4});
  expect_right_systems<float, 3>({{5, 4, 6}}, {1e-2, 1e-5});
}

TEST_F(nufft_systems_test, no_points_at_all_and_one_system_are_possible) {
  const backend_context context;
  const auto none = make_systems<double, 2>({4, 5}, 1e-4, nufft_values::complex, {0, 0, 0}, 1);
  systems_run<double, 2> empty(context, none);
  for (const auto& mode : empty.type_1({})) EXPECT_EQ(mode, std::complex<double>());
  const auto lone = make_systems<double, 3>({4, 5, 6}, 1e-4, nufft_values::complex, {0, 9}, 3);
  systems_run<double, 3> run(context, lone);
  expect_right(run, lone);
}

/// More systems than any register has lanes. Those with an even number of bits are empty: a power of two away, as far
/// as registers hold another line in the same lane, is one that is not.
TEST_F(nufft_systems_test, systems_without_points_have_no_modes_and_zero_modes_no_values) {
  const backend_context context;
  constexpr std::size_t systems = 70;
  const auto is_empty = [](std::size_t system) { return std::popcount(system) % 2 == 0; };
  std::vector<int> sizes;
  for (std::size_t s = 0; s < systems; ++s) sizes.push_back(is_empty(s) ? 0 : 5);
  for (const nufft_values kind : {nufft_values::complex, nufft_values::real}) {
    const auto it = make_systems<double, 1>({31}, 1e-6, kind, sizes, 2);
    systems_run<double, 1> run(context, it);
    auto values = random_complex<double>(it.system.size(), 5);
    if (it.all.real()) {
      for (auto& x : values) x = x.real();
    }
    const auto modes = run.type_1(values);
    auto given = random_complex<double>(modes.size(), 6);
    const std::size_t stored = modes.size() / systems;
    for (std::size_t i = 0; i < modes.size(); ++i) {
      const std::size_t system = i / stored;
      if (is_empty(system)) {
        ASSERT_EQ(modes[i], 0.0) << system;
      }
      if (!is_empty(system)) given[i] = 0;
    }
    const auto back = run.type_2(given);
    for (std::size_t j = 0; j < it.system.size(); ++j) ASSERT_EQ(back[j], 0.0) << it.system[j];
  }
}

/// With a mesh of more mesh points along its axis than one system may have.
TEST_F(nufft_systems_test, thousands_of_systems_share_one_call) {
  const backend_context context;
  const int systems = small_sizes() ? 2000 : 33'000;
  const std::vector<std::uint32_t> used{0, 1, 1234, static_cast<std::uint32_t>(systems) - 1};
  systems_case<double, 1> it;
  it.all.modes = {64};
  it.all.tolerance = 1e-8;
  it.all.options.oversampling = 2;
  it.all.options.systems = systems;
  add_points(it.all, places::uniform, 40, 4);
  for (std::size_t i = 0; i < 40; ++i) it.system.push_back(used[i % 4]);
  systems_run<double, 1> run(context, it);
  const auto values = random_complex<double>(40, 1);
  const auto modes = run.type_1(values);
  ASSERT_EQ(modes.size(), 64u * static_cast<std::size_t>(systems));
  for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(systems); ++s) {
    const auto first = modes.begin() + static_cast<std::ptrdiff_t>(s) * 64;
    if (std::find(used.begin(), used.end(), s) == used.end()) {
      ASSERT_TRUE(std::all_of(first, first + 64, [](const auto& mode) { return mode == 0.0; })) << s;
      continue;
    }
    std::vector<std::size_t> indices;
    const auto one = it.part(s, indices);
    const complex_values strengths = at(exact_values(values), indices, 0);
    expect_within({first, first + 64}, reference::nufft_1(one.problem(), strengths, 1), moduli(strengths), 1e-8, false);
  }
}

TEST_F(nufft_systems_test, gives_what_single_plans_give) {
  const backend_context context;
  for (const nufft_values kind : {nufft_values::complex, nufft_values::real}) {
    std::vector<int> sizes(60);
    std::iota(sizes.begin(), sizes.end(), 0);
    auto it = make_systems<double, 2>({10, 12}, 1e-6, kind, sizes, 8);
    it.all.options.oversampling = 2;
    systems_run<double, 2> run(context, it);
    const auto values = random_complex<double>(it.system.size(), 3);
    const auto modes = run.type_1(values);
    const std::size_t stored = run.plan().mode_count() / 60;
    for (std::uint32_t s = 0; s < 60; ++s) {
      std::vector<std::size_t> indices;
      const auto one = it.part(s, indices);
      nufft_run<double, 2> single(context, one);
      const auto wanted = single.type_1(at(values, indices, 0));
      for (std::size_t k = 0; k < stored; ++k) EXPECT_LT(std::abs(modes[s * stored + k] - wanted[k]), 1e-11) << s;
    }
  }
}

TEST_F(nufft_systems_test, types_1_and_2_are_adjoint_to_rounding) {
  const backend_context context;
  const auto it = make_systems<double, 3>({6, 5, 7}, 1e-2, nufft_values::complex, unequal, 5);
  systems_run<double, 3> run(context, it);
  const auto values = random_complex<double>(it.system.size(), 1), modes = random_complex<double>(8 * 210, 2);
  const auto forward = run.type_1(values), back = run.type_2(modes);
  std::complex<double> a = 0, b = 0;
  for (std::size_t k = 0; k < modes.size(); ++k) a += std::conj(modes[k]) * forward[k];
  for (std::size_t j = 0; j < values.size(); ++j) b += std::conj(back[j]) * values[j];
  EXPECT_LT(std::abs(a - b), 1e-13 * std::sqrt(static_cast<double>(values.size() * modes.size())));
  EXPECT_GT(std::abs(a), 1e-3);
}

TEST_F(nufft_systems_test, gives_the_same_bits_in_every_run_where_the_context_asks_for_it) {
  const std::vector<int> sizes{0, 1, 900, 3, 2000, 40};
  for (const double tolerance : {1e-4, 1e-11}) {
    const auto it = make_systems<double, 2>({12, 10}, tolerance, nufft_values::complex, sizes, 9);
    const auto values = random_complex<double>(it.system.size(), 3), given = random_complex<double>(720, 4);
    complex_values first, first_back;
    for (const int threads : {1, 2, 5, 2}) {
      systems_run<double, 2> run(context_at(determinism::run_to_run, threads), it);
      const auto modes = run.type_1(values), back = run.type_2(given);
      if (first.empty()) first = modes, first_back = back;
      EXPECT_EQ(std::memcmp(modes.data(), first.data(), modes.size() * sizeof(modes[0])), 0) << threads;
      EXPECT_EQ(std::memcmp(back.data(), first_back.data(), back.size() * sizeof(back[0])), 0) << threads;
    }
  }
}

/// The steps alone, between values and meshes without ends.
TEST_F(nufft_systems_test, spreading_and_interpolating_alone_wrap_around_every_mesh) {
  const backend_context context;
  const auto it = make_systems<double, 2>({3, 8}, 1e-9, nufft_values::complex, unequal, 7);
  systems_run<double, 2> run(context, it);
  const std::size_t count = it.system.size(), systems = unequal.size();
  const auto size = static_cast<std::size_t>(run.plan().mesh()[0] * run.plan().mesh()[1]);
  const auto values = random_complex<double>(2 * count, 1), nodes = random_complex<double>(2 * systems * size, 2);
  const auto from = to_device(context, values), given = to_device(context, nodes);
  array<std::complex<double>, backend_context> mesh(context, 2 * systems * size), back(context, 2 * count);
  run.plan().spread(from.data(), mesh.data(), {2, 0});
  run.plan().interpolate(given.data(), back.data(), {2, 0});
  const auto spread = to_host(context, mesh), found = to_host(context, back);
  for (std::uint32_t s = 0; s < systems; ++s) {
    std::vector<std::size_t> indices;
    auto one = it.part(s, indices);
    one.options.oversampling = run.plan().oversampling();
    nufft_run<double, 2> single(context, one);
    ASSERT_EQ(single.plan().width(), run.plan().width());
    const auto own = to_device(context, at(values, indices, count));
    array<std::complex<double>, backend_context> wanted(context, size), at_points(context, indices.size());
    single.plan().spread(own.data(), wanted.data());
    single.plan().interpolate(given.data() + (systems + s) * size, at_points.data());
    const auto wanted_mesh = to_host(context, wanted), wanted_back = to_host(context, at_points);
    for (std::size_t k = 0; k < size; ++k) {
      EXPECT_LT(std::abs(spread[(systems + s) * size + k] - wanted_mesh[k]), 1e-11);
    }
    for (std::size_t j = 0; j < indices.size(); ++j) {
      EXPECT_LT(std::abs(found[count + indices[j]] - wanted_back[j]), 1e-11);
    }
  }
}

TEST_F(nufft_systems_test, points_move_to_other_systems_asynchronously) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none), usual;
  const auto it = make_systems<float, 3>({5, 4, 6}, 1e-3, nufft_values::complex, unequal, 2);
  systems_run<float, 3> run(context, it);
  for (const auto& sizes : {std::vector<int>{150, 0, 0, 40, 1, 1, 0, 4}, std::vector<int>{0, 0, 0, 0, 0, 0, 0, 3}}) {
    auto next = make_systems<float, 3>({5, 4, 6}, 1e-3, nufft_values::complex, sizes, 4);
    const auto points = to_device(usual, next.all.points);
    const auto systems = to_device(usual, next.system);
    const std::size_t before = memory.allocations();
    run.plan().set_points_async(points_of(points), systems.data());
    run.plan().check();
    EXPECT_EQ(memory.allocations(), before);
    expect_right(run, next);
    next.system[1] = 8;
    const auto wrong = to_device(usual, next.system);
    const auto set_wrong_systems = [&] { run.plan().set_points_async(points_of(points), wrong.data()); };
    expect_words(late_error(run.plan(), set_wrong_systems), {"point 1 ", "not below 8"});
  }
}

TEST_F(nufft_systems_test, says_what_is_impossible) {
  const backend_context context;
  auto it = make_systems<double, 2>({4, 4}, 1e-3, nufft_values::complex, {2, 2}, 1);
  nufft_plan<backend_context, double, 2> plan(context, {4, 4}, 1e-3, it.all.options);
  const auto points = to_device(context, it.all.points);
  it.system[2] = 7;
  const auto systems = to_device(context, it.system);
  const auto error = [&](auto&& call) { return error_of<argument_error>(call); };
  expect_words(error([&] { plan.set_points(points_of(points)); }), {"system_of_point", "null"});
  expect_words(error_of<data_error>([&] { plan.set_points(points_of(points), systems.data()); }),
               {"point 2 ", "system 7", "there are 2"});
  nufft_plan<backend_context, double, 2> single(context, {4, 4}, 1e-3);
  expect_words(error([&] { single.set_points(points_of(points), systems.data()); }), {"one system"});
  array<double, backend_context> weights(context, 4);
  it.system[2] = 0;
  const auto right = to_device(context, it.system);
  plan.set_points(points_of(points), right.data());
  expect_words(error([&] { (void)plan.density_weights(weights.data()); }), {"2 systems", "for one"});
  expect_words(error([&] {
                 (void)normal_operator<backend_context, double, 2>(context, {4, 4}, 1e-3, it.all.options);
               }),
               {"2 systems", "for one"});
  const auto plan_error = [&](int number, const vec<int, 2>& modes) {
    nufft_options options;
    options.systems = number;
    return error([&] { (void)nufft_plan<backend_context, double, 2>(context, modes, 1e-3, options); });
  };
  expect_words(plan_error(0, {4, 4}), {"0 systems", "at least 1"});
  expect_words(plan_error(2'000'000'000, {4, 4}), {"2000000000 systems of 4 x 4", "16777216"});
  expect_words(plan_error(100'000, {4, 40'000}), {"100000 systems", "2147483647"});
}

#if QUADRAT_BACKEND_CUDA
TEST_F(nufft_systems_test, systems_and_points_are_replayed_from_a_graph) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    const backend_context context = context_at(level);
    const auto it = make_systems<double, 3>({5, 4, 6}, 1e-9, nufft_values::complex, unequal, 2);
    systems_run<double, 3> run(context, it);
    const std::size_t count = it.system.size(), stored = run.plan().mode_count();
    auto points = to_device(context, it.all.points);
    auto systems = to_device(context, it.system);
    auto values = to_device(context, random_complex<double>(count, 1));
    array<std::complex<double>, backend_context> modes(context, stored), back(context, count);
    cuda_graph graph;
    graph.capture(context, [&] {
      run.plan().set_points_async(points_of(points), systems.data());
      run.plan().type_1_async(values.data(), modes.data());
      run.plan().type_2_async(modes.data(), back.data());
    });
    for (const std::uint64_t seed : {4u, 6u}) {
      std::vector<int> sizes = unequal;
      std::rotate(sizes.begin(), sizes.begin() + 3, sizes.end());
      const auto next = make_systems<double, 3>({5, 4, 6}, 1e-9, nufft_values::complex, sizes, seed);
      systems_run<double, 3> fresh(context, next);
      copy_bytes(context, next.all.points.data(), points.data(), points.bytes());
      copy_bytes(context, next.system.data(), systems.data(), systems.bytes());
      graph.launch(context);
      run.plan().check();
      const auto wanted = fresh.type_1(random_complex<double>(count, 1));
      const auto found = to_host(context, modes);
      for (std::size_t k = 0; k < stored; ++k) EXPECT_LT(std::abs(found[k] - wanted[k]), 1e-10);
    }
  }
}
#endif

}  // namespace

}  // namespace quadrat::test
