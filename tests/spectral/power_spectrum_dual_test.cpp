// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/spectral/power_spectrum.hpp"
#include "reference/power_spectrum.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

class power_spectrum_test : public backend_test {};

constexpr double two_pi = 2 * std::numbers::pi;

/// Points with weights, on the host.
template <typename T, int D>
struct weighted_points {
  std::vector<vec<T, D>> points;
  std::vector<T> weights;  ///< empty: all 1

  [[nodiscard]] reference::spectrum_set exact() const {
    reference::spectrum_set set;
    for (std::size_t i = 0; i < points.size(); ++i) {
      std::array<long double, 3> point{};
      for (int d = 0; d < D; ++d) point[static_cast<std::size_t>(d)] = static_cast<long double>(points[i][d]);
      set.points.push_back(point);
      set.weights.push_back(weights.empty() ? 1 : static_cast<long double>(weights[i]));
    }
    return set;
  }
};

template <typename T, int D>
box<T, D> periodic_box(const vec<T, D>& lower, const vec<T, D>& length) {
  return make_box_from_lengths(lower, length, vec<bool, D>::filled(true));
}

template <typename T, int D>
weighted_points<T, D> random_set(const box<T, D>& domain, std::size_t count, std::uint64_t seed, bool weighted) {
  std::mt19937_64 random(seed);
  weighted_points<T, D> set;
  for (std::size_t i = 0; i < count; ++i) {
    set.points.push_back(
        make_vec<T, D>([&](int d) { return domain.lower[d] + domain.length[d] * random_unit<T>(random); }));
    if (weighted) set.weights.push_back(T(0.5) + random_unit<T>(random));
  }
  return set;
}

template <typename T, int D>
power_spectrum_result measured(power_spectrum<backend_context, T, D>& spectrum, const weighted_points<T, D>& set,
                               const backend_context& context = {}) {
  const auto points = to_device(context, set.points);
  const auto weights = to_device(context, set.weights);
  return spectrum.measure(points_of(points), set.weights.empty() ? nullptr : weights.data());
}

template <typename T, int D>
power_spectrum_result measured(power_spectrum<backend_context, T, D>& spectrum, const weighted_points<T, D>& set,
                               const weighted_points<T, D>& others, const backend_context& context = {}) {
  const auto points = to_device(context, set.points), more = to_device(context, others.points);
  const auto weights = to_device(context, set.weights), more_weights = to_device(context, others.weights);
  return spectrum.measure_cross(points_of(points), set.weights.empty() ? nullptr : weights.data(), points_of(more),
                                others.weights.empty() ? nullptr : more_weights.data());
}

template <typename T, int D>
reference::spectrum_problem problem_of(const box<T, D>& domain, const vec<int, D>& mesh,
                                       const power_spectrum_options& options) {
  reference::spectrum_problem problem{};
  problem.mesh.dimension = D;
  problem.mesh.length = {1, 1, 1};
  for (int d = 0; d < D; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    problem.mesh.extent[axis] = mesh[d];
    problem.mesh.periodic[axis] = true;
    problem.mesh.lower[axis] = static_cast<long double>(domain.lower[d]);
    problem.mesh.length[axis] = static_cast<long double>(domain.length[d]);
  }
  problem.mesh.window = reference::bspline_window(options.order);
  problem.order = options.order;
  problem.interlaced = options.interlaced;
  problem.compensated = options.compensated;
  problem.line_of_sight = options.line_of_sight;
  problem.multipoles = options.multipoles;
  problem.edges = options.edges;
  return problem;
}

/// Compares with a reference, whose power has no factor.
void expect_same(const power_spectrum_result& found, const reference::spectrum_result& wanted, double factor,
                 double tolerance) {
  ASSERT_EQ(found.bins(), wanted.modes.size());
  ASSERT_EQ(found.power.size(), wanted.power.size());
  double largest = 0;
  for (const double power : wanted.power) {
    if (std::isfinite(power)) largest = std::max(largest, std::fabs(factor * power));
  }
  for (std::size_t i = 0; i < found.power.size(); ++i) {
    const std::size_t bin = i % found.bins();
    EXPECT_EQ(static_cast<double>(found.modes[bin]), wanted.modes[bin]) << bin;
    if (found.modes[bin] == 0) {
      EXPECT_TRUE(std::isnan(found.k[bin]) && std::isnan(found.power[i])) << bin;
      continue;
    }
    EXPECT_NEAR(found.k[bin], wanted.k[bin], 1e-12 * wanted.k[bin]) << bin;
    EXPECT_NEAR(found.power[i], factor * wanted.power[i], tolerance * largest) << i;
  }
}

