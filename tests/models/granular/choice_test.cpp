// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "models/granular/variants.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/granular.hpp"
#include "quadrat/tune/device_profile.hpp"

// The granular model where nothing is named: it chooses how it runs.

namespace quadrat::test {

namespace {

using chosen_grains = granular<cpu_context, float>;

[[nodiscard]] cpu_context grain_context(determinism level, int threads = 1) {
  return cpu_context({.threads = threads, .reproducibility = level});
}

[[nodiscard]] granular_options heap_options() {
  granular_options options;
  options.parameters.radius = 1.0 / 16;
  options.parameters.global_damping = 0.99;
  return options;
}
[[nodiscard]] std::vector<vec<double, 3>> grains_to_fall() {
  const granular_options options = heap_options();
  return granular_initial_positions(granular_start::uniform_random, 1500, options.parameters.radius, options.lower,
                                    options.upper);
}

[[nodiscard]] bool equal_grains(const granular_state<float>& a, const granular_state<float>& b) {
  const auto equal = [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0;
  };
  return a.step == b.step && equal(a.positions, b.positions) && equal(a.velocities, b.velocities);
}

TEST(granular_choice, every_variant_has_the_same_statistics_and_at_canonical_the_same_bits) {
  chosen_grains model(grain_context(determinism::canonical), heap_options(), grains_to_fall());
  model.advance(5);
  const auto start = model.state();
  std::vector<granular_state<float>> ends;
  std::vector<granular_statistics> statistics;
  for (const detail::granular_variant& one : detail::granular_variants(false)) {
    auto state = start;
    state.variant = one.name;
    model.restore(state);
    EXPECT_EQ(model.options().method, one.method);
    statistics.push_back(model.measure());
    model.advance(20);
    ends.push_back(model.state());
    EXPECT_EQ(ends.back().variant, one.name);
  }
  for (std::size_t k = 1; k < ends.size(); ++k) {
    EXPECT_TRUE(equal_grains(ends[0], ends[k])) << detail::granular_variants(false)[k].name;
    EXPECT_EQ(statistics[0].candidates_per_particle, statistics[k].candidates_per_particle);
    EXPECT_EQ(statistics[0].largest_cell, statistics[k].largest_cell);
  }
}

TEST(granular_choice, auto_is_no_name) {
  granular_options options = heap_options();
  chosen_grains unnamed(grain_context(determinism::run_to_run), options, grains_to_fall());
  options.method = "auto";
  chosen_grains named(grain_context(determinism::run_to_run), options, grains_to_fall());
  EXPECT_EQ(named.options().method, unnamed.options().method);
  EXPECT_EQ(named.state().variant, unnamed.state().variant);
}

TEST(granular_choice, coarser_cells_hold_a_grain_and_there_is_one_at_least) {
  for (const detail::granular_variant& one : detail::granular_variants(false)) {
    const auto cells = detail::cells_of(one, {64, 1, 2});
    EXPECT_LE(cells[0], 64);
    EXPECT_EQ(cells[1], 1);
    EXPECT_GE(cells[2], 1);
  }
}

TEST(granular_choice, expects_kept_rows_to_be_best_unless_many_grains_fly) {
  const auto best = [](double grains, double occupancy, double diameters_a_step) {
    const detail::granular_load load{grains, occupancy, detail::share_remade(diameters_a_step), 1};
    const auto times = detail::expected_granular_ms(load, shipped_profile(false));
    return detail::granular_variants(false)[static_cast<std::size_t>(std::ranges::min_element(times) - times.begin())]
        .name;
  };
  for (const double occupancy : {0.02, 1.2}) {
    EXPECT_EQ(best(30000, occupancy, 0), "listed");
    EXPECT_EQ(best(30000, occupancy, 0.001), "listed");
    EXPECT_NE(best(300000, occupancy, 1), "listed");
  }
  EXPECT_EQ(detail::share_remade(0), 0);
  EXPECT_EQ(detail::share_remade(5), 1);
}

TEST(granular_choice, on_cuda_expects_fine_cells_to_be_best_for_a_heap_and_coarse_ones_for_a_gas) {
  const auto best = [](double grains, double grains_a_cell) {
    detail::granular_load load{grains, grains_a_cell, 0, 1, true};
    load.cells = grains / grains_a_cell;
    const auto times = detail::expected_granular_ms(load, shipped_profile(true));
    return detail::granular_variants(true)[static_cast<std::size_t>(std::ranges::min_element(times) - times.begin())]
        .name;
  };
  EXPECT_EQ(best(1e6, 1.1), "fused");
  EXPECT_EQ(best(1e5, 0.1), "fused_wide");
  // The finest grid has so many cells for each grain that it is folded.
  EXPECT_EQ(best(1e6, 0.04), "counting_wide");
}

TEST(granular_choice, at_run_to_run_and_canonical_it_changes_at_a_fixed_step_and_runs_can_be_repeated) {
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    chosen_grains first(grain_context(level), heap_options(), grains_to_fall());
    auto state = first.state();
    state.step = 500;
    state.variant = "sorted";
    first.restore(state);
    first.advance(8);
    const auto middle = first.state();
    EXPECT_EQ(middle.variant, "sorted");
    first.advance(20);
    ASSERT_EQ(first.explanation().changes.size(), 1u);
    EXPECT_NE(first.explanation().changes[0].find("step 512: sorted -> "), std::string::npos);
    chosen_grains second(grain_context(level, 2), heap_options(), grains_to_fall());
    second.restore(middle);
    second.advance(7);
    second.advance(13);
    EXPECT_TRUE(equal_grains(first.state(), second.state()));
    EXPECT_EQ(first.state().variant, second.state().variant);
  }
}

TEST(granular_choice, whatever_is_named_stays) {
  granular_options method = heap_options(), cells = heap_options();
  method.method = "linked_loose";
  cells.cells = {8, 8, 8};
  for (const granular_options& options : {method, cells}) {
    chosen_grains model(grain_context(determinism::none), options, grains_to_fall());
    model.advance(150);
    EXPECT_TRUE(model.explanation().candidates.empty());
    EXPECT_TRUE(model.state().variant.empty());
  }
}

TEST(granular_choice, a_fall_whose_steps_are_timed_ends_where_it_ends_by_a_named_method) {
  granular_options named = heap_options(), tuned = heap_options();
  tuned.autotune = true;
  chosen_grains model(grain_context(determinism::none), tuned, grains_to_fall());
  named.method = "counting";
  chosen_grains fixed(grain_context(determinism::none), named, grains_to_fall());
  for (int k = 0; k < 90; ++k) model.advance(1);
  model.advance(810);
  fixed.advance(900);
  EXPECT_EQ(model.step(), 900u);
  EXPECT_EQ(model.explanation().candidates.size(), detail::granular_variants(false).size());
  const auto a = model.measure(), b = fixed.measure();
  EXPECT_NEAR(a.mean_height, b.mean_height, 0.02);
  EXPECT_NEAR(a.contacts_per_particle, b.contacts_per_particle, 0.2 * b.contacts_per_particle);
}

TEST(granular_choice, no_grains_or_one) {
  for (const std::size_t count : {0u, 1u}) {
    std::vector<vec<double, 3>> grains(count);
    chosen_grains model(grain_context(determinism::run_to_run), heap_options(), grains);
    model.advance(600);
    model.check();
    EXPECT_EQ(model.step(), 600u);
  }
}

}  // namespace

}  // namespace quadrat::test
