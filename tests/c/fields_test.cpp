// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <cstdint>
#include <vector>

#include "c/support.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "quadrat/spectral/nufft_target_plan.hpp"
#include "quadrat/spectral/power_spectrum.hpp"

namespace quadrat::testing {
namespace {

using complex = std::complex<double>;

[[nodiscard]] std::vector<complex> complex_values(std::size_t size, unsigned seed) {
  const std::vector<double> parts = uniform<double>(2 * size, -1, 1, seed);
  std::vector<complex> result(size);
  for (std::size_t k = 0; k < size; ++k) result[k] = {parts[2 * k], parts[2 * k + 1]};
  return result;
}
void expect_close_complex(const std::vector<complex>& found, const std::vector<complex>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_LT(std::abs(found[k] - expected[k]), tolerance) << k;
}

QUADRAT_ON_DEVICES(c_spread_plan);

TEST_P(c_spread_plan, spreads_and_interpolates_as_the_class_in_cpp) {
  auto options = sized<quadrat_spread_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 3;
  options.domain = {{0, 0, 0}, {1, 2, 3}, {1, 1, 1}};
  options.mesh[0] = 8;
  options.mesh[1] = 10;
  options.mesh[2] = 12;
  options.order = 4;
  quadrat_spread_plan* plan = nullptr;
  QUADRAT_ASSERT_OK(quadrat_spread_plan_create(context_, &options, &plan));
  constexpr std::size_t mesh_size = 8 * 10 * 12;
  const std::vector<double> places = uniform<double>(3 * count, 0, 1), values = uniform<double>(2 * count, -1, 1, 2);
  const quadrat_points points{on_device(places), count, 0, 0};
  QUADRAT_ASSERT_OK(quadrat_spread_plan_set_points(plan, &points));

  const auto box = make_box<double, 3>({0, 0, 0}, {1, 2, 3}, {true, true, true});
  spread_plan<cpu_context, double, 3> expected(cpu_context{}, box, {8, 10, 12}, 4);
  expected.set_points(strided_points<3>(places.data(), count));
  std::vector<double> mesh(2 * mesh_size), read(2 * count), slopes(3 * count);
  expected.spread(values.data(), mesh.data(), mesh_call{2, false});
  expected.interpolate(mesh.data(), read.data(), mesh_call{2, false});
  expected.interpolate_gradient(mesh.data(), slopes.data());

  auto call = sized<quadrat_mesh_call>();
  call.vectors = 2;
  auto* const on_mesh = room<double>(2 * mesh_size);
  auto* const at_points = room<double>(3 * count);
  QUADRAT_ASSERT_OK(quadrat_spread_plan_spread(plan, on_device(values), on_mesh, &call));
  expect_close(on_host<double>(on_mesh, 2 * mesh_size), mesh, 1e-12);
  QUADRAT_ASSERT_OK(quadrat_spread_plan_interpolate(plan, on_mesh, at_points, &call));
  expect_close(on_host<double>(at_points, 2 * count), read, 1e-12);
  QUADRAT_ASSERT_OK(quadrat_spread_plan_interpolate_gradient(plan, on_mesh, at_points, nullptr));
  expect_close(on_host<double>(at_points, 3 * count), slopes, 1e-11);

  // The twins, and complex values: the two real ones in one call, added to what is there.
  std::vector<complex> pairs(count);
  for (std::size_t i = 0; i < count; ++i) pairs[i] = {values[i], values[count + i]};
  call.vectors = 0;
  call.complex_values = 1;
  auto* const complex_mesh = room<complex>(mesh_size);
  const complex* const given = on_device(pairs);
  QUADRAT_ASSERT_OK(quadrat_spread_plan_set_points_async(plan, &points));
  QUADRAT_ASSERT_OK(quadrat_spread_plan_spread_async(plan, given, complex_mesh, &call));
  call.accumulate = 1;
  QUADRAT_ASSERT_OK(quadrat_spread_plan_spread_async(plan, given, complex_mesh, &call));
  QUADRAT_ASSERT_OK(quadrat_spread_plan_check(plan));
  const std::vector<complex> found = on_host<complex>(complex_mesh, mesh_size);
  for (std::size_t k = 0; k < mesh_size; ++k) {
    EXPECT_LT(std::abs(found[k] - 2.0 * complex(mesh[k], mesh[mesh_size + k])), 1e-12);
  }
  call.accumulate = 0;
  auto* const complex_read = room<complex>(3 * count);
  QUADRAT_ASSERT_OK(quadrat_spread_plan_interpolate_async(plan, complex_mesh, complex_read, &call));
  QUADRAT_ASSERT_OK(quadrat_spread_plan_check(plan));
  EXPECT_LT(std::abs(on_host<complex>(complex_read, 1)[0] - 2.0 * complex(read[0], read[count])), 1e-12);
  QUADRAT_ASSERT_OK(quadrat_spread_plan_interpolate_gradient_async(plan, complex_mesh, complex_read, &call));
  QUADRAT_ASSERT_OK(quadrat_spread_plan_check(plan));
  EXPECT_NEAR(on_host<complex>(complex_read, 1)[0].real(), 2 * slopes[0], 1e-11);
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_spread_plan_info(plan, &info));
  EXPECT_NE(std::string(info.method), "");
  quadrat_spread_plan_destroy(plan);
}

TEST_P(c_spread_plan, names_the_point_whose_footprint_is_refused) {
  auto options = sized<quadrat_spread_options>();
  options.type = QUADRAT_FLOAT32;
  options.dimension = 1;
  options.domain.length[0] = 1;
  options.mesh[0] = 16;
  options.order = 3;
  quadrat_spread_plan* plan = nullptr;
  QUADRAT_ASSERT_OK(quadrat_spread_plan_create(context_, &options, &plan));
  const quadrat_points points{on_device(std::vector<float>{0.5f, 0.4f, 0.999f}), 3, 0, 0};
  expect_error(quadrat_spread_plan_set_points(plan, &points), QUADRAT_DATA_ERROR, "2");
  EXPECT_EQ(quadrat_error_number(), 2);
  quadrat_spread_plan_destroy(plan);
  options.clip = 1;
  QUADRAT_ASSERT_OK(quadrat_spread_plan_create(context_, &options, &plan));
  QUADRAT_EXPECT_OK(quadrat_spread_plan_set_points(plan, &points));
  quadrat_spread_plan_destroy(plan);
}

QUADRAT_ON_DEVICES(c_power_spectrum);

TEST_P(c_power_spectrum, measures_what_the_class_in_cpp_measures) {
  auto options = sized<quadrat_spectrum_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 3;
  options.domain = {{0, 0, 0}, {1, 2, 3}, {1, 1, 1}};
  options.mesh[0] = 8;
  options.mesh[1] = 10;
  options.mesh[2] = 12;
  options.line_of_sight = 2;
  const int degrees[] = {0, 4};
  options.multipoles = degrees;
  options.multipole_count = 2;
  const std::vector<double> edges{1, 5, 9, 12};
  options.edges = edges.data();
  options.edge_count = edges.size();
  quadrat_power_spectrum* spectrum = nullptr;
  QUADRAT_ASSERT_OK(quadrat_power_spectrum_create(context_, &options, &spectrum));
  auto view = sized<quadrat_spectrum_view>();
  expect_error(quadrat_power_spectrum_view(spectrum, &view), QUADRAT_ARGUMENT_ERROR, "there is no spectrum");
  const std::vector<double> places = uniform<double>(3 * count, 0, 1), weights = uniform<double>(count, 1, 2, 2),
                            others = uniform<double>(3 * count, 0, 1, 3);
  const quadrat_points points{on_device(places), count, 0, 0}, more{on_device(others), count, 0, 0};
  power_spectrum<cpu_context, double, 3> expected(
      cpu_context{}, make_box<double, 3>({0, 0, 0}, {1, 2, 3}, {true, true, true}), {8, 10, 12},
      {.multipoles = {0, 4}, .line_of_sight = 2, .edges = edges});
  const auto compare = [&](const power_spectrum_result& found) {
    QUADRAT_ASSERT_OK(quadrat_power_spectrum_view(spectrum, &view));
    ASSERT_EQ(view.bins, 3u);
    ASSERT_EQ(view.multipoles, 2u);
    EXPECT_EQ(std::vector(view.edges, view.edges + 4), edges);
    EXPECT_EQ(std::vector(view.modes, view.modes + 3), found.modes);
    expect_close(std::vector(view.k, view.k + 3), found.k, 1e-12);
    expect_close(std::vector(view.power, view.power + 6), found.power, 1e-11);
    EXPECT_NEAR(view.shot_noise, found.shot_noise, 1e-12);
  };
  QUADRAT_ASSERT_OK(quadrat_power_spectrum_measure(spectrum, &points, on_device(weights)));
  compare(expected.measure(strided_points<3>(places.data(), count), weights.data()));
  QUADRAT_ASSERT_OK(quadrat_power_spectrum_measure_cross(spectrum, &points, on_device(weights), &more, nullptr));
  compare(expected.measure_cross(strided_points<3>(places.data(), count), weights.data(),
                                 strided_points<3>(others.data(), count), nullptr));
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_power_spectrum_info(spectrum, &info));
  EXPECT_GT(info.bytes, 0u);
  quadrat_power_spectrum_destroy(spectrum);
}

