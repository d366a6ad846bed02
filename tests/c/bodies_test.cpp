// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "c/support.hpp"
#include "quadrat/contacts/contact_detector.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "quadrat/hydro/mobility.hpp"
#include "quadrat/keyed/key_reducer.hpp"

namespace quadrat::testing {
namespace {

QUADRAT_ON_DEVICES(c_contact_detector);

TEST_P(c_contact_detector, finds_what_the_class_in_cpp_finds) {
  auto options = sized<quadrat_contact_options>();
  options.type = QUADRAT_FLOAT64;
  options.sorted = 1;
  quadrat_contact_detector* detector = nullptr;
  QUADRAT_ASSERT_OK(quadrat_contact_detector_create(context_, &options, &detector));
  const std::vector<double> places = uniform<double>(3 * count, 0.1, 4),
                            sizes = uniform<double>(3 * count, 0.2, 0.4, 2);
  const std::vector<double> turns = uniform<double>(4 * count, 0.1, 1, 3), floor{0, 0, 1, 0.2};
  std::vector<std::int64_t> shapes(count);
  for (std::size_t i = 0; i < count; ++i) shapes[i] = static_cast<std::int64_t>(i % 4);
  auto bodies = sized<quadrat_bodies>();
  bodies.centers = {on_device(places), count, 0, 0};
  bodies.shapes = {on_device(shapes), count, QUADRAT_INT64};
  bodies.sizes = on_device(sizes);
  bodies.orientations = on_device(turns);
  bodies.planes = floor.data();
  bodies.plane_count = 1;
  QUADRAT_ASSERT_OK(quadrat_contact_detector_build(detector, &bodies));

  contact_options<double> same;
  same.sorted = true;
  contact_detector<cpu_context, double> expected(cpu_context{}, same);
  bodies_view<double> view;
  view.centers = strided_points<3>(places.data(), count);
  std::vector<body_shape> kinds(count);
  for (std::size_t i = 0; i < count; ++i) kinds[i] = static_cast<body_shape>(shapes[i]);
  view.shapes = kinds.data();
  view.sizes = reinterpret_cast<const vec<double, 3>*>(sizes.data());
  view.orientations = reinterpret_cast<const quaternion<double>*>(turns.data());
  const std::vector<plane<double>> planes{{{0, 0, 1}, 0.2}};
  view.planes = planes;
  expected.build(view);

  auto found = sized<quadrat_contact_view>();
  QUADRAT_ASSERT_OK(quadrat_contact_detector_view(detector, &found));
  const auto all = static_cast<std::size_t>(expected.size());
  ASSERT_EQ(found.count, all);
  ASSERT_GT(all, 20u);
  const auto records = on_host<quadrat_contact_float64>(found.records, all);
  auto* const depths = room<double>(all);
  auto* const firsts = room<std::int64_t>(3 * all);
  QUADRAT_EXPECT_OK(quadrat_contact_detector_write(detector, QUADRAT_CONTACT_DEPTH, QUADRAT_INT64, depths));
  QUADRAT_EXPECT_OK(quadrat_contact_detector_write(detector, QUADRAT_CONTACT_B, QUADRAT_INT64, firsts));
  const auto deep = on_host<double>(depths, all);
  const auto others = on_host<std::int64_t>(firsts, all);
  for (std::size_t k = 0; k < all; ++k) {
    const contact<double>& record = expected.view().records[k];
    EXPECT_EQ(records[k].a, record.a);
    EXPECT_EQ(records[k].b, record.b);
    EXPECT_EQ(records[k].feature, record.feature);
    EXPECT_NEAR(records[k].depth, record.depth, 1e-9);
    EXPECT_NEAR(records[k].normal[2], record.normal[2], 1e-6);
    EXPECT_EQ(deep[k], records[k].depth);
    EXPECT_EQ(others[k], static_cast<std::int64_t>(record.b));
  }
  QUADRAT_EXPECT_OK(quadrat_contact_detector_write(detector, QUADRAT_CONTACT_SHIFT, QUADRAT_INT32, firsts));
  EXPECT_EQ(on_host<std::int32_t>(firsts, 3 * all), std::vector<std::int32_t>(3 * all, 0));
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_contact_detector_info(detector, &info));
  EXPECT_NE(std::string(info.method), "");
  quadrat_contact_detector_destroy(detector);
}

TEST_P(c_contact_detector, builds_again_without_waiting) {
  auto options = sized<quadrat_contact_options>();
  options.type = QUADRAT_FLOAT32;
  const quadrat_domain domain{{0, 0, 0}, {4, 4, 4}, {1, 1, 1}};
  options.domain = &domain;
  quadrat_contact_detector* detector = nullptr;
  QUADRAT_ASSERT_OK(quadrat_contact_detector_create(context_, &options, &detector));
  auto bodies = sized<quadrat_bodies>();
  bodies.centers = {on_device(uniform<float>(3 * count, 0, 4)), count, 0, 0};
  bodies.radius = 0.3;
  QUADRAT_ASSERT_OK(quadrat_contact_detector_build(detector, &bodies));
  auto first = sized<quadrat_contact_view>(), second = first;
  QUADRAT_ASSERT_OK(quadrat_contact_detector_view(detector, &first));
  QUADRAT_ASSERT_OK(quadrat_contact_detector_build_async(detector, &bodies));
  QUADRAT_ASSERT_OK(quadrat_contact_detector_check(detector));
  QUADRAT_ASSERT_OK(quadrat_contact_detector_view(detector, &second));
  EXPECT_EQ(first.count, second.count);
  EXPECT_GT(first.count, 0u);
  quadrat_contact_detector_destroy(detector);
}

TEST_P(c_contact_detector, searches_systems_each_in_its_box) {
  auto options = sized<quadrat_contact_options>();
  options.type = QUADRAT_FLOAT64;
  options.sorted = 1;
  const quadrat_domain domains[] = {{{0, 0, 0}, {4, 4, 4}, {1, 1, 1}}, {{0, 0, 0}, {4, 4, 4}, {0, 0, 0}}};
  options.domain = domains;
  options.systems = 2;
  quadrat_contact_detector* detector = nullptr;
  QUADRAT_ASSERT_OK(quadrat_contact_detector_create(context_, &options, &detector));
  auto bodies = sized<quadrat_bodies>();
  // At the same two places in both systems: across a periodic face, and far apart.
  bodies.centers = {on_device(std::vector<double>{0.25, 1, 1, 3.75, 1, 1, 0.25, 1, 1, 3.75, 1, 1}), 4, 0, 0};
  bodies.radius = 0.5;
  bodies.system_of_body = {on_device(std::vector<std::uint32_t>{1, 0, 0, 1}), 4, QUADRAT_UINT32};
  QUADRAT_ASSERT_OK(quadrat_contact_detector_build(detector, &bodies));
  auto found = sized<quadrat_contact_view>();
  QUADRAT_ASSERT_OK(quadrat_contact_detector_view(detector, &found));
  ASSERT_EQ(found.count, 1u);
  const auto record = on_host<quadrat_contact_float64>(found.records, 1)[0];
  EXPECT_EQ(record.a, 1u);
  EXPECT_EQ(record.b, 2u);
  EXPECT_EQ(record.shift[0], 1);
  bodies.system_of_body.data = nullptr;
  EXPECT_EQ(quadrat_contact_detector_build(detector, &bodies), QUADRAT_ARGUMENT_ERROR);
  quadrat_contact_detector_destroy(detector);
}

QUADRAT_ON_DEVICES(c_electrostatics);

/// Rock salt: its energy by pair of ions is minus Madelung's constant over the distance of neighbors.
TEST_P(c_electrostatics, has_the_energy_of_rock_salt_and_the_results_of_the_class_in_cpp) {
  std::vector<double> places, charges;
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 4; ++y) {
      for (int z = 0; z < 4; ++z) {
        for (const int k : {x, y, z}) places.push_back(k);
        charges.push_back((x + y + z) % 2 == 0 ? 1.0 : -1.0);
      }
    }
  }
  const std::size_t ions = charges.size();
  places[0] += 0.1;  // one is out of place, so that there are forces
  auto options = sized<quadrat_ewald_options>();
  options.type = QUADRAT_FLOAT64;
  options.accuracy = 1e-7;
  quadrat_electrostatics* sums = nullptr;
  QUADRAT_ASSERT_OK(quadrat_electrostatics_create(context_, &options, &sums));
  const double cell[9] = {4, 0, 0, 0, 4, 0, 0, 0, 4};
  auto input = sized<quadrat_ewald_input>();
  input.points = {on_device(places), ions, 0, 0};
  input.charges = on_device(charges);
  input.cells.vectors = cell;
  auto output = sized<quadrat_ewald_output>();
  output.forces = room<double>(3 * ions);
  output.potentials = room<double>(ions);
  output.energies = room<double>(ions);
  output.energy = room<double>(1);
  output.virial = room<double>(9);
  QUADRAT_ASSERT_OK(quadrat_electrostatics_compute(sums, &input, &output));

  electrostatics_options same;
  same.accuracy = 1e-7;
  electrostatics<cpu_context, double> expected(cpu_context{}, same);
  const std::vector<lattice<double, 3>> cells{
      make_lattice(make_box<double, 3>({0, 0, 0}, {4, 4, 4}, {true, true, true}))};
  electrostatics_input<double> given;
  given.points = strided_points<3>(places.data(), ions);
  given.charges = charges.data();
  given.cells = cells;
  std::vector<double> forces(3 * ions), energies(ions), virial(9);
  double energy = 0;
  electrostatics_output<double> wanted;
  wanted.forces = reinterpret_cast<vec<double, 3>*>(forces.data());
  wanted.energies = energies.data();
  wanted.energy = &energy;
  wanted.virial = virial.data();
  expected.compute(given, wanted);
  expect_close(on_host<double>(output.forces, 3 * ions), forces, 1e-6);
  expect_close(on_host<double>(output.energies, ions), energies, 1e-6);
  expect_close(on_host<double>(output.virial, 9), virial, 1e-4);
  EXPECT_NEAR(on_host<double>(output.energy, 1)[0], energy, 1e-5);
  const std::vector<double> potentials = on_host<double>(output.potentials, ions);
  EXPECT_NEAR(0.5 * std::inner_product(charges.begin(), charges.end(), potentials.begin(), 0.0), energy, 1e-5);
  EXPECT_NEAR(energy / 32, -1.7475646, 0.02);

  QUADRAT_ASSERT_OK(quadrat_electrostatics_compute_async(sums, &input, &output));
  QUADRAT_ASSERT_OK(quadrat_electrostatics_check(sums));
  expect_close(on_host<double>(output.forces, 3 * ions), forces, 1e-6);
  auto report = sized<quadrat_ewald_report>();
  QUADRAT_EXPECT_OK(quadrat_electrostatics_report(sums, &report));
  EXPECT_GT(report.cutoff, 0);
  EXPECT_LE(report.error, 1e-7);
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_electrostatics_info(sums, &info));
  EXPECT_NE(std::string(info.method), "");

  const quadrat_scaled_pair pair{0, 1, 0};
  input.scaled_pairs = &pair;
  input.scaled_pair_count = 1;
  QUADRAT_ASSERT_OK(quadrat_electrostatics_compute(sums, &input, &output));
  EXPECT_NEAR(on_host<double>(output.energy, 1)[0], energy + 1 / std::hypot(0.1, 1), 1e-5);
  quadrat_electrostatics_destroy(sums);
}

