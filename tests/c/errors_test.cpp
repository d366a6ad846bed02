// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "c/support.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "support/errors.hpp"

namespace quadrat::testing {
namespace {

constexpr double sides[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

class c_errors : public ::testing::Test {
 protected:
  void SetUp() override { QUADRAT_ASSERT_OK(quadrat_context_create(nullptr, &context)); }
  void TearDown() override { quadrat_context_destroy(context); }
  quadrat_context* context = nullptr;
};

[[nodiscard]] quadrat_neighbor_options list_options() {
  auto options = sized<quadrat_neighbor_options>();
  options.type = QUADRAT_FLOAT32;
  options.dimension = 3;
  options.cutoff = 0.3;
  return options;
}

/// Creates a list, expects an error, and that there is no handle.
void expect_refused(quadrat_context* context, const quadrat_neighbor_options& options, const std::string& part) {
  auto* list = reinterpret_cast<quadrat_neighbor_list*>(&context);
  expect_error(quadrat_neighbor_list_create(context, &options, &list), QUADRAT_ARGUMENT_ERROR, part);
  EXPECT_EQ(list, nullptr);
}

/// A struct grows behind its last field: bytes that fill it up could be anything in an older client's.
#define QUADRAT_ENDS_WITH(name, field) \
  static_assert(sizeof(name) == offsetof(name, field) + sizeof(name::field), #name " has a gap at its end")
QUADRAT_ENDS_WITH(quadrat_context_options, available);
QUADRAT_ENDS_WITH(quadrat_info, bytes);
QUADRAT_ENDS_WITH(quadrat_neighbor_options, method);
QUADRAT_ENDS_WITH(quadrat_neighbor_input, excluded_count);
QUADRAT_ENDS_WITH(quadrat_neighbor_view, vectors);
QUADRAT_ENDS_WITH(quadrat_nearest_options, reserved);
QUADRAT_ENDS_WITH(quadrat_nearest_view, shifts);
QUADRAT_ENDS_WITH(quadrat_cluster_options, accept_outside);
QUADRAT_ENDS_WITH(quadrat_cluster_view, sizes);
QUADRAT_ENDS_WITH(quadrat_cluster_members, centers);
QUADRAT_ENDS_WITH(quadrat_histogram_options, distinct);
QUADRAT_ENDS_WITH(quadrat_histogram_view, rdf);
QUADRAT_ENDS_WITH(quadrat_pair_counts_options, regions);
QUADRAT_ENDS_WITH(quadrat_pair_counts_view, region_weights);
QUADRAT_ENDS_WITH(quadrat_contact_options, systems);
QUADRAT_ENDS_WITH(quadrat_bodies, system_of_body);
QUADRAT_ENDS_WITH(quadrat_contact_view, records);
QUADRAT_ENDS_WITH(quadrat_cell_options, cutoff);
QUADRAT_ENDS_WITH(quadrat_cell_view, dimension);
QUADRAT_ENDS_WITH(quadrat_spread_options, method);
QUADRAT_ENDS_WITH(quadrat_mesh_call, reserved);
QUADRAT_ENDS_WITH(quadrat_nufft_options, method);
QUADRAT_ENDS_WITH(quadrat_nufft_call, sign);
QUADRAT_ENDS_WITH(quadrat_nufft_target_options, method);
QUADRAT_ENDS_WITH(quadrat_ewald_options, remove_net_force);
QUADRAT_ENDS_WITH(quadrat_ewald_input, scaled_pair_count);
QUADRAT_ENDS_WITH(quadrat_ewald_output, virial);
QUADRAT_ENDS_WITH(quadrat_ewald_report, virial_error);
QUADRAT_ENDS_WITH(quadrat_mobility_options, splitting);
QUADRAT_ENDS_WITH(quadrat_key_reducer_options, autotune);
QUADRAT_ENDS_WITH(quadrat_key_call, stride);
QUADRAT_ENDS_WITH(quadrat_load, reserved);
QUADRAT_ENDS_WITH(quadrat_explanation, json);

TEST_F(c_errors, the_version_is_that_of_the_build) { EXPECT_STREQ(quadrat_version(), QUADRAT_VERSION); }

TEST_F(c_errors, every_call_refuses_a_null_handle) {
  std::vector<int> codes{quadrat_context_synchronize(nullptr),
                         quadrat_context_wait_for(nullptr, nullptr),
                         quadrat_context_stream(nullptr, nullptr),
                         quadrat_allocate(nullptr, 1, nullptr),
                         quadrat_free(nullptr, nullptr),
                         quadrat_copy(nullptr, nullptr, nullptr, 1),
                         quadrat_cuda_device_count(nullptr),
                         quadrat_context_create(nullptr, nullptr),
                         quadrat_context_signal(nullptr, nullptr),
                         quadrat_stream_is_captured(nullptr, nullptr, nullptr),
                         quadrat_largest(nullptr, nullptr, nullptr),
                         quadrat_method_names(0, 0, nullptr)};
  codes.insert(
      codes.end(),
      {quadrat_neighbor_list_create(nullptr, nullptr, nullptr), quadrat_neighbor_list_build(nullptr, nullptr),
       quadrat_neighbor_list_build_async(nullptr, nullptr), quadrat_neighbor_list_update(nullptr, nullptr, nullptr),
       quadrat_neighbor_list_reserve(nullptr, 0), quadrat_neighbor_list_write_padded(nullptr, 1, 1, 0, nullptr),
       quadrat_neighbor_list_write_padded_async(nullptr, 1, 1, 0, nullptr), quadrat_neighbor_list_check(nullptr),
       quadrat_neighbor_list_view(nullptr, nullptr), quadrat_neighbor_list_write(nullptr, 1, 1, nullptr),
       quadrat_neighbor_list_write_async(nullptr, 1, 1, nullptr), quadrat_neighbor_list_info(nullptr, nullptr)});
  codes.insert(codes.end(), {quadrat_nearest_neighbors_create(nullptr, nullptr, nullptr, nullptr),
                             quadrat_nearest_neighbors_build(nullptr, nullptr, nullptr),
                             quadrat_nearest_neighbors_build_async(nullptr, nullptr, nullptr),
                             quadrat_nearest_neighbors_write_async(nullptr, 1, 1, nullptr),
                             quadrat_nearest_neighbors_search(nullptr, nullptr, nullptr),
                             quadrat_nearest_neighbors_search_async(nullptr, nullptr, nullptr),
                             quadrat_nearest_neighbors_check(nullptr), quadrat_nearest_neighbors_view(nullptr, nullptr),
                             quadrat_nearest_neighbors_write(nullptr, 1, 1, nullptr),
                             quadrat_nearest_neighbors_info(nullptr, nullptr)});
  codes.insert(
      codes.end(),
      {quadrat_cluster_finder_create(nullptr, nullptr, nullptr, nullptr),
       quadrat_cluster_finder_find(nullptr, nullptr, nullptr), quadrat_cluster_finder_view(nullptr, nullptr),
       quadrat_cluster_finder_members(nullptr, nullptr), quadrat_cluster_finder_catalog(nullptr, nullptr, nullptr),
       quadrat_cluster_finder_find_async(nullptr, nullptr, nullptr), quadrat_cluster_finder_reserve(nullptr, 1),
       quadrat_cluster_finder_check(nullptr), quadrat_cluster_finder_write_async(nullptr, 1, 1, nullptr),
       quadrat_cluster_finder_write(nullptr, 1, 1, nullptr), quadrat_cluster_finder_info(nullptr, nullptr)});
  codes.insert(codes.end(), {quadrat_pair_histogram_create(nullptr, nullptr, nullptr),
                             quadrat_pair_histogram_add(nullptr, nullptr, nullptr, nullptr, nullptr),
                             quadrat_pair_histogram_clear(nullptr), quadrat_pair_histogram_view(nullptr, nullptr),
                             quadrat_pair_histogram_info(nullptr, nullptr)});
  codes.insert(codes.end(),
               {quadrat_pair_counts_create(nullptr, nullptr, nullptr, nullptr),
                quadrat_pair_counts_count(nullptr, nullptr, nullptr, nullptr),
                quadrat_pair_counts_count_between(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
                quadrat_pair_counts_result(nullptr, nullptr), quadrat_pair_counts_info(nullptr, nullptr)});
  codes.insert(codes.end(),
               {quadrat_power_spectrum_create(nullptr, nullptr, nullptr),
                quadrat_power_spectrum_measure(nullptr, nullptr, nullptr),
                quadrat_power_spectrum_measure_cross(nullptr, nullptr, nullptr, nullptr, nullptr),
                quadrat_power_spectrum_view(nullptr, nullptr), quadrat_power_spectrum_info(nullptr, nullptr)});
  codes.insert(
      codes.end(),
      {quadrat_contact_detector_create(nullptr, nullptr, nullptr), quadrat_contact_detector_build(nullptr, nullptr),
       quadrat_contact_detector_build_async(nullptr, nullptr), quadrat_contact_detector_check(nullptr),
       quadrat_contact_detector_view(nullptr, nullptr), quadrat_contact_detector_write(nullptr, 1, 1, nullptr),
       quadrat_contact_detector_write_async(nullptr, 1, 1, nullptr), quadrat_contact_detector_info(nullptr, nullptr)});
  codes.insert(codes.end(),
               {quadrat_cell_list_create(nullptr, nullptr, nullptr), quadrat_cell_list_build(nullptr, nullptr),
                quadrat_cell_list_build_async(nullptr, nullptr), quadrat_cell_list_check(nullptr),
                quadrat_cell_list_view(nullptr, nullptr), quadrat_cell_list_write(nullptr, 1, 1, nullptr),
                quadrat_cell_list_write_async(nullptr, 1, 1, nullptr), quadrat_cell_list_info(nullptr, nullptr)});
  codes.insert(codes.end(),
               {quadrat_spread_plan_create(nullptr, nullptr, nullptr), quadrat_spread_plan_set_points(nullptr, nullptr),
                quadrat_spread_plan_set_points_async(nullptr, nullptr), quadrat_spread_plan_check(nullptr),
                quadrat_spread_plan_spread(nullptr, nullptr, nullptr, nullptr),
                quadrat_spread_plan_spread_async(nullptr, nullptr, nullptr, nullptr),
                quadrat_spread_plan_interpolate(nullptr, nullptr, nullptr, nullptr),
                quadrat_spread_plan_interpolate_async(nullptr, nullptr, nullptr, nullptr),
                quadrat_spread_plan_interpolate_gradient(nullptr, nullptr, nullptr, nullptr),
                quadrat_spread_plan_interpolate_gradient_async(nullptr, nullptr, nullptr, nullptr),
                quadrat_spread_plan_info(nullptr, nullptr)});
  codes.insert(codes.end(), {quadrat_nufft_plan_create(nullptr, nullptr, nullptr),
                             quadrat_nufft_plan_set_points(nullptr, nullptr, nullptr),
                             quadrat_nufft_plan_set_points_async(nullptr, nullptr, nullptr),
                             quadrat_nufft_plan_check(nullptr),
                             quadrat_nufft_plan_type_1(nullptr, nullptr, nullptr, nullptr),
                             quadrat_nufft_plan_type_1_async(nullptr, nullptr, nullptr, nullptr),
                             quadrat_nufft_plan_type_2(nullptr, nullptr, nullptr, nullptr),
                             quadrat_nufft_plan_type_2_async(nullptr, nullptr, nullptr, nullptr),
                             quadrat_nufft_plan_error_bound(nullptr, nullptr),
                             quadrat_nufft_plan_info(nullptr, nullptr),
                             quadrat_nufft_plan_density_weights(nullptr, nullptr, 0, 0),
                             quadrat_normal_operator_create(nullptr, nullptr, nullptr),
                             quadrat_normal_operator_set_points(nullptr, nullptr, nullptr),
                             quadrat_normal_operator_apply(nullptr, nullptr, nullptr, nullptr),
                             quadrat_normal_operator_apply_async(nullptr, nullptr, nullptr, nullptr),
                             quadrat_normal_operator_error_bound(nullptr, nullptr),
                             quadrat_normal_operator_info(nullptr, nullptr),
                             quadrat_nufft_target_plan_create(nullptr, nullptr, nullptr),
                             quadrat_nufft_target_plan_set_points(nullptr, nullptr, nullptr),
                             quadrat_nufft_target_plan_set_points_async(nullptr, nullptr, nullptr),
                             quadrat_nufft_target_plan_check(nullptr),
                             quadrat_nufft_target_plan_type_3(nullptr, nullptr, nullptr, nullptr),
                             quadrat_nufft_target_plan_type_3_async(nullptr, nullptr, nullptr, nullptr),
                             quadrat_nufft_target_plan_error_bound(nullptr, nullptr),
                             quadrat_nufft_target_plan_info(nullptr, nullptr)});
  codes.insert(codes.end(),
               {quadrat_electrostatics_create(nullptr, nullptr, nullptr),
                quadrat_electrostatics_compute(nullptr, nullptr, nullptr),
                quadrat_electrostatics_compute_async(nullptr, nullptr, nullptr), quadrat_electrostatics_check(nullptr),
                quadrat_electrostatics_report(nullptr, nullptr), quadrat_electrostatics_info(nullptr, nullptr),
                quadrat_mobility_create(nullptr, nullptr, nullptr, nullptr), quadrat_mobility_prepare(nullptr, 1),
                quadrat_mobility_set_points(nullptr, nullptr), quadrat_mobility_multiply(nullptr, nullptr, nullptr),
                quadrat_mobility_multiply_async(nullptr, nullptr, nullptr),
                quadrat_mobility_velocities(nullptr, nullptr, nullptr, nullptr), quadrat_mobility_check(nullptr),
                quadrat_mobility_info(nullptr, nullptr)});
  codes.insert(codes.end(),
               {quadrat_key_reducer_create(nullptr, nullptr, nullptr), quadrat_key_reducer_set_keys(nullptr, nullptr),
                quadrat_key_reducer_set_keys_async(nullptr, nullptr),
                quadrat_key_reducer_reduce(nullptr, nullptr, nullptr, nullptr),
                quadrat_key_reducer_reduce_async(nullptr, nullptr, nullptr, nullptr),
                quadrat_key_reducer_count(nullptr, nullptr), quadrat_key_reducer_count_async(nullptr, nullptr),
                quadrat_key_reducer_check(nullptr), quadrat_key_reducer_info(nullptr, nullptr),
                quadrat_choice_create(nullptr, nullptr, nullptr), quadrat_choice_explanation(nullptr, nullptr)});
  for (std::size_t k = 0; k < codes.size(); ++k) EXPECT_EQ(codes[k], QUADRAT_ARGUMENT_ERROR) << "call " << k;
  quadrat_context_destroy(nullptr);
  quadrat_neighbor_list_destroy(nullptr);
  quadrat_nearest_neighbors_destroy(nullptr);
  quadrat_cluster_finder_destroy(nullptr);
  quadrat_pair_histogram_destroy(nullptr);
  quadrat_pair_counts_destroy(nullptr);
  quadrat_power_spectrum_destroy(nullptr);
  quadrat_contact_detector_destroy(nullptr);
  quadrat_cell_list_destroy(nullptr);
  quadrat_spread_plan_destroy(nullptr);
  quadrat_nufft_plan_destroy(nullptr);
  quadrat_normal_operator_destroy(nullptr);
  quadrat_nufft_target_plan_destroy(nullptr);
  quadrat_electrostatics_destroy(nullptr);
  quadrat_mobility_destroy(nullptr);
  quadrat_key_reducer_destroy(nullptr);
  quadrat_choice_destroy(nullptr);
}

/// Creates a handle from options of wrong sizes.
template <typename Options, typename Create>
void expect_sizes_refused(const Create& create_with) {
  expect_error(create_with(static_cast<const Options*>(nullptr)), QUADRAT_ARGUMENT_ERROR, "is null");
  auto options = sized<Options>();
  for (const std::size_t size : {std::size_t{0}, std::size_t{4}, sizeof(std::size_t) - 1, std::size_t{1} << 40}) {
    options.size = size;
    expect_error(create_with(&options), QUADRAT_ARGUMENT_ERROR, "the size of ");
  }
}

TEST_F(c_errors, every_struct_of_a_wrong_size_is_refused) {
  quadrat_boxes box{};
  box.vectors = sides;
  quadrat_neighbor_list* list = nullptr;
  quadrat_nearest_neighbors* nearest = nullptr;
  quadrat_cluster_finder* finder = nullptr;
  quadrat_pair_histogram* histogram = nullptr;
  quadrat_pair_counts* pairs = nullptr;
  quadrat_power_spectrum* spectrum = nullptr;
  quadrat_contact_detector* detector = nullptr;
  quadrat_spread_plan* plan = nullptr;
  quadrat_nufft_plan* nufft = nullptr;
  quadrat_nufft_target_plan* targets = nullptr;
  quadrat_electrostatics* sums = nullptr;
  quadrat_mobility* spheres = nullptr;
  quadrat_key_reducer* reducer = nullptr;
  quadrat_choice* choice = nullptr;
  expect_sizes_refused<quadrat_neighbor_options>(
      [&](const auto* given) { return quadrat_neighbor_list_create(context, given, &list); });
  expect_sizes_refused<quadrat_nearest_options>(
      [&](const auto* given) { return quadrat_nearest_neighbors_create(context, &box, given, &nearest); });
  expect_sizes_refused<quadrat_cluster_options>(
      [&](const auto* given) { return quadrat_cluster_finder_create(context, &box, given, &finder); });
  expect_sizes_refused<quadrat_histogram_options>(
      [&](const auto* given) { return quadrat_pair_histogram_create(context, given, &histogram); });
  expect_sizes_refused<quadrat_pair_counts_options>(
      [&](const auto* given) { return quadrat_pair_counts_create(context, &box, given, &pairs); });
  expect_sizes_refused<quadrat_spectrum_options>(
      [&](const auto* given) { return quadrat_power_spectrum_create(context, given, &spectrum); });
  expect_sizes_refused<quadrat_contact_options>(
      [&](const auto* given) { return quadrat_contact_detector_create(context, given, &detector); });
  expect_sizes_refused<quadrat_spread_options>(
      [&](const auto* given) { return quadrat_spread_plan_create(context, given, &plan); });
  expect_sizes_refused<quadrat_nufft_options>(
      [&](const auto* given) { return quadrat_nufft_plan_create(context, given, &nufft); });
  expect_sizes_refused<quadrat_nufft_target_options>(
      [&](const auto* given) { return quadrat_nufft_target_plan_create(context, given, &targets); });
  expect_sizes_refused<quadrat_ewald_options>(
      [&](const auto* given) { return quadrat_electrostatics_create(context, given, &sums); });
  expect_sizes_refused<quadrat_mobility_options>(
      [&](const auto* given) { return quadrat_mobility_create(context, sides, given, &spheres); });
  expect_sizes_refused<quadrat_key_reducer_options>(
      [&](const auto* given) { return quadrat_key_reducer_create(context, given, &reducer); });
  expect_sizes_refused<quadrat_load>([&](const auto* given) { return quadrat_choice_create(context, given, &choice); });
}

TEST_F(c_errors, a_struct_of_an_older_client_means_the_defaults) {
  // Memory of exactly the size that the client knows: nothing beyond it may be read.
  const quadrat_neighbor_options full = list_options();
  std::vector<unsigned char> older(offsetof(quadrat_neighbor_options, skin));
  std::memcpy(older.data(), &full, older.size());
  auto* const options = reinterpret_cast<quadrat_neighbor_options*>(older.data());
  options->size = older.size();
  quadrat_neighbor_list* list = nullptr;
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_create(context, options, &list));
  const std::vector<float> places = uniform<float>(300, 0, 1);
  auto input = sized<quadrat_neighbor_input>();
  input.points = {places.data(), 100, 0, 0};
  input.boxes.vectors = sides;
  input.size = offsetof(quadrat_neighbor_input, system_of_point);
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_build(list, &input));
  auto view = sized<quadrat_neighbor_view>();
  view.size = offsetof(quadrat_neighbor_view, offsets);
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_view(list, &view));
  EXPECT_EQ(view.rows, 100u);
  EXPECT_GT(view.entries, 0u);
  EXPECT_EQ(view.offsets, nullptr);  // beyond the client's struct
  quadrat_neighbor_list_destroy(list);

  options->size = older.size() - 1;
  expect_error(quadrat_neighbor_list_create(context, options, &list), QUADRAT_ARGUMENT_ERROR, "the size of options is");
}

TEST_F(c_errors, a_struct_of_a_newer_client_is_taken_if_it_asks_for_nothing_unknown) {
  struct {
    quadrat_neighbor_options known;
    double unknown;
  } newer{list_options(), 0};
  newer.known.size = sizeof(newer);
  quadrat_neighbor_list* list = nullptr;
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_create(context, &newer.known, &list));
  quadrat_neighbor_list_destroy(list);
  newer.unknown = 1;
  expect_error(quadrat_neighbor_list_create(context, &newer.known, &list), QUADRAT_ARGUMENT_ERROR, "does not know");
}

TEST_F(c_errors, impossible_options_are_named) {
  auto options = list_options();
  options.type = 0;
  expect_refused(context, options, "type is 0");
  options = list_options();
  options.dimension = -1;
  expect_refused(context, options, "dimension is -1");
  for (const double cutoff : {0.0, -1.0, infinity, std::nan(""), 1e300}) {
    options = list_options();
    options.cutoff = cutoff;
    expect_refused(context, options, "cutoff");
  }
  for (const double skin : {-1.0, infinity, std::nan("")}) {
    options = list_options();
    options.skin = skin;
    expect_refused(context, options, "skin");
  }
  options = list_options();
  options.rule = 5;
  expect_refused(context, options, "rule is 5");
  options = list_options();
  options.outputs = -1;
  expect_refused(context, options, "outputs is -1");
  options = list_options();
  options.method = "abacus";
  expect_refused(context, options, "abacus");
  options = list_options();
  options.types = 3;
  expect_refused(context, options, "type_cutoffs is null; an array of 9");
  expect_error(quadrat_neighbor_list_create(context, &options, nullptr), QUADRAT_ARGUMENT_ERROR, "null");
  auto device = sized<quadrat_context_options>();
  quadrat_context* made = nullptr;
  device.threads = -2;
  expect_error(quadrat_context_create(&device, &made), QUADRAT_ARGUMENT_ERROR, "-2");
  device = sized<quadrat_context_options>();
  device.device = 7;
  expect_error(quadrat_context_create(&device, &made), QUADRAT_ARGUMENT_ERROR, "device is 7");
  device.device = QUADRAT_CUDA;
  device.cuda_device = 1000;
  const auto in_cpp = [] { const cuda_context there({.device = 1000}); };
  const bool any = !cuda_devices().empty();  // without one, that is the error
  expect_error(quadrat_context_create(&device, &made), any ? QUADRAT_ARGUMENT_ERROR : QUADRAT_BACKEND_ERROR,
               any ? test::error_of<argument_error>(in_cpp) : test::error_of<backend_error>(in_cpp));
  EXPECT_EQ(made, nullptr);
}

TEST_F(c_errors, impossible_input_is_named) {
  const auto options = list_options();
  quadrat_neighbor_list* list = nullptr;
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_create(context, &options, &list));
  const std::vector<float> places = uniform<float>(300, 0, 1);
  auto input = sized<quadrat_neighbor_input>();
  const auto build = [&] { return quadrat_neighbor_list_build(list, &input); };
  input.points.count = 100;
  input.boxes.vectors = sides;
  expect_error(build(), QUADRAT_ARGUMENT_ERROR, "points.data is null; there are 100 points");
  input.points = {places.data(), ~std::size_t{0}, 0, 0};
  expect_error(build(), QUADRAT_ARGUMENT_ERROR, "18446744073709551615 points");
  input.points.count = 100;
  input.boxes.count = ~std::size_t{0};
  expect_error(build(), QUADRAT_ARGUMENT_ERROR, "boxes");
  input.boxes.count = 0;
  input.boxes.vectors = nullptr;
  expect_error(build(), QUADRAT_ARGUMENT_ERROR, "boxes.vectors is null");
  const double flat[9] = {1, 0, 0, 0, 1, 0, 0, 0, infinity};
  input.boxes.vectors = flat;
  expect_error(build(), QUADRAT_ARGUMENT_ERROR, "finite");
  input.boxes.vectors = sides;
  const std::vector<std::int32_t> systems(100, -1);
  input.system_of_point = {systems.data(), 99, QUADRAT_INT32};
  expect_error(build(), QUADRAT_ARGUMENT_ERROR, "99 systems");
  input.system_of_point = {systems.data(), 100, QUADRAT_FLOAT32};
  expect_error(build(), QUADRAT_ARGUMENT_ERROR, "type");
  input.system_of_point = {systems.data(), 100, QUADRAT_INT32};
  expect_error(build(), QUADRAT_DATA_ERROR, "systems[0] is -1");
  input.system_of_point = {};
  const std::uint32_t beyond[2] = {5, 100};
  input.excluded = beyond;
  input.excluded_count = 1;
  expect_error(build(), QUADRAT_ARGUMENT_ERROR, "excluded[0] is (5, 100)");
  input.excluded_count = ~std::size_t{0};
  expect_error(build(), QUADRAT_ARGUMENT_ERROR, "18446744073709551615 excluded");
  input.excluded_count = 0;
  auto view = sized<quadrat_neighbor_view>();
  expect_error(quadrat_neighbor_list_view(list, &view), QUADRAT_ARGUMENT_ERROR, "");
  QUADRAT_ASSERT_OK(build());
  std::vector<std::int64_t> to(10000);
  expect_error(quadrat_neighbor_list_write(list, QUADRAT_NEIGHBOR_SHIFTS, QUADRAT_INT64, to.data()),
               QUADRAT_ARGUMENT_ERROR, "did not request");
  expect_error(quadrat_neighbor_list_write(list, QUADRAT_NEIGHBOR_OFFSETS, QUADRAT_FLOAT64, to.data()),
               QUADRAT_ARGUMENT_ERROR, "index_type");
  expect_error(quadrat_neighbor_list_write(list, QUADRAT_NEIGHBOR_OFFSETS, QUADRAT_INT64, nullptr),
               QUADRAT_ARGUMENT_ERROR, "to is null; an array of 101");
  quadrat_neighbor_list_destroy(list);
}

