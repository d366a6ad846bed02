// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/spectral/nufft_target_plan.hpp"
#include "support/backend.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"
#include "support/late_errors.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

class nufft_target_test : public backend_test {};

/// Points in a box around a center, and targets in another.
template <typename T, int D>
struct target_case {
  double tolerance = 1e-4;
  std::vector<vec<T, D>> points, targets;

  target_case(double accuracy, std::size_t point_count, double x, double x_center, std::size_t target_count, double s,
              double s_center)
      : tolerance(accuracy) {
    std::mt19937_64 random(point_count + 7 * target_count);
    const auto draw = [&](double center, double half) {
      return make_vec<T, D>([&](int) { return static_cast<T>(center + half * (2 * random_unit<double>(random) - 1)); });
    };
    for (std::size_t i = 0; i < point_count; ++i) points.push_back(draw(x_center, x));
    for (std::size_t i = 0; i < target_count; ++i) targets.push_back(draw(s_center, s));
  }
};

template <typename T>
std::vector<std::complex<T>> drawn_values(std::size_t count) {
  std::mt19937_64 random(3);
  std::vector<std::complex<T>> values(count);
  for (auto& x : values) x = {2 * random_unit<T>(random) - 1, 2 * random_unit<T>(random) - 1};
  return values;
}

/// Direct sums, with angles in long double.
template <typename T, int D>
std::vector<std::complex<double>> direct(const target_case<T, D>& it, const std::vector<std::complex<T>>& values,
                                         int sign) {
  std::vector<std::complex<double>> results;
  for (const auto& s : it.targets) {
    std::complex<double> sum = 0;
    for (std::size_t j = 0; j < it.points.size(); ++j) {
      long double angle = 0;
      for (int d = 0; d < D; ++d) angle += static_cast<long double>(s[d]) * static_cast<long double>(it.points[j][d]);
      sum += std::complex<double>(values[j]) *
             std::complex<double>(static_cast<double>(std::cos(angle)), sign * static_cast<double>(std::sin(angle)));
    }
    results.push_back(sum);
  }
  return results;
}

template <typename T, int D>
std::vector<std::complex<T>> found_by(const backend_context& context, nufft_target_plan<backend_context, T, D>& plan,
                                      const std::vector<std::complex<T>>& values, const nufft_call& call) {
  const auto there = to_device(context, values);
  array<std::complex<T>, backend_context> results(context,
                                                  plan.target_count() * static_cast<std::size_t>(call.vectors));
  plan.type_3(there.data(), results.data(), call);
  return to_host(context, results);
}

template <typename T, int D>
void expect_direct_sums(const target_case<T, D>& it, const nufft_target_options& options = {}) {
  const backend_context context;
  nufft_target_plan<backend_context, T, D> plan(context, it.tolerance, options);
  const auto points = to_device(context, it.points), targets = to_device(context, it.targets);
  EXPECT_TRUE(plan.method().empty());
  plan.set_points(points_of(points), points_of(targets));
  EXPECT_LE(plan.error_bound(), it.tolerance);
  EXPECT_GT(plan.width(), 1);
  EXPECT_FALSE(plan.method().empty());
  const auto values = drawn_values<T>(it.points.size());
  double sum = 0;
  for (const auto& x : values) sum += std::abs(std::complex<double>(x));
  for (const int sign : {1, -1}) {
    const auto wanted = direct(it, values, sign);
    const auto found = found_by(context, plan, values, {1, sign});
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      ASSERT_LE(std::abs(std::complex<double>(found[k]) - wanted[k]), plan.error_bound() * sum)
          << "target " << k << " of " << wanted.size() << ", " << it.points.size() << " points, tolerance "
          << it.tolerance << ", " << D << " dimensions, sign " << sign;
    }
  }
}

TEST_F(nufft_target_test, gives_direct_sums_within_the_tolerance) {
  for (const double tolerance : {1e-1, 1e-3, 1e-4}) {
    expect_direct_sums(target_case<float, 1>(tolerance, 90, 3, 0, 70, 40, 0));
    expect_direct_sums(target_case<float, 2>(tolerance, 90, 3, 1, 70, 5, 2));
    expect_direct_sums(target_case<float, 3>(tolerance, 90, 1, -0.5, 70, 6, 3));
  }
  for (const double tolerance : {1e-2, 1e-6, 1e-9}) {
    expect_direct_sums(target_case<double, 1>(tolerance, 90, 100, 2000, 70, 5, -30));
    expect_direct_sums(target_case<double, 2>(tolerance, 90, 0.01, 4, 70, 3000, 100));
    expect_direct_sums(target_case<double, 3>(tolerance, 90, 1, -0.5, 70, 6, 3));
  }
}