QUADRAT_ON_DEVICES(c_mobility);

TEST_P(c_mobility, moves_spheres_as_the_class_in_cpp) {
  auto options = sized<quadrat_mobility_options>();
  options.type = QUADRAT_FLOAT64;
  options.accuracy = 1e-5;
  options.viscosity = 0.5;
  quadrat_mobility* mobility_of_c = nullptr;
  const double box[3] = {20, 22, 24};
  QUADRAT_ASSERT_OK(quadrat_mobility_create(context_, box, &options, &mobility_of_c));
  const std::vector<double> places = uniform<double>(3 * count, 0, 20), forces = uniform<double>(3 * count, -1, 1, 2);
  const quadrat_points points{on_device(places), count, 0, 0};
  QUADRAT_ASSERT_OK(quadrat_mobility_prepare(mobility_of_c, count));
  QUADRAT_ASSERT_OK(quadrat_mobility_set_points(mobility_of_c, &points));
  mobility_options same;
  same.accuracy = 1e-5;
  same.viscosity = 0.5;
  mobility<cpu_context, double> expected(cpu_context{}, {20, 22, 24}, same);
  expected.prepare(count);
  expected.set_points(strided_points<3>(places.data(), count));
  std::vector<double> velocities(3 * count), drawn(3 * count);
  const auto* const given = reinterpret_cast<const vec<double, 3>*>(forces.data());
  expected.multiply(given, reinterpret_cast<vec<double, 3>*>(velocities.data()));
  expected.square_root({3, 4, 0.5}, reinterpret_cast<vec<double, 3>*>(drawn.data()));

  auto* const results = room<double>(3 * count);
  const double* const pushes = on_device(forces);
  QUADRAT_ASSERT_OK(quadrat_mobility_multiply(mobility_of_c, pushes, results));
  expect_close(on_host<double>(results, 3 * count), velocities, 5e-5);
  QUADRAT_ASSERT_OK(quadrat_mobility_multiply_async(mobility_of_c, pushes, results));
  QUADRAT_ASSERT_OK(quadrat_mobility_check(mobility_of_c));
  expect_close(on_host<double>(results, 3 * count), velocities, 5e-5);
  // The same noise with and without forces. Devices may choose other parameters, and so draw other velocities.
  const quadrat_mobility_noise noise{3, 4, 0.5};
  QUADRAT_ASSERT_OK(quadrat_mobility_velocities(mobility_of_c, nullptr, &noise, results));
  std::vector<double> found = on_host<double>(results, 3 * count);
  if (GetParam() == QUADRAT_CPU) expect_close(found, drawn, 1e-9);
  for (std::size_t k = 0; k < found.size(); ++k) found[k] += velocities[k];
  QUADRAT_ASSERT_OK(quadrat_mobility_velocities(mobility_of_c, pushes, &noise, results));
  expect_close(on_host<double>(results, 3 * count), found, 1e-4);
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_mobility_info(mobility_of_c, &info));
  EXPECT_STRNE(info.method, "");
  EXPECT_STRNE(info.reason, "");
  quadrat_mobility_destroy(mobility_of_c);
}

