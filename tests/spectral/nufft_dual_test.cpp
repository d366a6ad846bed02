// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "reference/nufft.hpp"
#include "spectral/fft/lines.hpp"
#include "spectral/nufft_support.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

/// With a new plan.
template <typename T, int D>
void expect_right(const backend_context& context, const nufft_case<T, D>& it, bool random) {
  nufft_run<T, D> run(context, it);
  expect_right(run, it, random);
}

/// Even, odd, prime and tiny numbers of modes.
template <int D>
std::vector<vec<int, D>> mode_numbers() {
  if constexpr (D == 1) return {{1}, {2}, {3}, {64}, {97}, {300}};
  if constexpr (D == 2) return {{1, 1}, {2, 5}, {16, 16}, {31, 12}};
  if constexpr (D == 3) return {{1, 1, 1}, {3, 2, 4}, {8, 11, 6}};
}

template <typename T, int D>
void expect_right_for_all(const std::vector<double>& tolerances) {
  const backend_context context;
  int round = 0;
  for (const auto& modes : mode_numbers<D>()) {
    for (const double tolerance : tolerances) {
      for (const nufft_values values : {nufft_values::complex, nufft_values::real}) {
        nufft_case<T, D> it;
        it.modes = modes;
        it.tolerance = tolerance;
        it.options.values = values;
        it.options.order = round % 2 == 0 ? mode_order::centered : mode_order::fft;
        it.options.oversampling = round % 3 == 0 ? 2 : 0;
        if (round % 5 == 4) it.options.period = {1, 3.5, 100};
        if (round % 5 == 3) it.options.origin = {0.5, -3, 1.25};
        add_points(it, places::uniform, 120, 3 + static_cast<std::uint64_t>(round));
        expect_right(context, it, true);
        ++round;
      }
    }
  }
}

class nufft_test : public backend_test {};

TEST_F(nufft_test, is_as_accurate_as_asked_for_in_single_precision) {
  expect_right_for_all<float, 1>({1e-1, 1e-3, 5e-6});
  expect_right_for_all<float, 2>({1e-2, 1e-5});
  expect_right_for_all<float, 3>({1e-1, 1e-4, 5e-6});
}

TEST_F(nufft_test, is_as_accurate_as_asked_for_in_double_precision) {
  expect_right_for_all<double, 1>({1e-2, 1e-6, 1e-9, 1e-13});
  expect_right_for_all<double, 2>({1e-1, 1e-7, 1e-12});
  expect_right_for_all<double, 3>({1e-3, 1e-8, 1e-12});
}

TEST_F(nufft_test, is_as_accurate_with_every_window_and_oversampling) {
  const backend_context context;
  for (const window_shape shape : {window_shape::prolate, window_shape::kaiser_bessel,
                                   window_shape::exponential_of_semicircle, window_shape::bspline}) {
    for (const double oversampling : {1.25, 1.6, 2.0, 3.0}) {
      if (shape == window_shape::bspline && oversampling < 2) continue;
      nufft_case<double, 2> it;
      it.modes = {12, 19};
      it.tolerance = shape == window_shape::bspline ? 1e-3 : 1e-5;
      it.options.window = shape;
      it.options.oversampling = oversampling;
      add_points(it, places::uniform, 100, 8);
      expect_right(context, it, true);
    }
  }
}

TEST_F(nufft_test, takes_points_anywhere) {
  const backend_context context;
  for (const places where : {places::one_place, places::edges, places::far, places::one, places::none}) {
    for (const nufft_values values : {nufft_values::complex, nufft_values::real}) {
      nufft_case<double, 3> it;
      it.modes = {7, 4, 10};
      it.tolerance = 1e-9;
      it.options.values = values;
      add_points(it, where, 50, 21);
      expect_right(context, it, false);
      nufft_case<float, 1> line;
      line.modes = {100};
      line.tolerance = 1e-5;
      line.options.values = values;
      add_points(line, where, 50, 22);
      expect_right(context, line, false);
    }
  }
}

/// One point at the worst place between mesh points is what the bound of the error is for.
/// On GPUs it is not the one that small meshes take.
TEST_F(nufft_test, is_right_with_the_projects_own_fourier_transform) {
  for (const backend_context& context : all_contexts()) {
    for (const double oversampling : {1.25, 1.5, 2.0}) {
      for (const mode_order order : {mode_order::centered, mode_order::fft}) {
        nufft_case<double, 3> it;
        it.modes = {9, 14, 6};
        it.tolerance = 1e-5;
        it.options.oversampling = oversampling;
        it.options.order = order;
        it.options.fft = "own";
        add_points(it, places::uniform, 200, 17);
        expect_right(context, it, true);
      }
    }
  }
}