template <typename T, int D>
void expect_reference(const vec<int, D>& mesh, double tolerance) {
  const auto domain = periodic_box<T, D>(make_vec<T, D>([](int d) { return T(d) - T(1.5); }),
                                         make_vec<T, D>([](int d) { return T(1) + T(0.5) * static_cast<T>(d); }));
  const double volume = D == 3 ? 1 * 1.5 * 2 : 1 * 1.5;
  const auto a = random_set(domain, 40, 1, true), b = random_set(domain, 30, 2, false);
  const auto exact_a = a.exact(), exact_b = b.exact();
  const auto sum = std::accumulate(exact_a.weights.begin(), exact_a.weights.end(), 0.0L);
  for (int seed = 0; seed < 16; ++seed) {
    power_spectrum_options options;
    options.order = 1 + seed % 4;
    options.interlaced = seed / 4 % 2 == 1;
    options.compensated = seed / 8 == 1;
    if (D == 3) options.multipoles = {2, 0, 4};
    options.line_of_sight = seed % D;
    options.edges = {0, 3, 3.5, 3.51, 9, 14, 40};
    SCOPED_TRACE(
        message("order ", options.order, " interlaced ", options.interlaced, " compensated ", options.compensated));
    const auto problem = problem_of(domain, mesh, options);
    power_spectrum<backend_context, T, D> spectrum(backend_context(), domain, mesh, options);
    const double factor = volume / static_cast<double>(sum * sum);
    expect_same(measured(spectrum, a), reference::mesh_spectrum(problem, exact_a, exact_a), factor, tolerance);
    const double cross_factor = volume / static_cast<double>(sum) / 30;
    expect_same(measured(spectrum, a, b), reference::mesh_spectrum(problem, exact_a, exact_b), cross_factor, tolerance);
  }
}

TEST_F(power_spectrum_test, is_that_of_the_reference) {
  expect_reference<double, 3>({6, 5, 8}, 1e-11);
  expect_reference<float, 3>({5, 6, 4}, 2e-5);
  expect_reference<double, 2>({9, 10}, 1e-11);
  expect_reference<float, 2>({12, 8}, 2e-5);
}

TEST_F(power_spectrum_test, counts_the_modes_of_the_whole_sphere) {
  const auto domain = periodic_box<float, 3>({0, 0, 0}, {1, 1, 1});
  power_spectrum_options options;
  options.edges = {0, 1e9};
  for (const vec<int, 3> mesh : {vec<int, 3>{16, 9, 10}, vec<int, 3>{1, 1, 2}, vec<int, 3>{3, 40, 64}}) {
    power_spectrum<backend_context, float, 3> spectrum(backend_context(), domain, mesh, options);
    const auto found = measured(spectrum, random_set(domain, 5, 3, false));
    EXPECT_EQ(found.modes, std::vector<std::uint64_t>{static_cast<std::uint64_t>(mesh[0] * mesh[1] * mesh[2])});
  }
}

