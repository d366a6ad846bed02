// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/circles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "models/circles/support.hpp"
#include "models/largest_difference.hpp"
#include "reference/circles.hpp"

// Every order over every cell list, compared with a plain serial model.

namespace quadrat::test {

namespace {

template <typename T, int Dimension>
struct kind {
  using value_type = T;
  static constexpr int dimension = Dimension;
};
using kinds = testing::Types<kind<float, 2>, kind<float, 3>, kind<double, 2>, kind<double, 3>>;

template <typename Kind>
class circles_step_of : public backend_test {};
TYPED_TEST_SUITE(circles_step_of, kinds);

template <int D>
[[nodiscard]] double mean_of(const reference::circles_result<D>& found) {
  double sum = 0;
  for (const std::size_t n : found.neighbors) sum += static_cast<double>(n);
  return found.neighbors.empty() ? 0 : sum / static_cast<double>(found.neighbors.size());
}

template <int D>
[[nodiscard]] double deviation_of(const reference::circles_result<D>& found) {
  double sum = 0;
  for (const std::size_t n : found.neighbors) sum += std::pow(static_cast<double>(n) - mean_of(found), 2);
  return found.neighbors.empty() ? 0 : std::sqrt(sum / static_cast<double>(found.neighbors.size()));
}

/// The reference restarts from every state, so that rounding does not accumulate.
template <typename T, int D>
void follow(const circles_options& options, const circles_state<T, D>& from, int steps, const std::string& what) {
  circles<backend_context, T, D> simulation(make_circles_context(), options, agents<D>(from.positions.size()));
  simulation.restore(from);
  // Sums of up to some hundred terms of at most 0.2, at positions of some tens.
  const double bound = 200 * std::numeric_limits<T>::epsilon();
  for (int step = 0; step < steps; ++step) {
    const auto expected = reference::circles_step<T, D>(options.parameters, simulation.positions());
    const auto found = simulation.measure();
    const std::string where = name_of(options) + ", " + what + ", step " + std::to_string(step);
    EXPECT_NEAR(found.mean_neighbors, mean_of(expected), 1e-9) << where;
    EXPECT_NEAR(found.neighbor_deviation, deviation_of(expected), 1e-6) << where;
    simulation.advance(1);
    EXPECT_LE(largest_difference(simulation.positions(), expected.positions), bound) << where;
  }
  EXPECT_EQ(simulation.step(), from.step + static_cast<std::uint64_t>(steps));
}

template <typename T, int D>
[[nodiscard]] circles_state<T, D> state_of(const agents<D>& positions) {
  circles_state<T, D> state;
  for (const auto& position : positions) state.positions.push_back(cast<T>(position));
  return state;
}

TYPED_TEST(circles_step_of, any_order_over_any_cell_list_equals_the_reference) {
  constexpr int D = TypeParam::dimension;
  using T = typename TypeParam::value_type;
  for (const circles_form form : {circles_form::original, circles_form::sine}) {
    const circles_parameters parameters = lively(form, D == 2 ? 24.5 : 13.25);
    const auto start = circles_initial_positions<D>(parameters, size_or(700, 200), 3);
    for (const circles_options& options : all_options(parameters)) {
      follow(options, state_of<T>(start), 2, "evenly spread");
    }
  }
}

/// Many in each cell: on a GPU candidates are then processed as they come, from a list of rows of cells if these are
/// few.
TYPED_TEST(circles_step_of, crowded_agents_equal_the_reference) {
  constexpr int D = TypeParam::dimension;
  using T = typename TypeParam::value_type;
  for (const circles_form form : {circles_form::original, circles_form::sine}) {
    const circles_parameters parameters = lively(form, D == 2 ? 12 : 8.5);
    const auto start = circles_initial_positions<D>(parameters, size_or(700, 350), 4);
    for (const circles_options& options : all_options(parameters)) {
      if (options.order == circles_default_order) follow(options, state_of<T>(start), 2, "crowded");
    }
  }
}

TYPED_TEST(circles_step_of, agents_outside_are_neither_lost_nor_refused) {
  constexpr int D = TypeParam::dimension;
  using T = typename TypeParam::value_type;
  const circles_parameters parameters = lively(circles_form::sine, 10);
  agents<D> start = circles_initial_positions<D>(parameters, size_or(400, 150), 5);
  // Twice as wide as the box: most agents are outside, some beyond two faces at once.
  for (auto& position : start) position = position * 2.0;
  start[0] = vec<double, D>::filled(40);
  start[1] = vec<double, D>::filled(40.5);
  for (const circles_options& options : all_options(parameters)) follow(options, state_of<T>(start), 2, "outside");
}

TYPED_TEST(circles_step_of, agents_on_the_faces_are_inside) {
  constexpr int D = TypeParam::dimension;
  using T = typename TypeParam::value_type;
  for (const circles_form form : {circles_form::original, circles_form::sine}) {
    const circles_parameters parameters = lively(form, 7.3);
    const box<double, D> domain = circles_box<D>(parameters);
    agents<D> corners(4, domain.lower);
    for (int axis = 0; axis < D; ++axis) {
      corners[0][axis] = domain.upper(axis);
      corners[1][axis] = domain.upper(axis) - 1;
    }
    corners[3][0] = domain.upper(0);
    for (const circles_options& options : all_options(parameters)) {
      circles<backend_context, T, D> simulation(make_circles_context(), options, corners);
      follow(options, simulation.state(), 3, "corners");
    }
  }
}

TYPED_TEST(circles_step_of, agents_in_one_place_are_neighbors_that_do_not_push) {
  constexpr int D = TypeParam::dimension;
  using T = typename TypeParam::value_type;
  for (const circles_form form : {circles_form::original, circles_form::sine}) {
    const circles_parameters parameters = lively(form, 10);
    const agents<D> crowd(40, vec<double, D>::filled(1.5));
    for (const circles_options& options : all_options(parameters)) {
      circles<backend_context, T, D> simulation(make_circles_context(), options, crowd);
      EXPECT_EQ(simulation.measure().mean_neighbors, 39) << name_of(options);
      simulation.advance(3);
      for (const auto& position : simulation.positions()) EXPECT_EQ(position, (vec<T, D>::filled(T(1.5))));
    }
  }
}

TYPED_TEST(circles_step_of, one_agent_stays_and_none_is_no_trouble) {
  constexpr int D = TypeParam::dimension;
  using T = typename TypeParam::value_type;
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}}) {
    for (const circles_form form : {circles_form::original, circles_form::sine}) {
      const circles_parameters parameters = lively(form, 10);
      const agents<D> start = circles_initial_positions<D>(parameters, count, 7);
      for (const circles_options& options : all_options(parameters)) {
        circles<backend_context, T, D> simulation(make_circles_context(), options, start);
        const auto before = simulation.positions();
        simulation.advance(40);
        EXPECT_EQ(simulation.record(3).size(), 3u);
        EXPECT_EQ(simulation.positions(), before) << name_of(options);
        EXPECT_EQ(simulation.measure().mean_neighbors, 0);
        EXPECT_EQ(simulation.step(), 43u);
      }
    }
  }
}

}  // namespace

}  // namespace quadrat::test