TEST_F(nufft_test, keeps_its_bound_for_every_single_point) {
  const backend_context context;
  for (const double tolerance : {1e-1, 1e-2, 1e-4, 1e-7, 1e-10}) {
    nufft_case<double, 1> it;
    it.modes = {40};
    it.tolerance = tolerance;
    nufft_run<double, 1> run(context, it);
    const std::vector<std::complex<double>> value{1};
    for (int i = 0; i < 60; ++i) {
      it.points = {{1 + 0.003 * i}};
      run.set_points(it);
      const auto wanted = reference::nufft_1(it.problem(), exact_values(value), 1);
      expect_within(run.type_1(value), wanted, 1, run.plan().error_bound(), false);
    }
  }
}

template <typename T, int D>
void expect_adjoint(const nufft_case<T, D>& it, double epsilon) {
  const backend_context context;
  nufft_run<T, D> run(context, it);
  const auto values = random_complex<T>(it.points.size(), 1);
  const auto modes = random_complex<T>(run.plan().mode_count(), 2);
  for (const int sign : {1, -1}) {
    const auto forward = run.type_1(values, {1, sign}), back = run.type_2(modes, {1, -sign});
    std::complex<double> a = 0, b = 0;
    for (std::size_t k = 0; k < modes.size(); ++k) a += std::conj(std::complex<double>(modes[k])) * forward[k];
    for (std::size_t j = 0; j < values.size(); ++j) b += std::conj(back[j]) * std::complex<double>(values[j]);
    const double size = std::sqrt(static_cast<double>(values.size() * modes.size()));
    EXPECT_LE(std::abs(a - b), epsilon * size) << it.text() << " sign " << sign;
  }
}

/// Whatever the tolerance.
TEST_F(nufft_test, types_1_and_2_are_adjoint_to_rounding) {
  for (const double tolerance : {1e-1, 1e-5}) {
    nufft_case<double, 2> plane;
    plane.modes = {9, 14};
    plane.tolerance = tolerance;
    add_points(plane, places::uniform, 300, 4);
    expect_adjoint(plane, 1e-13);
    nufft_case<float, 3> space;
    space.modes = {6, 5, 8};
    space.tolerance = tolerance;
    add_points(space, places::uniform, 300, 5);
    expect_adjoint(space, 1e-4);
    nufft_case<double, 1> line;
    line.modes = {101};
    line.tolerance = tolerance;
    add_points(line, places::uniform, 300, 6);
    expect_adjoint(line, 1e-13);
  }
}

/// Of real values, type 2 is the adjoint of type 1 if a mode counts as often as type 2 adds it.
TEST_F(nufft_test, types_1_and_2_of_real_values_are_adjoint_to_rounding) {
  const backend_context context;
  for (const int last : {8, 9}) {
    nufft_case<double, 2> it;
    it.modes = {7, last};
    it.tolerance = 1e-2;
    it.options.values = nufft_values::real;
    add_points(it, places::uniform, 100, 4);
    nufft_run<double, 2> run(context, it);
    const auto values = random_complex<double>(100, 1), modes = random_complex<double>(run.plan().mode_count(), 2);
    for (const int sign : {1, -1}) {
      const auto forward = run.type_1(values, {1, sign}), back = run.type_2(modes, {1, -sign});
      double a = 0, b = 0;
      for (std::size_t k = 0; k < modes.size(); ++k) {
        const auto along = static_cast<int>(k % static_cast<std::size_t>(last / 2 + 1));
        a += (along == 0 || 2 * along == last ? 1 : 2) * (std::conj(modes[k]) * forward[k]).real();
      }
      for (std::size_t j = 0; j < values.size(); ++j) b += back[j].real() * values[j].real();
      EXPECT_NEAR(a, b, 1e-11) << last << " sign " << sign;
    }
  }
}

/// Modes of real values are those of complex values without imaginary parts; and the sums of type 2 are real parts.
TEST_F(nufft_test, real_values_give_what_complex_ones_give) {
  const backend_context context;
  nufft_case<double, 3> it;
  it.modes = {6, 7, 8};
  it.tolerance = 1e-6;
  it.options.order = mode_order::fft;
  it.options.oversampling = 2;
  add_points(it, places::uniform, 200, 9);
  nufft_run<double, 3> full(context, it);
  it.options.values = nufft_values::real;
  nufft_run<double, 3> half(context, it);
  auto values = random_complex<double>(200, 3);
  for (auto& x : values) x = x.real();
  const auto all = full.type_1(values), some = half.type_1(values);
  ASSERT_EQ(some.size(), 6u * 7 * 5);
  for (std::size_t row = 0; row < 42; ++row) {
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(std::abs(all[8 * row + k] - some[5 * row + k]), 0, 1e-12);
  }
}

