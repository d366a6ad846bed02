// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "hydro/mobility_case.hpp"
#include "quadrat/core/error.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

namespace quadrat::test {

namespace {

class mobility_test : public backend_test {};

const vec<double, 3> unit_force{1, 0, 0};

[[nodiscard]] mobility_options by(const std::string& method, double accuracy) {
  mobility_options options;
  options.method = method;
  options.accuracy = accuracy;
  return options;
}

[[nodiscard]] double edge_for(std::size_t count, double volume_fraction) {
  return std::cbrt(static_cast<double>(count) * 4 * std::numbers::pi / 3 / volume_fraction);
}

TEST_F(mobility_test, one_sphere_in_a_cube_has_its_known_mobility) {
  for (const double edge : {4.0, 6.0, 10.0, 30.0}) {
    for (const double accuracy : {1e-3, 1e-6, 1e-9}) {
      for (const char* method : {"split", "direct", "krylov"}) {
        mobility_case of{{2 * edge, 2 * edge, 2 * edge}, {{0.3, -7, 0.1}}, {unit_force}, 2, 0.7};
        mobility_subject<double> it(of, by(method, accuracy));
        const auto found = it.product(of.forces)[0];
        EXPECT_NEAR(found[0] / of.unit(), reference::self_mobility_in_cube(1, edge), accuracy) << edge << " " << method;
        EXPECT_LT(std::fabs(found[1]) + std::fabs(found[2]), accuracy * of.unit());
      }
    }
    mobility_case of{{edge, edge, edge}, {{1, 2, 3}}, {unit_force}};
    mobility_subject<float> it(of, by("split", 1e-5));
    EXPECT_NEAR(it.product(of.forces)[0][0] / of.unit(), reference::self_mobility_in_cube(1, edge), 1e-5) << edge;
  }
}

TEST_F(mobility_test, pairs_near_touching_overlapping_and_across_faces_agree_with_a_direct_sum) {
  const vec<double, 3> direction{0.36, -0.48, 0.8};
  for (const double r : {0.0, 1e-3, 1.0, 1.9999, 2.0, 2.0001, 3.0, 4.9, 7.0}) {
    for (const char* method : {"split", "direct"}) {
      mobility_case of{{10, 9, 11}, {}, {{0.3, -1, 0.4}, {1, 0.2, -0.7}}};
      of.points = {{9.9, 0.2, 5}, vec<double, 3>{9.9, 0.2, 5} + r * direction};
      mobility_subject<double> it(of, by(method, 1e-9));
      const auto found = it.product(of.forces), expected = of.expected();
      for (std::size_t i = 0; i < 2; ++i)
        EXPECT_LT(norm(found[i] - expected[i]), 1e-8 * of.unit()) << r << " " << method;
    }
  }
}

TEST_F(mobility_test, random_spheres_agree_with_a_direct_sum_within_the_accuracy) {
  for (const vec<double, 3>& shape : {vec<double, 3>{1, 1, 1}, vec<double, 3>{2.5, 1.2, 0.33}}) {
    for (const double fraction : {0.02, 0.4}) {
      for (const std::size_t count : {3, 50}) {
        const mobility_case of = random_spheres(count, edge_for(count, fraction) * shape, 7 + count);
        const auto expected = of.expected();
        const double unit = of.unit() * rms_of(of.forces);
        for (const char* method : {"split", "direct", "krylov"}) {
          for (const double accuracy : {1e-2, 1e-4, 1e-7}) {
            mobility_subject<double> it(of, by(method, accuracy));
            EXPECT_LE(it.report().error, accuracy) << method;
            EXPECT_LT(rms_difference(it.product(of.forces), expected), accuracy * unit) << method << " " << accuracy;
          }
        }
        for (const double accuracy : {1e-3, 1e-5}) {
          mobility_subject<float> it(of, by("", accuracy));
          EXPECT_LT(rms_difference(it.product(of.forces), expected), accuracy * unit) << "float " << accuracy;
        }
      }
    }
  }
}

TEST_F(mobility_test, results_do_not_depend_on_the_splitting) {
  const mobility_case of = random_spheres(60, vec<double, 3>::filled(edge_for(60, 0.2)), 3);
  const auto expected = of.expected();
  for (const double splitting : {0.25, 0.4, 0.7, 1.1}) {
    mobility_options options = by("split", 1e-9);
    options.parameters.splitting = splitting;
    mobility_subject<double> it(of, options);
    EXPECT_EQ(it.report().parameters.splitting, splitting);
    EXPECT_LT(rms_difference(it.product(of.forces), expected), 1e-9 * of.unit()) << splitting;
  }
}

/// The matrix, column by column.
template <typename T>
[[nodiscard]] std::vector<double> dense_matrix(mobility_subject<T>& it, std::size_t count) {
  const std::size_t width = 3 * count;
  std::vector<double> matrix(width * width);
  for (std::size_t column = 0; column < width; ++column) {
    std::vector<vec<double, 3>> forces(count);
    forces[column / 3][static_cast<int>(column % 3)] = 1;
    const auto found = it.product(forces);
    for (std::size_t row = 0; row < width; ++row)
      matrix[row * width + column] = found[row / 3][static_cast<int>(row % 3)];
  }
  return matrix;
}

TEST_F(mobility_test, the_matrix_of_overlapping_spheres_is_symmetric_and_positive) {
  constexpr std::size_t count = 25;
  mobility_case of = random_spheres(count, {7, 5, 6}, 11);
  of.points[4] = of.points[3];
  for (const char* method : {"split", "direct"}) {
    mobility_subject<double> it(of, by(method, 1e-7));
    auto matrix = dense_matrix(it, count);
    for (std::size_t i = 0; i < 3 * count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_NEAR(matrix[i * 3 * count + j], matrix[j * 3 * count + i], 1e-14) << method;
      }
      matrix[i * 3 * count + i] += 1e-6 * of.unit();  // spheres in one place have an eigenvalue of 0
    }
    EXPECT_NO_THROW((void)reference::cholesky_factor(matrix, 3 * count)) << method;
  }
}

/// Mean squares of the entries of the samples' covariance, each minus that of the matrix, in standard deviations.
struct covariance_misfit {
  double mean_square = 0;
  double largest = 0;
};

template <typename T>
[[nodiscard]] covariance_misfit misfit_of(const mobility_case& of, const mobility_options& options,
                                          std::size_t samples) {
  const std::size_t width = 3 * of.points.size();
  mobility_subject<T> it(of, options);
  std::vector<double> sums(width * width);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const auto found = it.noise({5, sample, 1.5});
    for (std::size_t i = 0; i < width; ++i) {
      const double x = found[i / 3][static_cast<int>(i % 3)] / 1.5;
      for (std::size_t j = 0; j < width; ++j) sums[i * width + j] += x * found[j / 3][static_cast<int>(j % 3)] / 1.5;
    }
  }
  const auto matrix = reference::mobility_matrix(of.system());
  covariance_misfit result;
  const auto n = static_cast<double>(samples);
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double expected = matrix[i * width + j];
      const double deviation = std::sqrt((matrix[i * width + i] * matrix[j * width + j] + expected * expected) / n);
      const double apart = (sums[i * width + j] / n - expected) / deviation;
      result.mean_square += apart * apart * 2 / static_cast<double>(width * (width + 1));
      result.largest = std::max(result.largest, std::fabs(apart));
    }
  }
  return result;
}

