// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/ways.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <type_traits>

#include "models/granular/support.hpp"
#include "quadrat/models/granular.hpp"

// The granular model where nothing is named: the ways of the backend.

namespace quadrat::test {

namespace {

constexpr bool grains_on_cuda = std::is_same_v<backend_context, cuda_context>;

class granular_ways : public backend_test {};

[[nodiscard]] granular_options options_of_ways() {
  granular_options options;
  options.parameters.radius = 1.0 / 32;
  return options;
}

TEST_F(granular_ways, all_take_the_same_steps) {
  const points start = scattered(3000, 5);
  granular<backend_context, double> model(make_context(), options_of_ways(), start);
  auto state = model.state();
  EXPECT_EQ(state.way, model.explanation().chosen);
  points ends;
  for (const detail::granular_way& way : detail::granular_ways(grains_on_cuda)) {
    state.way = way.name;
    model.restore(state);
    EXPECT_EQ(model.options().method, way.method);
    EXPECT_EQ(model.explanation().chosen, way.name);
    model.advance(10);
    model.check();
    const points here = model.positions();
    if (ends.empty()) ends = here;
    for (std::size_t i = 0; i < here.size(); ++i) {
      ASSERT_LT(norm(here[i] - ends[i]), 1e-9) << way.name << " " << i;
    }
    EXPECT_EQ(model.state().way, way.name);
  }
}

TEST_F(granular_ways, at_canonical_the_choice_is_of_those_that_have_it) {
  granular<backend_context, float> model(make_context(determinism::canonical), options_of_ways(), scattered(500, 6));
  for (const detail::granular_way& way : detail::granular_ways(grains_on_cuda)) {
    if (way.name != model.explanation().chosen) continue;
    EXPECT_EQ(way.reproducible, determinism::canonical);
  }
  model.advance(3);
  model.check();
}

TEST_F(granular_ways, a_state_of_the_other_kind_of_device_is_taken_and_the_way_chosen_anew) {
  granular<backend_context, float> model(make_context(), options_of_ways(), scattered(500, 6));
  const std::string chosen = model.explanation().chosen;
  auto state = model.state();
  state.way = grains_on_cuda ? "sorted" : "fused";
  model.restore(state);
  EXPECT_EQ(model.explanation().chosen, chosen);
  state.way = "heaped";
  EXPECT_THROW(model.restore(state), argument_error);
}

}  // namespace

}  // namespace quadrat::test