TEST_F(nufft_test, several_vectors_are_transformed_one_by_one) {
  const backend_context context;
  for (const nufft_values kind : {nufft_values::complex, nufft_values::real}) {
    nufft_case<double, 2> it;
    it.modes = {10, 9};
    it.tolerance = 1e-6;
    it.options.values = kind;
    add_points(it, places::uniform, 60, 13);
    nufft_run<double, 2> run(context, it);
    const std::size_t count = run.plan().mode_count();
    const auto values = random_complex<double>(180, 14), modes = random_complex<double>(3 * count, 15);
    const auto all = run.type_1(values, {3, 0}), back = run.type_2(modes, {3, 0});
    for (std::size_t v = 0; v < 3; ++v) {
      const auto one = run.type_1({values.data() + 60 * v, values.data() + 60 * (v + 1)});
      const auto one_back = run.type_2({modes.data() + count * v, modes.data() + count * (v + 1)});
      for (std::size_t k = 0; k < count; ++k) EXPECT_LT(std::abs(one[k] - all[count * v + k]), 1e-12);
      for (std::size_t j = 0; j < 60; ++j) EXPECT_LT(std::abs(one_back[j] - back[60 * v + j]), 1e-12);
    }
  }
}

TEST_F(nufft_test, gives_the_same_bits_in_every_run_where_the_context_asks_for_it) {
  nufft_case<double, 3> it;
  it.modes = {12, 10, 14};
  add_points(it, places::uniform, 3000, 31);
  const auto values = random_complex<double>(3000, 32);
  for (const double tolerance : {1e-4, 1e-11}) {
    it.tolerance = tolerance;
    complex_values first, first_back;
    for (const int threads : {1, 2, 5, 2}) {
      nufft_run<double, 3> run(context_at(determinism::run_to_run, threads), it);
      const auto modes = run.type_1(values);
      const auto back = run.type_2(random_complex<double>(run.plan().mode_count(), 33));
      if (first.empty()) first = modes, first_back = back;
      EXPECT_EQ(std::memcmp(modes.data(), first.data(), modes.size() * sizeof(modes[0])), 0) << threads;
      EXPECT_EQ(std::memcmp(back.data(), first_back.data(), back.size() * sizeof(back[0])), 0) << threads;
    }
  }
}

/// The same plan for few points and for many, whose best windows differ.
TEST_F(nufft_test, is_set_up_anew_for_other_numbers_of_points) {
  const backend_context context;
  nufft_case<double, 2> it;
  it.modes = {64, 60};
  it.tolerance = 1e-5;
  add_points(it, places::one, 1, 1);
  nufft_run<double, 2> run(context, it);
  const double sparse = run.plan().oversampling();
  nufft_case<double, 2> many = it;
  add_points(many, places::uniform, 200000, 2);
  run.set_points(many);
  EXPECT_GT(run.plan().oversampling(), sparse);
  EXPECT_EQ(run.plan().mesh()[0], detail::good_fft_size(run.plan().oversampling() * 64, true));
  run.set_points(it);
  EXPECT_EQ(run.plan().oversampling(), sparse);
  const std::vector<std::complex<double>> value{1};
  expect_within(run.type_1(value), reference::nufft_1(it.problem(), exact_values(value), 1), 1, it.tolerance, false);
}

/// Where there are few of them, and where there were many before.
TEST_F(nufft_test, points_under_wide_windows_are_sorted_by_tile_on_gpus) {
  const backend_context context;
  nufft_case<double, 3> it;
  it.modes = {14, 12, 15};
  it.tolerance = 1e-9;
  nufft_case<double, 3> many = it;
  add_points(it, places::uniform, 1500, 1);
  add_points(many, places::uniform, size_or(100001, 10001), 2);
  nufft_run<double, 3> run(context, it);
  if (std::is_same_v<backend_context, cuda_context>) {
    EXPECT_EQ(run.plan().method(), "tiles");
  }
  expect_right(run, it, true);
  run.set_points(many);
  EXPECT_FALSE(run.plan().method().empty());
  run.set_points(it);
  expect_right(run, it, true);
}

template <int D>
void expect_several_threads_for_each(const vec<int, D>& modes) {
  const backend_context context;
  nufft_case<double, D> it;
  it.modes = modes;
  it.tolerance = 1e-9;
  add_points(it, places::uniform, 100, 1);
  nufft_run<double, D> run(context, it);
  if (std::is_same_v<backend_context, cuda_context>) {
    EXPECT_EQ(run.plan().method(), "particle_threads") << D;
  }
  expect_right(run, it, true);
}