/// Wave numbers on edges, such as that of (3, 4, 0), are in the bin above.
TEST_F(power_spectrum_test, usual_bins_begin_at_the_multiples_of_the_longest_wave) {
  for (const double side : {1.0, 0.3, 7.1}) {
    const auto length = static_cast<float>(side);
    const auto domain = periodic_box<float, 3>({0, 0, 0}, {length, length, length});
    constexpr int mesh = 20;
    power_spectrum<backend_context, float, 3> spectrum(backend_context(), domain, {mesh, mesh, mesh});
    const auto found = measured(spectrum, random_set(domain, 5, 3, false));
    ASSERT_EQ(found.edges.size(), std::size_t{mesh / 2});
    EXPECT_EQ(spectrum.options().edges, found.edges);
    std::vector<std::uint64_t> wanted(mesh / 2 - 1);
    for (int x = -mesh / 2; x < mesh / 2; ++x) {
      for (int y = -mesh / 2; y < mesh / 2; ++y) {
        for (int z = -mesh / 2; z < mesh / 2; ++z) {
          int bin = 0;  // the whole part of the root
          while ((bin + 1) * (bin + 1) <= x * x + y * y + z * z) ++bin;
          if (bin >= 1 && bin < mesh / 2) ++wanted[static_cast<std::size_t>(bin - 1)];
        }
      }
    }
    EXPECT_EQ(found.modes, wanted);
    EXPECT_NEAR(found.edges.front(), two_pi / static_cast<double>(length), 1e-12);
  }
}

/// More bins than lanes of a warp along a row, and rows of many groups of lanes.
TEST_F(power_spectrum_test, few_and_many_bins_have_the_same_power_in_all) {
  const auto domain = periodic_box<double, 3>({0, 0, 0}, {1, 1, 1});
  const auto set = random_set(domain, 300, 4, true);
  double first = 0;
  for (const int bins : {1, 3, 77, 3000, 65536}) {
    power_spectrum_options options;
    options.multipoles = {0, 2, 4};
    for (int i = 0; i <= bins; ++i) options.edges.push_back(two_pi * (0.5 + i * 100.0 / bins));
    power_spectrum<backend_context, double, 3> spectrum(backend_context(), domain, {10, 12, 150}, options);
    const auto found = measured(spectrum, set);
    double sum = 0;
    std::uint64_t modes = 0;
    for (std::size_t i = 0; i < found.bins(); ++i) {
      modes += found.modes[i];
      if (found.modes[i] > 0) sum += found.power[i] * static_cast<double>(found.modes[i]);
    }
    EXPECT_EQ(modes, std::uint64_t{10 * 12 * 150 - 1});
    if (first == 0) first = sum;
    EXPECT_NEAR(sum, first, 1e-11 * first) << bins;
  }
}

TEST_F(power_spectrum_test, uncorrelated_points_have_the_shot_noise) {
  const auto domain = periodic_box<float, 3>({-3, 0, 2}, {2, 3, 4});
  const std::size_t count = size_or(100'000, 10'000);
  const auto set = random_set(domain, count, 5, false);
  for (const bool interlaced : {false, true}) {
    power_spectrum_options options;
    options.interlaced = interlaced;
    options.edges = {5, 10, 15, 20, 24};
    power_spectrum<backend_context, float, 3> spectrum(backend_context(), domain, {32, 32, 32}, options);
    const auto found = measured(spectrum, set);
    EXPECT_NEAR(found.shot_noise, 24.0 / static_cast<double>(count), 1e-9);
    options.subtract_shot_noise = true;
    power_spectrum<backend_context, float, 3> without(backend_context(), domain, {32, 32, 32}, options);
    const auto rest = measured(without, set);
    for (std::size_t i = 0; i < found.bins(); ++i) {
      // k and -k are one random number; the aliases that interlacing leaves are small here.
      const double deviation = std::sqrt(2 / static_cast<double>(found.modes[i])) + (interlaced ? 0.02 : 0);
      EXPECT_NEAR(found.power[i] / found.shot_noise, 1, 4 * deviation) << i;
      EXPECT_NEAR(rest.power[i], found.power[i] - found.shot_noise, 1e-6 * found.shot_noise);
    }
  }
}

/// A lattice displaced by a plane wave: mode n along the wave has the Bessel function J_n of n k A as its size.
weighted_points<double, 3> displaced_lattice(int axis, double amplitude) {
  constexpr int edge = 16;
  weighted_points<double, 3> set;
  for (int i = 0; i < edge * edge * edge; ++i) {
    vec<double, 3> point{i / edge / edge / 16.0, i / edge % edge / 16.0, i % edge / 16.0};
    point[axis] += amplitude * std::cos(two_pi * point[axis]);
    set.points.push_back(point);
  }
  return set;
}