TEST_F(mobility_test, the_covariance_of_noise_is_the_mobility) {
  mobility_case of = random_spheres(4, {6, 5, 7}, 2);
  of.points[1] = of.points[0] + vec<double, 3>{0.3, 0.9, -0.2};
  of.radius = 0.9;
  for (const auto& [method, samples] :
       {std::pair{"split", 12'000}, std::pair{"direct", 4'000}, std::pair{"krylov", 3'000}}) {
    const char* const wanted = std::getenv("QUADRAT_MOBILITY_SAMPLES");
    const std::size_t usual = size_or(static_cast<std::size_t>(samples), 100);
    const auto misfit = misfit_of<double>(of, by(method, 1e-3), wanted == nullptr ? usual : std::stoull(wanted));
    if (wanted != nullptr) std::printf("%s: %s samples, largest %.2f deviations\n", method, wanted, misfit.largest);
    EXPECT_LT(misfit.largest, 4.8) << method;
    EXPECT_LT(misfit.mean_square, 1.8) << method;
    EXPECT_GT(misfit.mean_square, 0.4) << method;
  }
  // The wave part alone has most of the mobility here.
  mobility_options options = by("split", 1e-3);
  options.parameters.splitting = 1.3;
  const auto misfit = misfit_of<float>(of, options, size_or(8'000, 100));
  EXPECT_LT(misfit.largest, 4.8);
  EXPECT_LT(misfit.mean_square, 1.8);
}

TEST_F(mobility_test, noise_is_as_accurate_as_asked_for) {
  const std::size_t count = 300;
  const mobility_case of = random_spheres(count, vec<double, 3>::filled(edge_for(count, 0.25)), 4);
  for (const char* method : {"split", "krylov"}) {
    for (const double accuracy : {1e-2, 1e-3, 1e-5}) {
      mobility_subject<double> it(of, by(method, accuracy));
      const auto found = it.noise({1, 2, 3});
      EXPECT_GT(it.report().iterations, 2);
      EXPECT_LE(it.report().noise_error, accuracy);
      mobility_options options = by(method, 1e-9);
      options.parameters = it.report().parameters;
      mobility_subject<double> exact(of, options);
      const auto expected = exact.noise({1, 2, 3});
      EXPECT_LT(rms_difference(found, expected), 1.5 * accuracy * rms_of(expected)) << method << " " << accuracy;
    }
  }
}

TEST_F(mobility_test, velocities_are_the_product_and_the_noise_together) {
  const mobility_case of = random_spheres(100, vec<double, 3>::filled(edge_for(100, 0.1)), 5);
  for (const char* method : {"split", "direct", "krylov"}) {
    mobility_subject<double> it(of, by(method, 1e-4));
    const auto product = it.product(of.forces), noise = it.noise({8, 9, 0.2}), both = it.both(of.forces, {8, 9, 0.2});
    for (std::size_t i = 0; i < both.size(); ++i) EXPECT_LT(norm(both[i] - product[i] - noise[i]), 1e-11) << method;
    EXPECT_LT(rms_difference(it.both(of.forces, {8, 9, 0}), product), 1e-14) << method;
  }
}

TEST_F(mobility_test, velocities_may_overwrite_forces) {
  const mobility_case of = random_spheres(20, {9, 9, 9}, 6);
  mobility_subject<double> it(of, by("split", 1e-4));
  const backend_context context;
  auto values = to_device(context, of.forces);
  it.operation().multiply(values.data(), values.data());
  EXPECT_LT(rms_difference(to_host(context, values), it.product(of.forces)), 1e-14);
}

TEST_F(mobility_test, multiplies_without_waiting_and_without_memory) {
  const mobility_case of = random_spheres(100, vec<double, 3>::filled(edge_for(100, 0.1)), 5);
  for (const char* method : {"split", "direct", "krylov"}) {
    SCOPED_TRACE(method);
    counting_memory memory;
    const backend_context context = memory.context(determinism::none);
    mobility_subject<double> it(of, by(method, 1e-4), context);
    const auto wanted = it.product(of.forces);
    const auto forces = to_device(context, of.forces);
    array<vec<double, 3>, backend_context> velocities(context, of.forces.size());
    const std::size_t before = memory.allocations();
    it.operation().multiply_async(forces.data(), velocities.data());
    it.operation().check();
    EXPECT_EQ(memory.allocations(), before);
    EXPECT_LT(rms_difference(to_host(context, velocities), wanted), 1e-12);
#if QUADRAT_BACKEND_CUDA
    cuda_graph graph;
    graph.capture(context, [&] { it.operation().multiply_async(forces.data(), velocities.data()); });
    fill_bytes(context, velocities.data(), 0, velocities.bytes());
    graph.launch(context);
    EXPECT_LT(rms_difference(to_host(context, velocities), wanted), 1e-12);
#endif
  }
}

TEST_F(mobility_test, noise_depends_on_seed_and_step_alone) {
  const mobility_case of = random_spheres(200, vec<double, 3>::filled(edge_for(200, 0.1)), 8);
  for (const char* method : {"split", "krylov", "direct"}) {
    const auto context = context_at(determinism::run_to_run);
    mobility_subject<float> first(of, by(method, 1e-3), context), second(of, by(method, 1e-3), context);
    const auto expected = first.both(of.forces, {1, 1, 1});
    // Other calls, other points and other numbers of iterations in between.
    (void)second.noise({1, 77, 1});
    second.move(random_spheres(200, of.box, 9).points);
    (void)second.noise({3, 5, 1});
    (void)second.product(of.forces);
    second.move(of.points);
    EXPECT_EQ(second.both(of.forces, {1, 1, 1}), expected) << method;
    EXPECT_NE(second.both(of.forces, {1, 2, 1}), expected) << method;
    EXPECT_NE(second.both(of.forces, {2, 1, 1}), expected) << method;
  }
}

TEST_F(mobility_test, one_sphere_and_none_and_all_in_one_place) {
  for (const char* method : {"split", "direct", "krylov"}) {
    mobility_case none{{5, 5, 5}};
    mobility_subject<float> it(none, by(method, 1e-3));
    EXPECT_TRUE(it.both({}, {1, 1, 1}).empty());
    mobility_case one{{5, 5, 5}, {{1, 1, 1}}, {unit_force}};
    mobility_subject<double> single(one, by(method, 1e-3));
    const std::vector<vec<double, 3>> velocities = single.both(one.forces, {1, 1, 1});
    for (const double x : velocities[0].component) EXPECT_TRUE(std::isfinite(x));
    mobility_case all{
        {50, 60, 70}, std::vector<vec<double, 3>>(30, {49, 3, 1}), std::vector<vec<double, 3>>(30, unit_force)};
    mobility_subject<double> together(all, by(method, 1e-4));
    const auto product = together.product(all.forces), noise = together.noise({1, 1, 1});
    const auto expected = all.expected();
    for (std::size_t i = 0; i < 30; ++i) {
      EXPECT_LT(norm(product[i] - expected[i]), 30 * 1e-4 * all.unit());
      EXPECT_LT(norm(noise[i] - noise[0]), 0.02 * norm(noise[0])) << method;  // one body, nearly
    }
  }
}

TEST_F(mobility_test, flat_boxes_and_large_cutoffs_sum_over_images) {
  for (const vec<double, 3>& box :
       {vec<double, 3>{40, 30, 2.5}, vec<double, 3>{1.5, 1.5, 40}, vec<double, 3>{3, 3, 3}}) {
    const mobility_case of = random_spheres(20, box, 12);
    mobility_subject<double> it(of, by("split", 1e-6));
    EXPECT_LT(rms_difference(it.product(of.forces), of.expected()), 1e-6 * of.unit());
  }
  mobility_options options = by("split", 1e-6);
  options.parameters.cutoff = 25;
  const mobility_case of = random_spheres(30, {10, 11, 12}, 13);
  mobility_subject<double> it(of, options);
  EXPECT_EQ(it.report().parameters.cutoff, 25);
  EXPECT_LT(rms_difference(it.product(of.forces), of.expected()), 1e-6 * of.unit());
}

TEST_F(mobility_test, cost_follows_the_spheres_and_not_the_box) {
  const std::size_t count = 1000;
  mobility_case of = random_spheres(count, vec<double, 3>::filled(1e4), 14);
  mobility_case blob = of;
  for (auto& point : blob.points) point = vec<double, 3>{5, 5, 5} + 2e-3 * point;
  mobility_subject<float> it(of, by("", 1e-3)), fresh(blob, by("", 1e-3));
  EXPECT_LT(it.operation().bytes(), std::size_t{200} << 20);
  it.move(blob.points);
  EXPECT_LT(it.operation().bytes(), std::size_t{200} << 20);
  // Parameters are those for these points, not for those before.
  EXPECT_EQ(it.report().parameters.splitting, fresh.report().parameters.splitting);
  mobility_case few = blob;
  few.points.resize(20);
  few.forces.resize(20);
  mobility_subject<double> small(few, by("", 1e-5));
  EXPECT_LT(rms_difference(small.product(few.forces), few.expected()), 1e-5 * few.unit());
}

TEST_F(mobility_test, bad_points_are_named_and_the_next_ones_serve) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const mobility_case of = random_spheres(40, {9, 9, 9}, 15);
  mobility_subject<double> it(of, by("split", 1e-3));
  const auto before = it.product(of.forces);
  for (const double bad : {nan, inf, -inf, 1e12}) {
    auto points = of.points;
    points[17][1] = points[31][2] = bad;
    const std::string text = error_of<data_error>([&] { it.move(points); });
    expect_words(text, {"point 17", bad == 1e12 ? "periods away" : "not finite"});
    expect_words(error_of<argument_error>([&] { (void)it.product(of.forces); }), {"set_points"});
  }
  it.move(of.points);
  EXPECT_LT(rms_difference(it.product(of.forces), before), 1e-14);
}

TEST_F(mobility_test, impossible_options_are_refused) {
  const backend_context context;
  const auto refusal = [&](const mobility_options& options) {
    return error_of<argument_error>([&] { mobility<backend_context, float> it(context, {9, 9, 9}, options); });
  };
  expect_words(refusal(by("", 1e-8)), {"accuracy", "1e-08", "5e-06"});
  expect_words(refusal(by("", 0)), {"accuracy"});
  expect_words(refusal(by("", std::nan(""))), {"accuracy"});
  expect_words(refusal(by("spme", 1e-3)), {"spme", "split", "krylov", "direct"});
  mobility_options options;
  options.radius = 0;
  expect_words(refusal(options), {"radius", "positive"});
  options = {};
  options.viscosity = -1;
  expect_words(refusal(options), {"viscosity", "-1"});
  options = {};
  options.parameters.cutoff = std::numeric_limits<double>::infinity();
  expect_words(refusal(options), {"cutoff", "inf"});
  options = {};
  options.parameters.modes = {7, 8, 7};
  expect_words(refusal(options), {"modes", "axis 1", "8", "odd"});
  options = {};
  options.most_iterations = 0;
  expect_words(refusal(options), {"iterations", "0"});
}

TEST_F(mobility_test, calls_that_cannot_be_served_say_why) {
  const backend_context context;
  mobility<backend_context, double> it(context, {9, 9, 9});
  const std::vector<vec<double, 3>> points(3);
  const auto there = to_device(context, points);
  expect_words(error_of<argument_error>([&] { it.set_points(points_of(there)); }), {"prepare"});
  expect_words(error_of<argument_error>([&] { (void)it.report(); }), {"prepared"});
  const auto refusal = [&](const vec<double, 3>& box) {
    return error_of<argument_error>([&] { mobility<backend_context, double> without(context, box); });
  };
  expect_words(refusal({1, 0, 1}), {"axis 1", "0", "positive"});
  expect_words(refusal({1, 1, std::nan("")}), {"axis 2", "finite"});
  it.prepare(3);
  array<vec<double, 3>, backend_context> result(context, 3);
  expect_words(error_of<argument_error>([&] { it.square_root({}, result.data()); }), {"set_points"});
  expect_words(error_of<argument_error>([&] { it.set_points(points_of(there.data(), 2)); }), {"2", "3"});
  it.set_points(points_of(there));
  expect_words(error_of<argument_error>([&] { it.multiply(nullptr, result.data()); }), {"forces"});
  expect_words(error_of<argument_error>([&] { it.multiply_async(nullptr, result.data()); }), {"forces"});
  expect_words(error_of<argument_error>([&] { it.square_root({1, 1, std::nan("")}, result.data()); }), {"scale"});
  expect_words(error_of<argument_error>([&] {
                 mobility<backend_context, double> large(context, {3e3, 3e3, 3e3}, by("direct", 1e-3));
                 large.prepare(30'000'000);
               }),
               {"direct", "split"});
}

TEST_F(mobility_test, extreme_boxes_and_parameters_are_served_or_refused) {
  const backend_context context;
  const auto refusal = [&](const mobility_options& options, double edge) {
    return error_of<argument_error>([&] {
      mobility<backend_context, double> it(context, {edge, edge, edge}, options);
      it.prepare(5);
    });
  };
  expect_words(refusal({}, 1e-3), {"cutoff", "images", "0.001"});
  mobility_options options;
  options.parameters.cutoff = 1e9;
  expect_words(refusal(options, 10), {"cutoff", "1e+09", "images"});
  options = {};
  options.parameters.splitting = 1e-30;
  expect_words(refusal(options, 10), {"cutoff", "images"});
  options.parameters.splitting = 1e30;
  expect_words(refusal(options, 10), {"splitting"});
  options = {};
  options.parameters.modes = {2001, 2001, 2001};
  expect_words(refusal(options, 10), {"2001", "modes"});
  for (const double edge : {1.0, 1e6, 1e12, 1e30}) {
    const mobility_case of = random_spheres(3, {edge, edge, edge}, 19);
    mobility_subject<float> it(of, by("", 1e-3));
    for (const auto& velocity : it.both(of.forces, {1, 1, 1})) {
      for (const double x : velocity.component) EXPECT_TRUE(std::isfinite(x)) << edge;
    }
  }
}

TEST_F(mobility_test, more_memory_than_allowed_is_refused) {
  const mobility_case of = random_spheres(500, vec<double, 3>::filled(edge_for(500, 0.1)), 18);
  // Elsewhere the order of spheres decides how much rows of neighbors need.
  const auto context = context_at(determinism::run_to_run);
  mobility_subject<double> free(of, by("split", 1e-3), context);
  const std::size_t placed = free.operation().bytes();
  (void)free.noise({1, 1, 1});
  const std::size_t all = free.operation().bytes();
  mobility_options options = by("split", 1e-3);
  for (const std::size_t allowed : {std::size_t{1000}, placed - 1, all - 1}) {
    options.most_bytes = allowed;
    const std::string text = error_of<argument_error>([&] {
      mobility_subject<double> it(of, options, context);
      (void)it.noise({1, 1, 1});
    });
    expect_words(text, {std::to_string(allowed), "allow"});
  }
  options.most_bytes = all;
  mobility_subject<double> it(of, options, context);
  EXPECT_LT(rms_difference(it.noise({1, 1, 1}), free.noise({1, 1, 1})), 1e-11);
}

TEST_F(mobility_test, noise_that_does_not_converge_is_an_error) {
  const mobility_case of = random_spheres(200, vec<double, 3>::filled(edge_for(200, 0.3)), 16);
  mobility_options options = by("krylov", 1e-8);
  options.most_iterations = 6;
  mobility_subject<double> it(of, options);
  expect_words(error_of<data_error>([&] { (void)it.noise({1, 1, 1}); }), {"6 iterations", "1e-08"});
  EXPECT_LT(rms_difference(it.product(of.forces), of.expected()), 1e-7 * of.unit());
}

TEST_F(mobility_test, all_numbers_of_threads_and_streams_agree) {
  const mobility_case of = random_spheres(500, vec<double, 3>::filled(edge_for(500, 0.1)), 17);
  std::vector<vec<double, 3>> expected;
  for (const auto& context : all_contexts()) {
    mobility_subject<double> it(of, by("split", 1e-4), context);
    const auto found = it.both(of.forces, {1, 2, 3});
    if (expected.empty()) expected = found;
    EXPECT_LT(rms_difference(found, expected), 1e-13);
  }
}

}  // namespace

}  // namespace quadrat::test