TEST_F(c_errors, missing_arrays_of_ewald_sums_are_named) {
  auto options = sized<quadrat_ewald_options>();
  options.type = QUADRAT_FLOAT64;
  quadrat_electrostatics* sums = nullptr;
  QUADRAT_ASSERT_OK(quadrat_electrostatics_create(context, &options, &sums));
  const double places[6] = {0, 0, 0, 0.5, 0, 0}, charges[2] = {1, -1};
  auto input = sized<quadrat_ewald_input>();
  const auto output = sized<quadrat_ewald_output>();
  const auto compute = [&] { return quadrat_electrostatics_compute(sums, &input, &output); };
  input.points.count = 2;
  expect_error(compute(), QUADRAT_ARGUMENT_ERROR, "cells.vectors is null");
  input.cells.vectors = sides;
  expect_error(compute(), QUADRAT_ARGUMENT_ERROR, "points.data is null; there are 2 points");
  input.points.data = places;
  expect_error(compute(), QUADRAT_ARGUMENT_ERROR, "charges is null; an array of 2");
  input.charges = charges;
  input.scaled_pair_count = 1;
  expect_error(compute(), QUADRAT_ARGUMENT_ERROR, "scaled_pairs is null; an array of 1");
  input.scaled_pair_count = 0;
  QUADRAT_ASSERT_OK(compute());
  quadrat_electrostatics_destroy(sums);
}