TEST_F(power_spectrum_test, a_plane_wave_has_the_power_and_the_multipoles_of_theory) {
  const auto domain = periodic_box<double, 3>({0, 0, 0}, {1, 1, 1});
  const double amplitude = 0.003, size = std::pow(std::cyl_bessel_j(1, two_pi * amplitude), 2);
  for (int axis = 0; axis < 3; ++axis) {
    power_spectrum_options options;
    options.order = 4;
    options.multipoles = {0, 2, 4};
    options.line_of_sight = 1;
    options.edges = {two_pi * 0.9, two_pi * 1.1};
    power_spectrum<backend_context, double, 3> spectrum(backend_context(), domain, {32, 32, 32}, options);
    const auto found = measured(spectrum, displaced_lattice(axis, amplitude));
    const double mean = size * 2 / 6;  // two of the six modes
    EXPECT_NEAR(found.power[0], mean, 1e-4 * mean);
    EXPECT_NEAR(found.power[1], (axis == 1 ? 5 : -2.5) * mean, 1e-3 * mean);
    EXPECT_NEAR(found.power[2], (axis == 1 ? 9 : 27.0 / 8) * mean, 1e-3 * mean);
  }
}

/// Clustered points have power above the mesh's modes.
TEST_F(power_spectrum_test, interlacing_brings_the_power_nearer_to_that_without_a_mesh) {
  const auto domain = periodic_box<double, 3>({0, 0, 0}, {1, 1, 1});
  std::mt19937_64 random(6);
  weighted_points<double, 3> set;
  for (int i = 0; i < 30; ++i) {
    const auto center = make_vec<double, 3>([&](int) { return random_unit<double>(random); });
    for (int k = 0; k < 10; ++k) {
      set.points.push_back(make_vec<double, 3>([&](int d) { return center[d] + 0.02 * random_unit<double>(random); }));
    }
  }
  power_spectrum_options options;
  options.edges = {two_pi * 6, two_pi * 8};
  const auto exact = set.exact();
  double error[2];
  for (const bool interlaced : {false, true}) {
    options.interlaced = interlaced;
    const auto wanted = reference::direct_spectrum(problem_of(domain, {16, 16, 16}, options), exact, exact);
    power_spectrum<backend_context, double, 3> spectrum(backend_context(), domain, {16, 16, 16}, options);
    error[interlaced ? 1 : 0] = std::fabs(measured(spectrum, set).power[0] / (wanted.power[0] / 9e4) - 1);
  }
  EXPECT_LT(error[1], 0.3 * error[0]);
  EXPECT_LT(error[1], 0.05);
}

TEST_F(power_spectrum_test, the_window_is_undone_at_long_waves) {
  const auto domain = periodic_box<double, 3>({0, 0, 0}, {2, 1, 1});
  const auto set = random_set(domain, 200, 7, true);
  const auto exact = set.exact();
  for (int order = 1; order <= 4; ++order) {
    power_spectrum_options options;
    options.order = order;
    options.edges = {3, 4, 7, 13};
    const auto problem = problem_of(domain, {64, 64, 64}, options);
    const auto coarse = problem_of(domain, {12, 12, 12}, options);  // holds all modes of these bins
    power_spectrum<backend_context, double, 3> spectrum(backend_context(), domain, {64, 64, 64}, options);
    const auto found = measured(spectrum, set);
    const auto wanted = reference::direct_spectrum(coarse, exact, exact);
    const auto sum = static_cast<double>(std::accumulate(exact.weights.begin(), exact.weights.end(), 0.0L));
    expect_same(found, wanted, 2 / sum / sum, order == 1 ? 0.02 : 0.002);
  }
}

