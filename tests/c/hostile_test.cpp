// SPDX-License-Identifier: BSD-3-Clause
// Hostile numbers in every field of the options: each call takes them or refuses them with a message, and what was
// taken works on a few points. Fields that are pointers stay as they are.
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "c/support.hpp"

namespace quadrat::testing {
namespace {

constexpr double unit_box[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
constexpr double four_places[12] = {0.1, 0.2, 0.3, 0.15, 0.2, 0.3, 0.6, 0.7, 0.8, 0.6, 0.7, 0.85};
constexpr quadrat_points four_points{four_places, 4, 0, 0};

class c_hostile_options : public ::testing::Test {
 protected:
  void SetUp() override { QUADRAT_ASSERT_OK(quadrat_context_create(nullptr, &context)); }
  void TearDown() override { quadrat_context_destroy(context); }

  /// Calls `use` with options in which one number is hostile, for each of them. `pointers`: offsets of fields that are.
  template <typename Options, typename Use>
  void each(const Options& sound, const std::set<std::size_t>& pointers, const Use& use) {
    use(sound);
    for (std::size_t at = sizeof(std::size_t); at < sizeof(Options); at += sizeof(int)) {
      if (pointers.contains(at / sizeof(void*) * sizeof(void*))) continue;
      for (const int number : {-1, 0, 7, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
        use(with_bytes(sound, at, number));
      }
      if (at % sizeof(double) != 0) continue;
      for (const double number : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, -1.0, 1e300, 1e-300,
                                  std::numeric_limits<double>::denorm_min()}) {
        use(with_bytes(sound, at, number));
      }
    }
  }
  /// A handle, or none with a message. `call`: a call with few points, which may fail.
  template <typename Handle, typename Call>
  static void expect_handle_or_message(int code, Handle* handle, void (*destroy)(Handle*), const Call& call) {
    EXPECT_EQ(code == QUADRAT_OK, handle != nullptr);
    if (code == QUADRAT_OK) {
      const int later = call();
      if (later != QUADRAT_OK) {
        EXPECT_NE(std::string(quadrat_error_message()), "");
        EXPECT_NE(later, QUADRAT_INTERNAL_ERROR) << quadrat_error_message();
      }
    } else {
      EXPECT_NE(code, QUADRAT_INTERNAL_ERROR) << quadrat_error_message();
      EXPECT_NE(std::string(quadrat_error_message()), "");
    }
    destroy(handle);
  }

  quadrat_context* context = nullptr;
  const quadrat_boxes box{unit_box, nullptr, nullptr, 0};

 private:
  template <typename Options, typename Number>
  [[nodiscard]] static Options with_bytes(Options options, std::size_t at, Number number) {
    std::memcpy(reinterpret_cast<unsigned char*>(&options) + at, &number, sizeof(number));
    return options;
  }
};

TEST_F(c_hostile_options, of_contexts) {
  each(sized<quadrat_context_options>(),
       {offsetof(quadrat_context_options, stream), offsetof(quadrat_context_options, allocate),
        offsetof(quadrat_context_options, deallocate), offsetof(quadrat_context_options, user),
        offsetof(quadrat_context_options, available)},
       [&](const quadrat_context_options& options) {
         quadrat_context* made = nullptr;
         const int code = quadrat_context_create(&options, &made);
         expect_handle_or_message(code, made, quadrat_context_destroy,
                                  [&] { return quadrat_context_synchronize(made); });
       });
}

TEST_F(c_hostile_options, of_neighbor_lists) {
  auto sound = sized<quadrat_neighbor_options>();
  sound.type = QUADRAT_FLOAT64;
  sound.dimension = 3;
  sound.cutoff = 0.1;
  auto input = sized<quadrat_neighbor_input>();
  input.points = four_points;
  input.boxes = box;
  each(sound, {offsetof(quadrat_neighbor_options, type_cutoffs), offsetof(quadrat_neighbor_options, method)},
       [&](const quadrat_neighbor_options& options) {
         quadrat_neighbor_list* list = nullptr;
         const int code = quadrat_neighbor_list_create(context, &options, &list);
         expect_handle_or_message(code, list, quadrat_neighbor_list_destroy,
                                  [&] { return quadrat_neighbor_list_build(list, &input); });
       });
}

TEST_F(c_hostile_options, of_nearest_neighbors) {
  auto sound = sized<quadrat_nearest_options>();
  sound.type = QUADRAT_FLOAT64;
  sound.dimension = 3;
  sound.k = 2;
  each(sound, {}, [&](const quadrat_nearest_options& options) {
    quadrat_nearest_neighbors* nearest = nullptr;
    const int code = quadrat_nearest_neighbors_create(context, &box, &options, &nearest);
    expect_handle_or_message(code, nearest, quadrat_nearest_neighbors_destroy, [&] {
      const int built = quadrat_nearest_neighbors_build(nearest, &four_points, nullptr);
      return built != QUADRAT_OK ? built : quadrat_nearest_neighbors_search(nearest, nullptr, nullptr);
    });
  });
}

TEST_F(c_hostile_options, of_cell_lists) {
  auto sound = sized<quadrat_cell_options>();
  sound.type = QUADRAT_FLOAT64;
  sound.dimension = 3;
  sound.domain = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}};
  sound.cells[0] = sound.cells[1] = sound.cells[2] = 2;
  each(sound, {}, [&](const quadrat_cell_options& options) {
    quadrat_cell_list* cells = nullptr;
    const int code = quadrat_cell_list_create(context, &options, &cells);
    expect_handle_or_message(code, cells, quadrat_cell_list_destroy,
                             [&] { return quadrat_cell_list_build(cells, &four_points); });
  });
}

TEST_F(c_hostile_options, of_clusters_and_histograms) {
  auto sound = sized<quadrat_cluster_options>();
  sound.type = QUADRAT_FLOAT64;
  sound.dimension = 3;
  sound.cutoff = 0.1;
  each(sound, {}, [&](const quadrat_cluster_options& options) {
    quadrat_cluster_finder* finder = nullptr;
    const int code = quadrat_cluster_finder_create(context, &box, &options, &finder);
    expect_handle_or_message(code, finder, quadrat_cluster_finder_destroy,
                             [&] { return quadrat_cluster_finder_find(finder, &four_points, nullptr); });
  });
  auto counted = sized<quadrat_histogram_options>();
  counted.type = QUADRAT_FLOAT64;
  counted.dimension = 3;
  counted.cutoff = 0.1;
  each(counted, {}, [&](const quadrat_histogram_options& options) {
    quadrat_pair_histogram* histogram = nullptr;
    const int code = quadrat_pair_histogram_create(context, &options, &histogram);
    expect_handle_or_message(code, histogram, quadrat_pair_histogram_destroy, [&] {
      return quadrat_pair_histogram_add(histogram, &four_points, &box, nullptr, nullptr);
    });
  });
}

TEST_F(c_hostile_options, of_contacts) {
  auto sound = sized<quadrat_contact_options>();
  sound.type = QUADRAT_FLOAT64;
  auto bodies = sized<quadrat_bodies>();
  bodies.centers = four_points;
  bodies.radius = 0.04;
  const std::set<std::size_t> pointers{offsetof(quadrat_contact_options, domain),
                                       offsetof(quadrat_contact_options, method),
                                       offsetof(quadrat_contact_options, masks)};
  const auto use = [&](const quadrat_contact_options& options) {
    quadrat_contact_detector* detector = nullptr;
    const int code = quadrat_contact_detector_create(context, &options, &detector);
    expect_handle_or_message(code, detector, quadrat_contact_detector_destroy,
                             [&] { return quadrat_contact_detector_build(detector, &bodies); });
  };
  each(sound, pointers, use);
}

TEST_F(c_hostile_options, of_plans) {
  auto sound = sized<quadrat_spread_options>();
  sound.type = QUADRAT_FLOAT64;
  sound.dimension = 3;
  sound.domain = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}};
  sound.mesh[0] = sound.mesh[1] = sound.mesh[2] = 4;
  sound.order = 3;
  each(sound, {offsetof(quadrat_spread_options, method)}, [&](const quadrat_spread_options& options) {
    quadrat_spread_plan* plan = nullptr;
    const int code = quadrat_spread_plan_create(context, &options, &plan);
    expect_handle_or_message(code, plan, quadrat_spread_plan_destroy,
                             [&] { return quadrat_spread_plan_set_points(plan, &four_points); });
  });
  auto modes = sized<quadrat_nufft_options>();
  modes.type = QUADRAT_FLOAT64;
  modes.dimension = 1;
  modes.modes[0] = 4;
  modes.tolerance = 1e-4;
  each(modes, {offsetof(quadrat_nufft_options, method)}, [&](const quadrat_nufft_options& options) {
    quadrat_nufft_plan* plan = nullptr;
    const int code = quadrat_nufft_plan_create(context, &options, &plan);
    expect_handle_or_message(code, plan, quadrat_nufft_plan_destroy,
                             [&] { return quadrat_nufft_plan_set_points(plan, &four_points, nullptr); });
  });
  auto targets = sized<quadrat_nufft_target_options>();
  targets.type = QUADRAT_FLOAT64;
  targets.dimension = 1;
  targets.tolerance = 1e-4;
  each(targets, {offsetof(quadrat_nufft_target_options, method)}, [&](const quadrat_nufft_target_options& options) {
    quadrat_nufft_target_plan* plan = nullptr;
    const int code = quadrat_nufft_target_plan_create(context, &options, &plan);
    expect_handle_or_message(code, plan, quadrat_nufft_target_plan_destroy,
                             [&] { return quadrat_nufft_target_plan_set_points(plan, &four_points, &four_points); });
  });
}