TEST_F(c_errors, impossible_plans_and_reductions_are_named) {
  auto options = sized<quadrat_spread_options>();
  options.type = QUADRAT_FLOAT32;
  options.dimension = 1;
  options.domain = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}};
  options.mesh[0] = 8;
  options.order = -3;
  quadrat_spread_plan* plan = nullptr;
  EXPECT_EQ(quadrat_spread_plan_create(context, &options, &plan), QUADRAT_ARGUMENT_ERROR);
  options.order = 3;
  options.domain.length[0] = std::nan("");
  EXPECT_EQ(quadrat_spread_plan_create(context, &options, &plan), QUADRAT_ARGUMENT_ERROR);
  options.domain.length[0] = 1;
  QUADRAT_ASSERT_OK(quadrat_spread_plan_create(context, &options, &plan));
  const float place = 0.3f;
  float mesh[8] = {};
  EXPECT_EQ(quadrat_spread_plan_spread(plan, &place, mesh, nullptr), QUADRAT_ARGUMENT_ERROR);  // no points
  const quadrat_points points{&place, 1, 0, 0};
  QUADRAT_ASSERT_OK(quadrat_spread_plan_set_points(plan, &points));
  expect_error(quadrat_spread_plan_spread(plan, nullptr, mesh, nullptr), QUADRAT_ARGUMENT_ERROR, "values is null");
  expect_error(quadrat_spread_plan_spread(plan, &place, nullptr, nullptr), QUADRAT_ARGUMENT_ERROR, "mesh is null");
  auto call = sized<quadrat_mesh_call>();
  call.vectors = -1;
  EXPECT_EQ(quadrat_spread_plan_spread(plan, &place, mesh, &call), QUADRAT_ARGUMENT_ERROR);
  quadrat_spread_plan_destroy(plan);

  auto reduction = sized<quadrat_key_reducer_options>();
  quadrat_key_reducer* reducer = nullptr;
  EXPECT_EQ(quadrat_key_reducer_create(context, &reduction, &reducer), QUADRAT_ARGUMENT_ERROR);  // no keys
  reduction.key_count = 3;
  QUADRAT_ASSERT_OK(quadrat_key_reducer_create(context, &reduction, &reducer));
  const std::uint32_t key = 1;
  const quadrat_integers keys{&key, 1, QUADRAT_UINT32};
  QUADRAT_ASSERT_OK(quadrat_key_reducer_set_keys(reducer, &keys));
  float results[3] = {};
  auto how = sized<quadrat_key_call>();
  expect_error(quadrat_key_reducer_reduce(reducer, &place, results, &how), QUADRAT_ARGUMENT_ERROR, "value_type is 0");
  how.value_type = QUADRAT_FLOAT32;
  how.components = 9;
  expect_error(quadrat_key_reducer_reduce(reducer, &place, results, &how), QUADRAT_ARGUMENT_ERROR, "9 components");
  how.components = 1;
  how.operation = 4;
  expect_error(quadrat_key_reducer_reduce(reducer, &place, results, &how), QUADRAT_ARGUMENT_ERROR, "operation is 4");
  quadrat_key_reducer_destroy(reducer);
}