QUADRAT_ON_DEVICES(c_key_reducer);

TEST_P(c_key_reducer, sums_means_and_counts_as_the_class_in_cpp) {
  auto options = sized<quadrat_key_reducer_options>();
  options.key_count = 7;
  options.value_bytes = 16;
  options.value_components = 2;
  quadrat_key_reducer* reducer = nullptr;
  QUADRAT_ASSERT_OK(quadrat_key_reducer_create(context_, &options, &reducer));
  std::vector<std::int64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<std::int64_t>(i * 7 % 6);
  const std::vector<double> rows = uniform<double>(3 * count, -1, 1);  // the last of three components is not used
  const quadrat_integers given{on_device(keys), count, QUADRAT_INT64};
  QUADRAT_ASSERT_OK(quadrat_key_reducer_set_keys(reducer, &given));

  auto call = sized<quadrat_key_call>();
  call.value_type = QUADRAT_FLOAT64;
  call.components = 2;
  call.stride = 3;
  const double* const values = on_device(rows);
  auto* const results = room<double>(14);
  for (const auto operation :
       {key_operation::sum, key_operation::minimum, key_operation::maximum, key_operation::mean}) {
    key_reducer<cpu_context> expected(cpu_context{}, 7);
    expected.set_keys(keys.data(), count);
    std::vector<double> sums(14);
    expected.reduce(strided_values(rows.data(), count, 2, 3), packed_values(sums.data(), 7, 2), {operation, false});
    call.operation = static_cast<int>(operation);
    QUADRAT_ASSERT_OK(quadrat_key_reducer_reduce(reducer, values, results, &call));
    const std::vector<double> found = on_host<double>(results, 14);
    for (std::size_t k = 0; k < 12; ++k) EXPECT_NEAR(found[k], sums[k], 1e-12) << k;
    EXPECT_EQ(std::isnan(found[13]), std::isnan(sums[13]));
  }
  auto* const totals = room<std::uint64_t>(7);
  QUADRAT_ASSERT_OK(quadrat_key_reducer_count(reducer, totals));
  const std::vector<std::uint64_t> numbers = on_host<std::uint64_t>(totals, 7);
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}), count);
  EXPECT_EQ(numbers[6], 0u);
  QUADRAT_ASSERT_OK(quadrat_key_reducer_set_keys_async(reducer, &given));
  QUADRAT_ASSERT_OK(quadrat_key_reducer_count_async(reducer, totals));
  call.operation = QUADRAT_SUM;
  QUADRAT_ASSERT_OK(quadrat_key_reducer_reduce_async(reducer, values, results, &call));
  QUADRAT_ASSERT_OK(quadrat_key_reducer_check(reducer));
  EXPECT_EQ(on_host<std::uint64_t>(totals, 7), numbers);
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_key_reducer_info(reducer, &info));
  EXPECT_NE(std::string(info.method), "");

  std::int64_t largest = 0;
  QUADRAT_ASSERT_OK(quadrat_largest(context_, &given, &largest));
  EXPECT_EQ(largest, 5);
  const quadrat_integers none{nullptr, 0, QUADRAT_INT32};
  QUADRAT_ASSERT_OK(quadrat_largest(context_, &none, &largest));
  EXPECT_EQ(largest, -1);
  const std::vector<std::uint64_t> huge{3, ~std::uint64_t{0}};
  const quadrat_integers clamped{on_device(huge), 2, QUADRAT_UINT64};
  QUADRAT_ASSERT_OK(quadrat_largest(context_, &clamped, &largest));
  EXPECT_EQ(largest, std::numeric_limits<std::int64_t>::max());

  keys[41] = 7;
  const quadrat_integers wrong{on_device(keys), count, QUADRAT_INT64};
  expect_error(quadrat_key_reducer_set_keys(reducer, &wrong), QUADRAT_DATA_ERROR, "41");
  EXPECT_EQ(quadrat_error_number(), 41);
  quadrat_key_reducer_destroy(reducer);
}