/// The tolerances that single precision reaches. One point, whose mesh values do not average rounding, is near the end
/// of the points' extent, most targets at the corners of theirs, where the window's transform is smallest.
template <int D>
void expect_right_at_corners(double tolerance) {
  for (int place = 0; place < 6; ++place) {
    target_case<float, D> it(tolerance, 1, 0, 1.5 + 0.013 * place, 60, 10, 3);
    for (std::size_t k = 0; k < it.targets.size() / 2; ++k) {
      for (int d = 0; d < D; ++d) it.targets[k][d] = it.targets[k][d] < 3 ? -7.0f : 13.0f;
    }
    // Another point, with hardly any value, makes the extent.
    it.points.push_back(vec<float, D>::filled(-1.5f));
    expect_direct_sums(it);
  }
}

TEST_F(nufft_target_test, single_precision_reaches_a_hundred_thousandth_in_every_dimension) {
  expect_right_at_corners<1>(2e-6);
  expect_right_at_corners<1>(1e-5);
  expect_right_at_corners<2>(1e-5);
  expect_right_at_corners<3>(1e-5);
  expect_direct_sums(target_case<float, 3>(1e-5, 90, 1, -0.5, 70, 6, 3));
  expect_direct_sums(target_case<float, 2>(1e-5, 900, 1, -0.5, 70, 60, 3));
}

/// By name, and where lines are too long for a multiprocessor of a GPU.
TEST_F(nufft_target_test, gives_direct_sums_by_whole_fourier_transforms) {
  nufft_target_options options;
  options.fft = std::is_same_v<backend_context, cuda_context> ? "cufft" : "own";
  expect_direct_sums(target_case<double, 3>(1e-6, 90, 1, -0.5, 70, 6, 3), options);
  expect_direct_sums(target_case<float, 2>(1e-4, 90, 3, 1, 70, 5, 2), options);
  target_case<double, 2> flat(1e-6, 40, 3, 0, 30, 20, 0);
  for (auto& x : flat.points) x[0] *= 60;
  expect_direct_sums(flat);
}

/// Coordinates of type T then lie farther apart than mesh points do.
TEST_F(nufft_target_test, transforms_points_and_targets_far_from_the_origin) {
  expect_direct_sums(target_case<float, 1>(1e-4, 20, 40, 1e8, 20, 1, 0));
  expect_direct_sums(target_case<float, 2>(1e-4, 20, 1, 0, 20, 40, 1e8));
  expect_direct_sums(target_case<float, 3>(1e-4, 1, 0, 1e8, 20, 1, 0));
}

/// Where an extent is nothing, the other one may be anything.
TEST_F(nufft_target_test, takes_one_point_one_target_and_none) {
  for (const double s : {0.0, 1e-9, 1e3}) {
    for (const double x : {0.0, 1e-9, 1e-2}) {
      expect_direct_sums(target_case<double, 2>(1e-7, 5, x, 3, 4, s, 1));
      expect_direct_sums(target_case<double, 1>(1e-7, 1, x, 3, 1, s, -2));
    }
  }
  expect_direct_sums(target_case<double, 3>(1e-5, 0, 1, 0, 6, 4, 0));
  expect_direct_sums(target_case<double, 3>(1e-5, 6, 1, 0, 0, 4, 0));
}

/// Extents whose product is so small that a mesh has hardly more points than the windows, at tolerances of all window
/// widths.
TEST_F(nufft_target_test, gives_direct_sums_where_the_windows_are_most_of_the_mesh) {
  target_case<float, 1> one(1e-2, 1, 0, 0.3, 0, 1, 0);
  for (int k = 0; k < 9; ++k) one.targets.push_back({0.25f * static_cast<float>(k) - 1});
  expect_direct_sums(one);
  expect_direct_sums(target_case<double, 3>(2e-10, 26, 0.006, 0, 24, 0.17, 0));
  expect_direct_sums(target_case<double, 3>(1e-6, 26, 0.006, 0, 24, 0.17, 0));
  for (double tolerance = 0.3; tolerance > 1e-12; tolerance /= 4) {
    for (const double product : {1e-4, 0.1, 0.7}) {
      const double half = std::sqrt(product);
      expect_direct_sums(target_case<double, 1>(tolerance, 9, half, 0.1, 8, half, -0.2));
      expect_direct_sums(target_case<double, 2>(tolerance, 9, 3 * half, 0.1, 8, half / 3, -0.2));
      if (tolerance > 2e-6)
        expect_direct_sums(target_case<float, 2>(std::max(tolerance, 1e-5), 9, half, 1, 8, half, 2));
    }
  }
}