TEST_F(power_spectrum_test, the_cross_power_of_a_set_with_itself_is_its_power) {
  const backend_context context = context_at(determinism::run_to_run);
  const auto domain = periodic_box<float, 3>({0, 0, 0}, {1, 1, 1});
  const auto set = random_set(domain, 3000, 8, true);
  power_spectrum<backend_context, float, 3> spectrum(context, domain, {16, 16, 16});
  const auto alone = measured(spectrum, set, context), crossed = measured(spectrum, set, set, context);
  EXPECT_EQ(alone.power, crossed.power);
  EXPECT_GT(alone.shot_noise, 0);
  EXPECT_EQ(crossed.shot_noise, 0);
}

TEST_F(power_spectrum_test, is_the_same_in_every_run_where_the_context_asks_for_it) {
  const auto domain = periodic_box<float, 3>({0, 0, 0}, {1, 1, 1});
  const auto set = random_set(domain, 20'000, 9, false);
  power_spectrum_options options;
  options.multipoles = {0, 2, 4};
  std::vector<double> first;
  for (const int threads : {1, 3, 1}) {
    const backend_context context = context_at(determinism::run_to_run, threads);
    power_spectrum<backend_context, float, 3> spectrum(context, domain, {32, 24, 40}, options);
    for (int run = 0; run < 2; ++run) {
      const auto found = measured(spectrum, set, context);
      if (first.empty()) first = found.power;
      EXPECT_EQ(found.power, first) << threads;
    }
  }
}

TEST_F(power_spectrum_test, each_call_has_the_power_of_its_own_points) {
  const backend_context context = context_at(determinism::run_to_run);
  const auto domain = periodic_box<float, 3>({0, 0, 0}, {1, 1, 1});
  power_spectrum<backend_context, float, 3> kept(context, domain, {16, 16, 16});
  for (const std::size_t count : {1000, 3, 5000, 1}) {
    const auto set = random_set(domain, count, count, count % 2 == 0);
    power_spectrum<backend_context, float, 3> fresh(context, domain, {16, 16, 16});
    EXPECT_EQ(measured(kept, set, context).power, measured(fresh, set, context).power) << count;
  }
  EXPECT_GT(kept.bytes(), std::size_t{5000 * sizeof(float)});
}

TEST_F(power_spectrum_test, one_point_has_the_same_power_in_all_modes) {
  const auto domain = periodic_box<double, 3>({0, 0, 0}, {1, 2, 4});
  power_spectrum_options options;
  options.order = 1;
  options.interlaced = false;
  power_spectrum<backend_context, double, 3> spectrum(backend_context(), domain, {8, 8, 16}, options);
  const auto found = measured(spectrum, {{{0.25, 5.5, -0.5}}, {3}});  // two of its coordinates are wrapped
  EXPECT_EQ(found.shot_noise, 8);
  for (const double power : found.power) EXPECT_NEAR(power, 8, 1e-12);
}

TEST_F(power_spectrum_test, a_crystal_has_the_structure_factor_of_its_peaks) {
  const auto domain = periodic_box<double, 3>({0, 0, 0}, {1, 1, 1});
  weighted_points<double, 3> set;
  for (int i = 0; i < 64; ++i) {
    set.points.push_back({i / 16 / 4.0, i / 4 % 4 / 4.0, i % 4 / 4.0});
    set.weights.push_back((i / 16 + i / 4 + i) % 2 == 0 ? 1 : -1);
  }
  power_spectrum_options options;
  options.normalization = spectrum_normalization::structure_factor;
  options.order = 4;
  options.edges = {two_pi * 1, two_pi * 3.9, two_pi * 4.1};
  power_spectrum<backend_context, double, 3> spectrum(backend_context(), domain, {32, 32, 32}, options);
  const auto equal = measured(spectrum, {set.points, {}});
  EXPECT_NEAR(equal.power[0], 0, 1e-3);
  EXPECT_NEAR(equal.power[1] * static_cast<double>(equal.modes[1]), 6 * 64, 0.1) << "(4, 0, 0) and its like";
  EXPECT_EQ(equal.shot_noise, 1);
  const auto charges = measured(spectrum, set);  // of sum 0: peaks at (2, 2, 2) and its like
  EXPECT_NEAR(charges.power[0] * static_cast<double>(charges.modes[0]), 8 * 64, 0.1);
  EXPECT_NEAR(charges.power[1], 0, 1e-3);
}

template <int D = 3>
std::string error_with(const power_spectrum_options& options, const vec<int, D>& mesh = vec<int, D>::filled(8),
                       bool periodic = true) {
  auto domain = periodic_box<float, D>(vec<float, D>::filled(0), vec<float, D>::filled(1));
  domain.periodic[D - 1] = periodic;
  return error_of<argument_error>(
      [&] { const power_spectrum<backend_context, float, D> made(backend_context(), domain, mesh, options); });
}

TEST_F(power_spectrum_test, says_what_options_are_impossible) {
  EXPECT_EQ(error_with({}), "no error");
  expect_words(error_with({.order = 0}), {"order", "is 0", "1 to 4"});
  expect_words(error_with({.order = 5}), {"order", "is 5", "1 to 4"});
  expect_words(error_with({.multipoles = {}}), {"no multipoles", "0, 2 and 4"});
  expect_words(error_with({.multipoles = {0, 1}}), {"multipole is 1", "0, 2 and 4"});
  expect_words(error_with({.multipoles = {2, 0, 2}}), {"multipole 2", "twice"});
  expect_words(error_with<2>({.multipoles = {2}}), {"multipole is 2", "2D"});
  expect_words(error_with({.line_of_sight = 3}), {"axis 3", "0 to 2"});
  expect_words(error_with({.line_of_sight = -1}), {"axis -1"});
  expect_words(error_with({.edges = {1}}), {"1 edge"});
  expect_words(error_with({.edges = {1, 1}}), {"edge 1", "increase"});
  expect_words(error_with({.edges = {-1, 1}}), {"edge 0", "is -1"});
  expect_words(error_with({.edges = {0, std::nan("")}}), {"edge 1", "is nan"});
  std::vector<double> many(65538);
  std::iota(many.begin(), many.end(), 0.0);
  expect_words(error_with({.edges = many}), {"65537 bins", "65536"});
  expect_words(error_with({.method = "none_such"}), {"none_such"});
  expect_words(error_with({.fft = "none_such"}), {"none_such"});
  expect_words(error_with({}, {8, 8, 8}, false), {"axis 2", "open"});
  expect_words(error_with({}, {8, 8, 9}), {"9"});
  expect_words(error_with({}, {8, 7, 8}), {"7"});
  expect_words(error_with({}, {0, 8, 8}), {"0"});
}

TEST_F(power_spectrum_test, says_what_points_and_weights_are_impossible) {
  const auto domain = periodic_box<float, 3>({0, 0, 0}, {1, 1, 1});
  power_spectrum<backend_context, float, 3> spectrum(backend_context(), domain, {8, 8, 8});
  using set_type = weighted_points<float, 3>;
  const set_type good{{{0.1f, 0.2f, 0.3f}, {0.5f, 0.5f, 0.5f}}, {}};
  const auto error = [&](const set_type& set) { return error_of<data_error>([&] { (void)measured(spectrum, set); }); };
  const auto of_others = [&](const set_type& set) {
    return error_of<data_error>([&] { (void)measured(spectrum, good, set); });
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  set_type broken = good;
  broken.points[1][2] = nan;
  expect_words(error(broken), {"point 1"});
  expect_words(of_others(broken), {"others: ", "point 1"});
  for (const std::vector<float>& weights : {std::vector<float>{1, nan}, {1, INFINITY}}) {
    expect_words(error({good.points, weights}), {"weights", "finite"});
    expect_words(of_others({good.points, weights}), {"others: ", "weights", "finite"});
  }
  expect_words(error({good.points, {1, -1}}), {"add up to 0", "structure_factor"});
  expect_words(error_of<argument_error>([&] { (void)measured(spectrum, set_type{}); }), {"no points"});
  expect_words(error_of<argument_error>([&] { (void)measured(spectrum, good, set_type{}); }),
               {"others: ", "no points"});
  expect_words(error_of<argument_error>([&] { (void)spectrum.measure(strided_points<3, float>(nullptr, 4)); }),
               {"points", "null"});
  EXPECT_EQ(error(good), "no error");
}

}  // namespace

}  // namespace quadrat::test
