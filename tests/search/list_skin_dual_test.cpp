// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>

#include "list_support.hpp"
#include "quadrat/core/error.hpp"

// A list with a skin knows when it must be rebuilt.

namespace quadrat::test {

namespace {

/// Moves one point of the device's copy.
void move_point(const backend_context& context, neighbor_input_on_device<float, 3>& stored, problem3& problem,
                std::size_t i, const vec<float, 3>& by) {
  problem.points[i] += by;
  copy_bytes(context, problem.points.data(), stored.points().data(), stored.points().bytes());
  context.synchronize();
}

class neighbor_list_skin_test : public backend_test {};

TEST_F(neighbor_list_skin_test, a_skin_saves_builds_until_a_point_has_moved_by_half_of_it) {
  const backend_context context;
  problem3 problem = some_problem();
  problem.options.skin = 0.25f;
  neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  EXPECT_TRUE(list.update(stored.input())) << "there is none yet";
  EXPECT_FALSE(list.update(stored.input()));
  const auto built = bring_home(context, list);
  expect_same(built, reference::neighbor_list(problem).entries, problem);
  move_point(context, stored, problem, 59, {0.12f, 0, 0});
  EXPECT_FALSE(list.update(stored.input()));
  EXPECT_EQ(bring_home(context, list).entries.size(), built.entries.size()) << "the list of the last build";
  move_point(context, stored, problem, 59, {-0.24f, 0, 0});
  EXPECT_FALSE(list.update(stored.input())) << "motion is measured from the last build";
  move_point(context, stored, problem, 59, {0, 0.06f, 0});
  EXPECT_TRUE(list.update(stored.input()));
  expect_same(bring_home(context, list), reference::neighbor_list(problem).entries, problem);
}

TEST_F(neighbor_list_skin_test, a_skin_knows_other_points_and_boxes) {
  const backend_context context;
  problem3 problem = some_problem();
  problem.options.skin = 0.25f;
  const neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  EXPECT_TRUE(list.update(stored.input()));
  problem.boxes = {cube(2.5f, true)};
  EXPECT_TRUE(list.update(stored.input())) << "another box";
  expect_same(bring_home(context, list), reference::neighbor_list(problem).entries, problem);
  problem3 more = some_problem(true, 2, 90);
  const neighbor_input_on_device<float, 3> longer(context, more);
  EXPECT_TRUE(list.update(longer.input())) << "another number of points";
  problem3 broken = more;
  broken.points[12][0] = std::numeric_limits<float>::quiet_NaN();
  const neighbor_input_on_device<float, 3> stored_broken(context, broken);
  EXPECT_THROW((void)list.update(stored_broken.input()), data_error);
  EXPECT_TRUE(list.update(longer.input())) << "after an error";
}

TEST_F(neighbor_list_skin_test, a_point_that_left_by_one_face_and_came_back_by_the_other_has_not_moved_far) {
  const backend_context context;
  problem3 problem = some_problem();
  problem.options.skin = 0.25f;
  problem.points[0] = {1.96875f, 1, 1};
  neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  EXPECT_TRUE(list.update(stored.input()));
  move_point(context, stored, problem, 0, {-1.9375f, 0, 0});  // 0.0625 beyond the face
  // Shifts belong to the last build's coordinates, so a list with shifts may be rebuilt at once.
  const bool rebuilt = list.update(stored.input());
  if (rebuilt) expect_same(bring_home(context, list), reference::neighbor_list(problem).entries, problem);
  EXPECT_FALSE(list.update(stored.input()));
}

TEST_F(neighbor_list_skin_test, update_needs_a_skin) {
  const backend_context context;
  const problem3 problem = some_problem();
  const neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  EXPECT_THROW((void)list.update(stored.input()), argument_error);
}

}  // namespace

}  // namespace quadrat::test