template <typename T, int D>
void expect_adjoint_of_type_3(const target_case<T, D>& it, double epsilon) {
  const backend_context context;
  nufft_target_plan<backend_context, T, D> plan(context, it.tolerance);
  const auto points = to_device(context, it.points), targets = to_device(context, it.targets);
  plan.set_points(points_of(points), points_of(targets));
  const auto values = drawn_values<T>(2 * it.points.size()), given = drawn_values<T>(2 * it.targets.size() + 1);
  const std::vector<std::complex<T>> results(given.begin() + 1, given.end());
  for (const int sign : {0, -1}) {
    const auto forward = found_by(context, plan, values, {2, sign});
    const auto from = to_device(context, results);
    array<std::complex<T>, backend_context> back(context, values.size());
    plan.type_3_adjoint(from.data(), back.data(), {2, sign});
    const auto found = to_host(context, back);
    std::complex<double> a = 0, b = 0;
    for (std::size_t k = 0; k < results.size(); ++k) {
      a += std::conj(std::complex<double>(results[k])) * std::complex<double>(forward[k]);
    }
    for (std::size_t j = 0; j < values.size(); ++j) {
      b += std::conj(std::complex<double>(found[j])) * std::complex<double>(values[j]);
    }
    EXPECT_LE(std::abs(a - b), epsilon * std::sqrt(static_cast<double>(values.size() * results.size()))) << sign;
    EXPECT_GT(std::abs(a), 1e-3);
  }
}

/// Whatever the tolerance; with more points than targets and the other way around.
TEST_F(nufft_target_test, type_3_has_an_adjoint_to_rounding) {
  for (const double tolerance : {1e-1, 1e-3}) {
    expect_adjoint_of_type_3(target_case<double, 1>(tolerance, 90, 3, 1, 40, 40, 2), 1e-12);
    expect_adjoint_of_type_3(target_case<double, 2>(tolerance, 90, 0.3, 1, 40, 0.4, 2), 1e-12);
    expect_adjoint_of_type_3(target_case<double, 3>(tolerance, 30, 1, -0.5, 70, 6, 3), 1e-12);
    expect_adjoint_of_type_3(target_case<float, 2>(tolerance, 50, 3, 1, 70, 5, 2), 1e-4);
  }
}

/// Or refuses; with enough it does not refuse. Points are set twice.
TEST_F(nufft_target_test, keeps_to_the_bytes_that_are_allowed) {
  const backend_context usual;
  const target_case<double, 2> it(1e-5, 900, 3, 1, 500, 20, 2), larger(1e-5, 900, 6, 1, 1500, 20, 2);
  const auto points = to_device(usual, it.points), targets = to_device(usual, it.targets);
  const auto more_points = to_device(usual, larger.points), more_targets = to_device(usual, larger.targets);
  nufft_target_plan<backend_context, double, 2> generous(usual, it.tolerance);
  generous.set_points(points_of(points), points_of(targets));
  for (const std::size_t percent : {5u, 40u, 80u, 200u}) {
    counting_memory memory;
    const backend_context context = memory.context(determinism::none);
    nufft_target_options options;
    options.most_bytes = generous.bytes() * percent / 100;
    nufft_target_plan<backend_context, double, 2> plan(context, it.tolerance, options);
    const auto text = [&](const auto& from, const auto& to) {
      return error_of<argument_error>([&] { plan.set_points(points_of(from), points_of(to)); });
    };
    (void)text(more_points, more_targets);
    EXPECT_LE(memory.live_bytes(), options.most_bytes + 2048) << percent;
    const std::string found = text(points, targets);
    EXPECT_LE(memory.live_bytes(), options.most_bytes + 2048) << percent;
    EXPECT_EQ(plan.point_count(), found == "no error" ? 900u : 0u);
    if (percent == 5) expect_words(found, {"bytes", "allowed"});
    EXPECT_TRUE(percent < 200 || found == "no error") << found;
  }
}