QUADRAT_ON_DEVICES(c_nufft_plan);

TEST_P(c_nufft_plan, transforms_as_the_class_in_cpp) {
  auto options = sized<quadrat_nufft_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 2;
  options.modes[0] = 10;
  options.modes[1] = 7;
  options.tolerance = 1e-9;
  options.period[1] = 3;
  options.systems = 2;
  quadrat_nufft_plan* plan = nullptr;
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_create(context_, &options, &plan));
  const std::vector<double> places = uniform<double>(2 * count, -3, 3);
  const std::vector<complex> values = complex_values(2 * count, 4);
  std::vector<std::uint32_t> systems(count);
  for (std::size_t i = 0; i < count; ++i) systems[i] = i % 5 == 0 ? 1u : 0u;
  const quadrat_points points{on_device(places), count, 0, 0};
  const quadrat_integers numbers{on_device(systems), count, QUADRAT_UINT32};
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_set_points(plan, &points, &numbers));

  nufft_options same;
  same.period = {0, 3, 0};
  same.systems = 2;
  nufft_plan<cpu_context, double, 2> expected(cpu_context{}, {10, 7}, 1e-9, same);
  expected.set_points(strided_points<2>(places.data(), count), systems.data());
  std::vector<complex> modes(2 * 2 * 70), read(2 * count);
  expected.type_1(values.data(), modes.data(), nufft_call{2, 0});
  expected.type_2(modes.data(), read.data(), nufft_call{2, 0});

  auto call = sized<quadrat_nufft_call>();
  call.vectors = 2;
  auto* const in_modes = room<complex>(modes.size());
  auto* const at_points = room<complex>(read.size());
  const complex* const given = on_device(values);
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_type_1(plan, given, in_modes, &call));
  expect_close_complex(on_host<complex>(in_modes, modes.size()), modes, 1e-6);
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_type_2(plan, in_modes, at_points, &call));
  expect_close_complex(on_host<complex>(at_points, read.size()), read, 1e-4);
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_set_points_async(plan, &points, &numbers));
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_type_1_async(plan, given, in_modes, &call));
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_type_2_async(plan, in_modes, at_points, &call));
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_check(plan));
  expect_close_complex(on_host<complex>(at_points, read.size()), read, 1e-4);
  double bound = 0;
  QUADRAT_EXPECT_OK(quadrat_nufft_plan_error_bound(plan, &bound));
  EXPECT_GT(bound, 0);
  EXPECT_LE(bound, 1e-9);
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_nufft_plan_info(plan, &info));
  quadrat_nufft_plan_destroy(plan);
}

