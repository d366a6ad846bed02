// SPDX-License-Identifier: BSD-3-Clause
#include "models/circles/ways.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "models/circles/support.hpp"
#include "quadrat/models/circles.hpp"

// Circles where nothing is named: the ways of the backend.

namespace quadrat::test {

namespace {

constexpr bool ways_on_cuda = std::is_same_v<backend_context, cuda_context>;

class circles_ways : public backend_test {};

template <int D>
void expect_the_same_neighbors_by_all_ways(double width, std::size_t count) {
  circles_parameters parameters;
  parameters.width = width;
  const auto start = circles_initial_positions<D>(parameters, count, 5);
  circles<backend_context, float, D> model(make_circles_context(), {parameters}, start);
  const std::string chosen = model.explanation().chosen;
  auto state = model.state();
  EXPECT_EQ(state.way, chosen);
  const auto neighbors = model.neighbors();
  for (const detail::circles_way& way : detail::circles_ways(ways_on_cuda)) {
    state.way = way.name;
    model.restore(state);
    EXPECT_EQ(model.options().order, way.order);
    EXPECT_EQ(model.options().cells_per_reach, way.cells_per_reach);
    EXPECT_EQ(model.options().cells_per_reach_x, way.cells_per_reach_x);
    EXPECT_EQ(model.explanation().chosen, way.name);
    EXPECT_EQ(model.neighbors(), neighbors) << way.name;
    EXPECT_EQ(model.state().way, way.name);
  }
}

TEST_F(circles_ways, all_find_the_same_neighbors_of_few_and_of_many) {
  expect_the_same_neighbors_by_all_ways<2>(30, 900);
  expect_the_same_neighbors_by_all_ways<2>(4.5, 600);
  expect_the_same_neighbors_by_all_ways<3>(10, 1000);
  expect_the_same_neighbors_by_all_ways<3>(6, 3000);
}

TEST_F(circles_ways, a_state_of_the_other_kind_of_device_is_taken_and_the_way_chosen_anew) {
  circles_parameters parameters;
  parameters.width = 30;
  const auto start = circles_initial_positions<2>(parameters, 900, 5);
  circles<backend_context, float, 2> model(make_circles_context(), {parameters}, start);
  const std::string chosen = model.explanation().chosen;
  auto state = model.state();
  state.way = ways_on_cuda ? "hybrid_1" : "trimmed_3x3";
  model.restore(state);
  EXPECT_EQ(model.explanation().chosen, chosen);
  state.way = "spiral";
  EXPECT_THROW(model.restore(state), argument_error);
}

TEST_F(circles_ways, no_agents_or_one) {
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