TEST_F(nufft_target_test, transforms_several_vectors_and_new_points) {
  const backend_context context;
  nufft_target_plan<backend_context, double, 2> plan(context, 1e-6);
  for (const std::size_t count : {40u, 10u, 60u}) {
    const target_case<double, 2> it(1e-6, count, 1, 0, 30, 10, 0);
    const auto points = to_device(context, it.points), targets = to_device(context, it.targets);
    plan.set_points(points_of(points), points_of(targets));
    const auto values = drawn_values<double>(2 * count);
    const auto both = found_by(context, plan, values, {2, 0});
    for (std::size_t v = 0; v < 2; ++v) {
      const std::vector<std::complex<double>> own(values.data() + v * count, values.data() + (v + 1) * count);
      const auto wanted = direct(it, own, 1);
      for (std::size_t k = 0; k < 30; ++k) EXPECT_LT(std::abs(both[30 * v + k] - wanted[k]), 1e-4);
    }
    EXPECT_GT(plan.bytes(), 30 * sizeof(double));
    EXPECT_GT(plan.mesh()[0], 10);
  }
}

/// Points that move little find the meshes, Fourier transforms and methods of the last call, but no trace of its
/// points.
TEST_F(nufft_target_test, setting_points_again_gives_the_bits_of_a_new_plan) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::run_to_run), usual;
  nufft_target_plan<backend_context, double, 3> plan(context, 1e-5);
  const auto values = drawn_values<double>(500);
  std::size_t first = 0, live = 0;
  for (const double size : {1.0, 1.001, 0.999, 1.6, 1.0}) {
    const target_case<double, 3> it(1e-5, 500, size, 3 * size, 400, 4 * size, 0);
    const auto points = to_device(usual, it.points), targets = to_device(usual, it.targets);
    const std::size_t before = memory.allocations();
    plan.set_points(points_of(points), points_of(targets));
    if (first == 0) first = memory.allocations() - before, live = memory.live_bytes();
    // Those of the transform and the arrays are not made again.
    if (size == 1.001 || size == 0.999) {
      EXPECT_LT(memory.allocations() - before, first);
      EXPECT_EQ(memory.live_bytes(), live);
    }
    const backend_context other = context_at(determinism::run_to_run, 1);
    nufft_target_plan<backend_context, double, 3> fresh(other, 1e-5);
    fresh.set_points(points_of(points), points_of(targets));
    EXPECT_EQ(plan.mesh(), fresh.mesh());
    const auto found = found_by(context, plan, values, {}), wanted = found_by(other, fresh, values, {});
    EXPECT_EQ(std::memcmp(found.data(), wanted.data(), found.size() * sizeof(found[0])), 0) << size;
  }
}

TEST_F(nufft_target_test, transforms_points_that_are_set_asynchronously) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none), usual;
  const target_case<double, 2> first(1e-6, 300, 1, 2, 200, 20, 3);
  nufft_target_plan<backend_context, double, 2> plan(context, 1e-6);
  const auto points = to_device(usual, first.points), targets = to_device(usual, first.targets);
  EXPECT_THROW(plan.set_points_async(points_of(points), points_of(targets)), argument_error);
  plan.check();
  plan.set_points(points_of(points), points_of(targets));
  for (const std::size_t count : {300u, 7u, 0u, 200u}) {
    const target_case<double, 2> it(1e-6, count, 0.9, 2, count / 2, 18, 3);
    const auto moved = to_device(usual, it.points), wanted_at = to_device(usual, it.targets);
    const std::size_t before = memory.allocations();
    plan.set_points_async(points_of(moved), points_of(wanted_at));
    plan.check();
    EXPECT_EQ(memory.allocations(), before);
    EXPECT_EQ(plan.point_count(), count);
    EXPECT_EQ(plan.target_count(), count / 2);
    const auto values = drawn_values<double>(count);
    const auto found = found_by(context, plan, values, {}), wanted = direct(it, values, 1);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      ASSERT_LE(std::abs(found[k] - wanted[k]), 1e-6 * static_cast<double>(2 * count));
    }
  }
}