TEST_P(c_nufft_plan, transforms_real_values) {
  auto options = sized<quadrat_nufft_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 1;
  options.modes[0] = 8;
  options.tolerance = 1e-10;
  options.real = 1;
  quadrat_nufft_plan* plan = nullptr;
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_create(context_, &options, &plan));
  const std::vector<double> places{0.3, 1.7}, values{2.0, -1.0};
  const quadrat_points points{on_device(places), 2, 0, 0};
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_set_points(plan, &points, nullptr));
  auto* const in_modes = room<complex>(5);
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_type_1(plan, on_device(values), in_modes, nullptr));
  std::vector<complex> expected(5);
  for (int k = 0; k < 5; ++k) {
    for (std::size_t j = 0; j < 2; ++j)
      expected[static_cast<std::size_t>(k)] += values[j] * std::polar(1.0, k * places[j]);
  }
  expect_close_complex(on_host<complex>(in_modes, 5), expected, 1e-8);
  quadrat_nufft_plan_destroy(plan);
}

QUADRAT_ON_DEVICES(c_normal_operator);

TEST_P(c_normal_operator, is_type_2_then_density_weights_then_type_1) {
  auto options = sized<quadrat_nufft_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 2;
  options.modes[0] = 10;
  options.modes[1] = 7;
  options.tolerance = 1e-9;
  quadrat_nufft_plan* plan = nullptr;
  quadrat_normal_operator* normal = nullptr;
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_create(context_, &options, &plan));
  QUADRAT_ASSERT_OK(quadrat_normal_operator_create(context_, &options, &normal));
  const std::vector<double> places = uniform<double>(2 * count, -3, 3);
  const quadrat_points points{on_device(places), count, 0, 0};
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_set_points(plan, &points, nullptr));
  auto* const at_points = room<double>(count);
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_density_weights(plan, at_points, 0, 0));
  const std::vector<double> weights = on_host<double>(at_points, count);
  nufft_plan<cpu_context, double, 2> expected(cpu_context{}, {10, 7}, 1e-9);
  expected.set_points(strided_points<2>(places.data(), count));
  std::vector<double> wanted_weights(count);
  static_cast<void>(expected.density_weights(wanted_weights.data()));
  expect_close(weights, wanted_weights, 1e-6);

  const std::vector<complex> modes = complex_values(2 * 70, 4);
  std::vector<complex> values(2 * count), wanted(2 * 70);
  expected.type_2(modes.data(), values.data(), nufft_call{2, 0});
  for (std::size_t k = 0; k < values.size(); ++k) values[k] *= weights[k % count];
  expected.type_1(values.data(), wanted.data(), nufft_call{2, 0});
  auto call = sized<quadrat_nufft_call>();
  call.vectors = 2;
  auto* const result = room<complex>(wanted.size());
  expect_error(quadrat_normal_operator_apply(normal, on_device(modes), result, &call), QUADRAT_ARGUMENT_ERROR,
               "points");
  QUADRAT_ASSERT_OK(quadrat_normal_operator_set_points(normal, &points, at_points));
  QUADRAT_ASSERT_OK(quadrat_normal_operator_apply(normal, on_device(modes), result, &call));
  expect_close_complex(on_host<complex>(result, wanted.size()), wanted, 1e-6);
  double bound = 0;
  QUADRAT_EXPECT_OK(quadrat_normal_operator_error_bound(normal, &bound));
  EXPECT_GT(bound, 0);
  quadrat_normal_operator_destroy(normal);
  quadrat_nufft_plan_destroy(plan);
}