TEST_F(nufft_test, few_points_under_wide_windows_have_several_threads_each_on_gpus) {
  expect_several_threads_for_each<1>({40});
  expect_several_threads_for_each<2>({30, 24});
  expect_several_threads_for_each<3>({14, 12, 15});
}

TEST_F(nufft_test, allocates_nothing_once_points_are_set) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  nufft_case<float, 3> it;
  it.modes = {8, 8, 8};
  add_points(it, places::uniform, 500, 41);
  for (const nufft_values kind : {nufft_values::complex, nufft_values::real}) {
    it.options.values = kind;
    nufft_run<float, 3> run(context, it);
    const auto values = to_device(context, random_complex<float>(500, 1));
    array<std::complex<float>, backend_context> modes(context, run.plan().mode_count());
    const std::size_t before = memory.allocations();
    EXPECT_GT(run.plan().bytes(), 16u * 16 * 16 * sizeof(float));
    if (kind == nufft_values::complex) {
      run.plan().type_1(values.data(), modes.data());
    } else {
      run.plan().type_1(reinterpret_cast<const float*>(values.data()), modes.data());
    }
    context.synchronize();
    EXPECT_EQ(memory.allocations(), before);
  }
}

/// Or refuses; with enough it does not refuse.
TEST_F(nufft_test, keeps_to_the_bytes_that_are_allowed) {
  const backend_context usual;
  for (const nufft_values kind : {nufft_values::complex, nufft_values::real}) {
    nufft_case<double, 3> it;
    it.modes = {30, 31, 32};
    it.tolerance = 1e-6;
    it.options.values = kind;
    add_points(it, places::uniform, 20'000, 3);
    nufft_run<double, 3> generous(usual, it);
    const std::size_t held = generous.plan().bytes();
    const auto points = to_device(usual, it.points);
    for (const std::size_t percent : {3u, 30u, 50u, 55u, 60u, 75u, 300u}) {
      counting_memory memory;
      const backend_context context = memory.context(determinism::none);
      it.options.most_bytes = held * percent / 100;
      nufft_plan<backend_context, double, 3> plan(context, it.modes, it.tolerance, it.options);
      const std::string text = error_of<argument_error>([&] { plan.set_points(points_of(points)); });
      EXPECT_LE(memory.live_bytes(), it.options.most_bytes + 1024) << percent << "%: " << text;
      EXPECT_EQ(text == "no error", plan.point_count() == it.points.size());
      if (percent == 3) expect_words(text, {"bytes", std::to_string(it.options.most_bytes)});
      if (percent == 300) {
        EXPECT_EQ(text, "no error");
        EXPECT_LE(plan.bytes(), memory.live_bytes());
        EXPECT_GE(plan.bytes() + 1024, memory.live_bytes());
      }
    }
  }
}

/// With bytes for a smaller mesh only, the plan takes that mesh, and keeps it where points are set again.
TEST_F(nufft_test, takes_a_smaller_oversampling_where_the_bytes_are_few) {
  const backend_context usual;
  nufft_case<double, 3> it;
  it.modes = {30, 31, 32};
  it.tolerance = 1e-5;  // windows of the smallest mesh are wide, and not the fastest
  add_points(it, places::uniform, 200'000, 3);
  const auto points = to_device(usual, it.points);
  nufft_run<double, 3> generous(usual, it);
  const double usually = generous.plan().oversampling();
  ASSERT_GT(usually, 1.25);
  const auto fits = [&](double oversampling) {
    auto other = it;
    other.options.oversampling = oversampling;
    try {
      const nufft_run<double, 3> run(usual, other);
      return true;
    } catch (const argument_error&) {
      return false;
    }
  };
  it.options.most_bytes = generous.plan().bytes();
  while (fits(usually)) it.options.most_bytes -= it.options.most_bytes / 50;
  ASSERT_TRUE(fits(1.25));
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  nufft_run<double, 3> run(context, it);
  auto same = it;
  same.options.oversampling = run.plan().oversampling();
  nufft_run<double, 3> asked(usual, same);
  const auto modes = random_complex<double>(30 * 31 * 32, 4);
  for (int round = 0; round < 2; ++round) {
    EXPECT_LT(run.plan().oversampling(), usually);
    EXPECT_LE(run.plan().bytes(), it.options.most_bytes);
    EXPECT_NE(run.plan().explanation().reason.find("bytes"), std::string::npos);
    const auto found = run.type_2(modes, {}), wanted = asked.type_2(modes, {});
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t j = 0; j < found.size(); ++j) ASSERT_LE(std::abs(found[j] - wanted[j]), 1e-9);
    const std::size_t before = memory.allocations();
    run.plan().set_points(points_of(points));
    EXPECT_LT(memory.allocations(), before + 4);
  }
}

template <typename T, int D>
std::string plan_error(const vec<int, D>& modes, double tolerance, const nufft_options& options = {}) {
  return error_of<argument_error>(
      [&] { (void)nufft_plan<backend_context, T, D>(backend_context(), modes, tolerance, options); });
}

TEST_F(nufft_test, says_what_is_impossible) {
  expect_words(plan_error<float, 3>({8, 8, 8}, 1e-9), {"1e-09", "single precision", "3 dimensions", " can"});
  expect_words(plan_error<double, 1>({8}, 1e-20), {"1e-20", "double precision", " can"});
  expect_words(plan_error<double, 1>({8}, 0), {"tolerance is 0"});
  expect_words(plan_error<double, 1>({8}, std::nan("")), {"tolerance is nan"});
  expect_words(plan_error<double, 2>({8, 0}, 1e-3), {"0 modes along axis 1"});
  expect_words(plan_error<double, 1>({1 << 23}, 1e-3), {"8388608 modes", "4194304"});
  expect_words(plan_error<double, 3>({2000, 2000, 2000}, 1e-3), {"2000 x 2000 x 2000", "2147483647"});
  nufft_options options;
  options.oversampling = 1;
  expect_words(plan_error<double, 1>({8}, 1e-3, options), {"oversampling is 1; above 1 to 4 is possible, or auto"});
  options.oversampling = 1.25;
  expect_words(plan_error<double, 3>({8, 8, 8}, 1e-14, options), {"1.25 mesh points per mode"});
  options = {};
  options.period[1] = -1;
  expect_words(plan_error<double, 2>({8, 8}, 1e-3, options), {"period along axis 1 is -1"});
  options = {};
  options.origin[0] = std::nan("");
  expect_words(plan_error<double, 2>({8, 8}, 1e-3, options), {"origin along axis 0 is nan"});
  options = {};
  options.method = "tile";
  expect_words(plan_error<double, 2>({8, 8}, 1e-3, options), {"tile", "tiles"});
  EXPECT_EQ((plan_error<double, 2>({8, 8}, 1e-3)), "no error");
}

/// The least tolerance that a message names can be had.
TEST_F(nufft_test, reaches_the_tolerance_that_it_offers) {
  const std::string text = plan_error<float, 2>({8, 8}, 1e-12);
  const std::size_t at = text.find("; ");
  ASSERT_NE(at, std::string::npos) << text;
  const double offered = std::stod(text.substr(at + 2));
  EXPECT_EQ((plan_error<float, 2>({8, 8}, offered)), "no error") << text;
}

TEST_F(nufft_test, refuses_calls_that_do_not_fit) {
  const backend_context context;
  nufft_plan<backend_context, double, 1> plan(context, {8}, 1e-3);
  std::complex<double>* const nothing = nullptr;
  const auto error = [&](auto&& call) { return error_of<argument_error>(call); };
  expect_words(error([&] { plan.type_1(nothing, nothing); }), {"no points are set"});
  const std::vector<vec<double, 1>> nowhere{{0.1}, {std::nan("")}};
  const auto there = to_device(context, nowhere);
  expect_words(error_of<data_error>([&] { plan.set_points(points_of(there)); }), {"point 1 ", "not finite"});
  expect_words(error([&] { plan.type_1(nothing, nothing); }), {"no points are set"});
  nufft_case<double, 1> it;
  it.modes = {8};
  add_points(it, places::uniform, 3, 1);
  nufft_run<double, 1> run(context, it);
  array<std::complex<double>, backend_context> numbers(context, 8);
  expect_words(error([&] { run.plan().type_1(numbers.data(), numbers.data(), {1, 2}); }), {"sign is 2"});
  expect_words(error([&] { run.plan().type_2(numbers.data(), numbers.data(), {0, 1}); }), {"0 value vectors"});
  double* const real = nullptr;
  expect_words(error([&] { run.plan().type_2(numbers.data(), real); }), {"complex values; these are real"});
  expect_words(error([&] { run.plan().type_1(nothing, numbers.data()); }), {"null"});
  expect_words(error([&] { run.plan().type_1(numbers.data(), nothing); }), {"modes", "null"});
}

}  // namespace

}  // namespace quadrat::test