TEST_F(c_errors, a_zero_that_is_meant_has_a_sign) {
  auto options = sized<quadrat_ewald_options>();
  options.type = QUADRAT_FLOAT64;
  options.coulomb_constant = -0.0;
  quadrat_electrostatics* sums = nullptr;
  QUADRAT_ASSERT_OK(quadrat_electrostatics_create(context, &options, &sums));
  const double places[6] = {0, 0, 0, 0.25, 0, 0}, charges[2] = {1, -1}, cell[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double energy = -1;
  auto input = sized<quadrat_ewald_input>();
  input.points = {places, 2, 0, 0};
  input.charges = charges;
  input.cells.vectors = cell;
  auto output = sized<quadrat_ewald_output>();
  output.energy = &energy;
  QUADRAT_EXPECT_OK(quadrat_electrostatics_compute(sums, &input, &output));
  EXPECT_EQ(energy, 0);
  quadrat_electrostatics_destroy(sums);
  options.accuracy = -0.0;
  expect_error(quadrat_electrostatics_create(context, &options, &sums), QUADRAT_ARGUMENT_ERROR, "accuracy is 0;");
}

TEST_F(c_errors, copies_refuse_null_pointers_to_some_bytes) {
  EXPECT_EQ(quadrat_copy(context, nullptr, nullptr, 1), QUADRAT_ARGUMENT_ERROR);
  QUADRAT_EXPECT_OK(quadrat_copy(context, nullptr, nullptr, 0));
}

TEST_F(c_errors, a_message_belongs_to_its_thread) {
  expect_error(quadrat_context_synchronize(nullptr), QUADRAT_ARGUMENT_ERROR, "handle");
  std::string other = "?";
  std::thread([&] { other = quadrat_error_message(); }).join();
  EXPECT_EQ(other, "");
  EXPECT_NE(std::string(quadrat_error_message()), "");
  EXPECT_EQ(quadrat_error_number(), -1);
}

TEST_F(c_errors, a_handle_outlives_its_context) {
  quadrat_context* shorter = nullptr;
  QUADRAT_ASSERT_OK(quadrat_context_create(nullptr, &shorter));
  const auto options = list_options();
  quadrat_neighbor_list* list = nullptr;
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_create(shorter, &options, &list));
  quadrat_context_destroy(shorter);
  auto input = sized<quadrat_neighbor_input>();
  input.boxes.vectors = sides;
  QUADRAT_EXPECT_OK(quadrat_neighbor_list_build(list, &input));  // no points
  quadrat_neighbor_list_destroy(list);
}