QUADRAT_ON_DEVICES(c_nufft_target_plan);

TEST_P(c_nufft_target_plan, transforms_as_the_sum_says) {
  auto options = sized<quadrat_nufft_target_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 2;
  options.tolerance = 1e-9;
  quadrat_nufft_target_plan* plan = nullptr;
  QUADRAT_ASSERT_OK(quadrat_nufft_target_plan_create(context_, &options, &plan));
  constexpr std::size_t targets = 40;
  const std::vector<double> places = uniform<double>(2 * count, -2, 2), at = uniform<double>(2 * targets, -9, 9, 5);
  const std::vector<complex> values = complex_values(count, 6);
  std::vector<complex> expected(targets);
  for (std::size_t k = 0; k < targets; ++k) {
    for (std::size_t j = 0; j < count; ++j) {
      expected[k] += values[j] * std::polar(1.0, at[2 * k] * places[2 * j] + at[2 * k + 1] * places[2 * j + 1]);
    }
  }
  const quadrat_points points{on_device(places), count, 0, 0}, frequencies{on_device(at), targets, 0, 0};
  QUADRAT_ASSERT_OK(quadrat_nufft_target_plan_set_points(plan, &points, &frequencies));
  auto* const results = room<complex>(targets);
  const complex* const given = on_device(values);
  QUADRAT_ASSERT_OK(quadrat_nufft_target_plan_type_3(plan, given, results, nullptr));
  expect_close_complex(on_host<complex>(results, targets), expected, 1e-6);
  QUADRAT_ASSERT_OK(quadrat_nufft_target_plan_set_points_async(plan, &points, &frequencies));
  QUADRAT_ASSERT_OK(quadrat_nufft_target_plan_type_3_async(plan, given, results, nullptr));
  QUADRAT_ASSERT_OK(quadrat_nufft_target_plan_check(plan));
  expect_close_complex(on_host<complex>(results, targets), expected, 1e-6);
  double bound = 0;
  QUADRAT_EXPECT_OK(quadrat_nufft_target_plan_error_bound(plan, &bound));
  EXPECT_GT(bound, 0);
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_nufft_target_plan_info(plan, &info));
  quadrat_nufft_target_plan_destroy(plan);
}

}  // namespace
}  // namespace quadrat::testing
