// SPDX-License-Identifier: BSD-3-Clause
#include "models/circles/variants.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "models/circles/support.hpp"
#include "quadrat/models/circles.hpp"

// Circles where nothing is named: the variants of the backend.

namespace quadrat::test {

namespace {

constexpr bool variants_on_cuda = std::is_same_v<backend_context, cuda_context>;

class circles_variants : public backend_test {};

template <int D>
void expect_the_same_neighbors_by_all_variants(double width, std::size_t count) {
  circles_parameters parameters;
  parameters.width = width;
  const auto start = circles_initial_positions<D>(parameters, count, 5);
  circles<backend_context, float, D> model(make_circles_context(), {parameters}, start);
  const std::string chosen = model.explanation().chosen;
  auto state = model.state();
  EXPECT_EQ(state.variant, chosen);
  const auto neighbors = model.neighbors();
  for (const detail::circles_variant& one : detail::circles_variants(variants_on_cuda)) {
    state.variant = one.name;
    model.restore(state);
    EXPECT_EQ(model.options().order, one.order);
    EXPECT_EQ(model.options().cells_per_reach, one.cells_per_reach);
    EXPECT_EQ(model.options().cells_per_reach_x, one.cells_per_reach_x);
    EXPECT_EQ(model.explanation().chosen, one.name);
    EXPECT_EQ(model.neighbors(), neighbors) << one.name;
    EXPECT_EQ(model.state().variant, one.name);
  }
}

TEST_F(circles_variants, all_find_the_same_neighbors_of_few_and_of_many) {
  expect_the_same_neighbors_by_all_variants<2>(30, 900);
  expect_the_same_neighbors_by_all_variants<2>(4.5, 600);
  expect_the_same_neighbors_by_all_variants<3>(10, 1000);
  expect_the_same_neighbors_by_all_variants<3>(6, 3000);
}

TEST_F(circles_variants, a_state_of_the_other_kind_of_device_is_taken_and_the_variant_chosen_anew) {
  circles_parameters parameters;
  parameters.width = 30;
  const auto start = circles_initial_positions<2>(parameters, 900, 5);
  circles<backend_context, float, 2> model(make_circles_context(), {parameters}, start);
  const std::string chosen = model.explanation().chosen;
  auto state = model.state();
  state.variant = variants_on_cuda ? "hybrid_1" : "trimmed_3x3";
  model.restore(state);
  EXPECT_EQ(model.explanation().chosen, chosen);
  state.variant = "spiral";
  EXPECT_THROW(model.restore(state), argument_error);
}

TEST_F(circles_variants, no_agents_or_one) {
  for (const std::size_t count : {0u, 1u}) {
    circles_parameters parameters;
    circles<backend_context, float, 3> model(make_circles_context(), {parameters},
                                             circles_initial_positions<3>(parameters, count, 1));
    model.advance(130);
    model.check();
    EXPECT_EQ(model.step(), 130u);
  }
}

}  // namespace

}  // namespace quadrat::test