/// Memory of the host that counts itself, of which there may be none.
struct counted_memory {
  std::size_t live = 0, most = 0;
  bool none = false;

  static void* allocate(void* user, std::size_t bytes, void* /*stream*/) {
    auto& self = *static_cast<counted_memory*>(user);
    if (self.none) return nullptr;
    self.live += bytes;
    self.most = std::max(self.most, self.live);
    return ::operator new(bytes, std::align_val_t{64});
  }
  static void deallocate(void* user, void* memory, std::size_t bytes, void* /*stream*/) {
    static_cast<counted_memory*>(user)->live -= bytes;
    ::operator delete(memory, std::align_val_t{64});
  }
  static std::size_t available(void* /*user*/) { return 5'000'000; }
};

TEST_F(c_errors, work_takes_the_memory_of_the_caller) {
  counted_memory counted;
  auto given = sized<quadrat_context_options>();
  given.allocate = counted_memory::allocate;
  given.user = &counted;
  quadrat_context* home = nullptr;
  expect_error(quadrat_context_create(&given, &home), QUADRAT_ARGUMENT_ERROR, "deallocate");
  given.deallocate = counted_memory::deallocate;
  given.available = counted_memory::available;
  QUADRAT_ASSERT_OK(quadrat_context_create(&given, &home));
  const auto options = list_options();
  quadrat_neighbor_list* list = nullptr;
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_create(home, &options, &list));
  quadrat_context_destroy(home);
  const std::vector<float> places = uniform<float>(3 * count, 0, 1);
  auto input = sized<quadrat_neighbor_input>();
  input.points = {places.data(), count, 0, 0};
  input.boxes.vectors = sides;
  counted.none = true;
  expect_error(quadrat_neighbor_list_build(list, &input), QUADRAT_MEMORY_ERROR, "5 MB are available");
  counted.none = false;
  QUADRAT_EXPECT_OK(quadrat_neighbor_list_build(list, &input));
  EXPECT_GT(counted.most, sizeof(float) * count);
  quadrat_neighbor_list_destroy(list);
  EXPECT_EQ(counted.live, 0u);
}

