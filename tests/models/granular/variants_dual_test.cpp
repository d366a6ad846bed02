// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/variants.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <type_traits>

#include "models/granular/support.hpp"
#include "quadrat/models/granular.hpp"

// The granular model where nothing is named: the variants of the backend.

namespace quadrat::test {

namespace {

constexpr bool grains_on_cuda = std::is_same_v<backend_context, cuda_context>;

class granular_variants : public backend_test {};

[[nodiscard]] granular_options options_of_variants() {
  granular_options options;
  options.parameters.radius = 1.0 / 32;
  return options;
}

TEST_F(granular_variants, all_take_the_same_steps) {
  const points start = scattered(3000, 5);
  granular<backend_context, double> model(make_context(), options_of_variants(), start);
  auto state = model.state();
  EXPECT_EQ(state.variant, model.explanation().chosen);
  points ends;
  for (const detail::granular_variant& one : detail::granular_variants(grains_on_cuda)) {
    state.variant = one.name;
    model.restore(state);
    EXPECT_EQ(model.options().method, one.method);
    EXPECT_EQ(model.explanation().chosen, one.name);
    model.advance(10);
    model.check();
    const points here = model.positions();
    if (ends.empty()) ends = here;
    for (std::size_t i = 0; i < here.size(); ++i) {
      ASSERT_LT(norm(here[i] - ends[i]), 1e-9) << one.name << " " << i;
    }
    EXPECT_EQ(model.state().variant, one.name);
  }
}

TEST_F(granular_variants, at_canonical_the_choice_is_of_those_that_have_it) {
  granular<backend_context, float> model(make_context(determinism::canonical), options_of_variants(),
                                         scattered(500, 6));
  for (const detail::granular_variant& one : detail::granular_variants(grains_on_cuda)) {
    if (one.name != model.explanation().chosen) continue;
    EXPECT_EQ(one.reproducible, determinism::canonical);
  }
  model.advance(3);
  model.check();
}

TEST_F(granular_variants, a_state_of_the_other_kind_of_device_is_taken_and_the_variant_chosen_anew) {
  granular<backend_context, float> model(make_context(), options_of_variants(), scattered(500, 6));
  const std::string chosen = model.explanation().chosen;
  auto state = model.state();
  state.variant = grains_on_cuda ? "sorted" : "fused";
  model.restore(state);
  EXPECT_EQ(model.explanation().chosen, chosen);
  state.variant = "heaped";
  EXPECT_THROW(model.restore(state), argument_error);
}

}  // namespace

}  // namespace quadrat::test