QUADRAT_ON_DEVICES(c_choice);

TEST_P(c_choice, explains_a_method) {
  auto load = sized<quadrat_load>();
  load.task = QUADRAT_TASK_SPREAD;
  load.count = 1e6;
  quadrat_choice* choice = nullptr;
  QUADRAT_ASSERT_OK(quadrat_choice_create(context_, &load, &choice));
  auto found = sized<quadrat_explanation>();
  QUADRAT_ASSERT_OK(quadrat_choice_explanation(choice, &found));
  EXPECT_NE(std::string(found.method), "");
  EXPECT_NE(std::string(found.text).find(found.method), std::string::npos);
  EXPECT_EQ(found.json[0], '{');
  quadrat_choice_destroy(choice);
  load.shipped_gpu = 1;
  QUADRAT_ASSERT_OK(quadrat_choice_create(context_, &load, &choice));
  QUADRAT_ASSERT_OK(quadrat_choice_explanation(choice, &found));
  EXPECT_NE(std::string(found.text).find("H200"), std::string::npos);
  const char* names = nullptr;
  QUADRAT_ASSERT_OK(quadrat_method_names(QUADRAT_CUDA, QUADRAT_TASK_SPREAD, &names));
  EXPECT_EQ(*names == 0, QUADRAT_HAS_CUDA == 0);
  const bool listed = ("\n" + std::string(names)).find("\n" + std::string(found.method) + "\n") != std::string::npos;
  EXPECT_EQ(listed, QUADRAT_HAS_CUDA == 1);
  quadrat_choice_destroy(choice);
  load.task = 4;
  expect_error(quadrat_choice_create(context_, &load, &choice), QUADRAT_ARGUMENT_ERROR, "task is 4");
  EXPECT_EQ(choice, nullptr);
}

}  // namespace
}  // namespace quadrat::testing