QUADRAT_ON_DEVICES(c_context);

TEST_P(c_context, has_a_stream_that_waits_for_others) {
  void* stream = this;
  QUADRAT_ASSERT_OK(quadrat_context_stream(context_, &stream));
  EXPECT_EQ(stream != nullptr, GetParam() == QUADRAT_CUDA);
  auto options = sized<quadrat_context_options>();
  options.device = GetParam();
  options.stream = stream;
  quadrat_context* shared = nullptr;
  QUADRAT_ASSERT_OK(quadrat_context_create(&options, &shared));
  void* same = nullptr;
  QUADRAT_EXPECT_OK(quadrat_context_stream(shared, &same));
  EXPECT_EQ(same, stream);
  QUADRAT_EXPECT_OK(quadrat_context_wait_for(context_, stream));
  QUADRAT_EXPECT_OK(quadrat_context_signal(context_, stream));
  int captured = -1;
  QUADRAT_EXPECT_OK(quadrat_stream_is_captured(context_, stream, &captured));
  EXPECT_EQ(captured, 0);
  QUADRAT_EXPECT_OK(quadrat_context_synchronize(shared));
  quadrat_context_destroy(shared);
}

TEST_P(c_context, refuses_memory_that_its_device_does_not_reach) {
  if (GetParam() == QUADRAT_CPU) GTEST_SKIP() << "there is no other memory";
  const auto options = list_options();
  quadrat_neighbor_list* list = nullptr;
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_create(context_, &options, &list));
  const std::vector<float> places = uniform<float>(300, 0, 1);
  auto input = sized<quadrat_neighbor_input>();
  input.points = {places.data(), 100, 0, 0};
  input.boxes.vectors = sides;
  const int code = quadrat_neighbor_list_build(list, &input);
  if (code != QUADRAT_OK) expect_error(code, QUADRAT_ARGUMENT_ERROR, "memory of the host");  // some devices reach it
  quadrat_neighbor_list_destroy(list);
}

}  // namespace
}  // namespace quadrat::testing