TEST_F(nufft_target_test, points_and_targets_beyond_the_extents_are_reported_by_check) {
  const backend_context context;
  const target_case<double, 1> first(1e-6, 50, 1, 2, 40, 20, 3);
  nufft_target_plan<backend_context, double, 1> plan(context, 1e-6);
  const auto points = to_device(context, first.points), targets = to_device(context, first.targets);
  plan.set_points(points_of(points), points_of(targets));
  const auto with = [&](std::vector<vec<double, 1>> all, std::size_t i, double x) {
    all[i][0] = x;
    return to_device(context, all);
  };
  std::complex<double>* const nothing = nullptr;
  const auto refuse = [&](const auto& from, const auto& to, const std::vector<std::string>& words) {
    for (int round = 0; round < 2; ++round) {
      const std::string text = round == 0
                                   ? late_error(plan, [&] { plan.set_points_async(points_of(from), points_of(to)); })
                                   : error_of<data_error>([&] { plan.check(); });
      for (const auto& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
      expect_words(error_of<argument_error>([&] { plan.type_3(nothing, nothing); }), {"no points are set"});
    }
  };
  refuse(with(first.points, 7, 9.0), targets, {"point 7 "});
  refuse(with(first.points, 8, std::nan("")), targets, {"point 8 ", "not finite"});
  refuse(points, with(first.targets, 9, 24.0), {"targets", "point 9 "});
  refuse(points, with(first.targets, 3, -200.0), {"targets", "point 3 "});
  plan.set_points_async(points_of(points), points_of(targets));
  plan.check();
  EXPECT_EQ(plan.target_count(), 40u);
  const target_case<double, 1> more(1e-6, 51, 1, 2, 40, 20, 3);
  const auto too_many = to_device(context, more.points);
  expect_words(error_of<argument_error>([&] { plan.set_points_async(points_of(too_many), points_of(targets)); }),
               {"51 points", "had 50"});
}

TEST_F(nufft_target_test, gives_the_same_bits_in_every_run_where_the_context_asks_for_it) {
  const target_case<double, 3> it(1e-5, 2000, 2, 0, 1000, 5, 0);
  std::vector<std::complex<double>> first;
  for (const int threads : {1, 2, 5, 2}) {
    const backend_context context = context_at(determinism::run_to_run, threads);
    nufft_target_plan<backend_context, double, 3> plan(context, it.tolerance);
    const auto points = to_device(context, it.points), targets = to_device(context, it.targets);
    plan.set_points(points_of(points), points_of(targets));
    const auto found = found_by(context, plan, drawn_values<double>(2000), {});
    if (first.empty()) first = found;
    EXPECT_EQ(std::memcmp(found.data(), first.data(), found.size() * sizeof(found[0])), 0) << threads;
  }
}

TEST_F(nufft_target_test, says_what_is_impossible) {
  const backend_context context;
  const auto error = [&](double tolerance) {
    return error_of<argument_error>([&] { (void)nufft_target_plan<backend_context, float, 3>(context, tolerance); });
  };
  const std::string text = error(1e-9);
  expect_words(text, {"1e-09", "type 3", "single precision", " can"});
  EXPECT_EQ(error(std::stod(text.substr(text.find("; ") + 2))), "no error") << text;
  expect_words(error(-1), {"tolerance is -1"});
  nufft_target_plan<backend_context, double, 1> plan(context, 1e-3);
  std::complex<double>* const nothing = nullptr;
  expect_words(error_of<argument_error>([&] { plan.type_3(nothing, nothing); }), {"no points are set"});
  const auto near = to_device(context, std::vector<vec<double, 1>>{{-1}, {1}});
  const auto far = to_device(context, std::vector<vec<double, 1>>{{-1e9}, {1e9}});
  const auto broken = to_device(context, std::vector<vec<double, 1>>{{0.5}, {std::nan("")}});
  expect_words(error_of<argument_error>([&] { plan.set_points(points_of(far), points_of(near)); }),
               {"axis 0", "need a mesh"});
  expect_words(error_of<data_error>([&] { plan.set_points(points_of(broken), points_of(near)); }), {"point 1 "});
  expect_words(error_of<data_error>([&] { plan.set_points(points_of(near), points_of(broken)); }),
               {"targets: point 1 "});
  expect_words(error_of<argument_error>([&] { plan.type_3(nothing, nothing); }), {"no points are set"});
}

}  // namespace

}  // namespace quadrat::test