TEST_F(c_hostile_options, of_ewald_sums_and_mobility) {
  auto sound = sized<quadrat_ewald_options>();
  sound.type = QUADRAT_FLOAT64;
  sound.accuracy = 1e-3;
  const double charges[4] = {1, -1, 1, -1};
  double energy = 0;
  auto input = sized<quadrat_ewald_input>();
  input.points = four_points;
  input.charges = charges;
  input.cells = box;
  auto output = sized<quadrat_ewald_output>();
  output.energy = &energy;
  each(sound, {offsetof(quadrat_ewald_options, method)}, [&](const quadrat_ewald_options& options) {
    quadrat_electrostatics* sums = nullptr;
    const int code = quadrat_electrostatics_create(context, &options, &sums);
    expect_handle_or_message(code, sums, quadrat_electrostatics_destroy,
                             [&] { return quadrat_electrostatics_compute(sums, &input, &output); });
  });
  auto spheres = sized<quadrat_mobility_options>();
  spheres.type = QUADRAT_FLOAT64;
  each(spheres, {offsetof(quadrat_mobility_options, method)}, [&](const quadrat_mobility_options& options) {
    quadrat_mobility* mobility = nullptr;
    const double edges[3] = {10, 10, 10};
    const int code = quadrat_mobility_create(context, edges, &options, &mobility);
    expect_handle_or_message(code, mobility, quadrat_mobility_destroy,
                             [&] { return quadrat_mobility_prepare(mobility, 4); });
  });
}

TEST_F(c_hostile_options, of_reductions_and_choices) {
  auto sound = sized<quadrat_key_reducer_options>();
  sound.key_count = 3;
  const std::uint64_t keys[2] = {0, 2};
  const quadrat_integers given{keys, 2, QUADRAT_UINT64};
  each(sound, {offsetof(quadrat_key_reducer_options, method)}, [&](const quadrat_key_reducer_options& options) {
    quadrat_key_reducer* reducer = nullptr;
    const int code = quadrat_key_reducer_create(context, &options, &reducer);
    expect_handle_or_message(code, reducer, quadrat_key_reducer_destroy,
                             [&] { return quadrat_key_reducer_set_keys(reducer, &given); });
  });
  auto load = sized<quadrat_load>();
  load.count = 1e6;
  each(load, {}, [&](const quadrat_load& options) {
    quadrat_choice* choice = nullptr;
    auto found = sized<quadrat_explanation>();
    const int code = quadrat_choice_create(context, &options, &choice);
    expect_handle_or_message(code, choice, quadrat_choice_destroy,
                             [&] { return quadrat_choice_explanation(choice, &found); });
  });
}

}  // namespace
}  // namespace quadrat::testing
