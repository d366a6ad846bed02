// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>

#include "list_support.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/cuda_graph.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

/// In upright boxes `warps` builds a list in one launch: of up to 2048 points by each block for itself, of more
/// together.
struct box_and_size {
  double tilt;
  std::size_t points;
};

neighbor_problem<double, 3> random_problem(std::uint64_t seed, double spread, const std::string& method,
                                           const box_and_size& size = {0.5, 2000}) {
  neighbor_problem<double, 3> problem;
  std::mt19937_64 random(seed);
  problem.boxes = {make_lattice<double, 3>({}, {{{{2, 0, 0}}, {{size.tilt, 2, 0}}, {{0, 0, 2}}}}, {true, true, false})};
  for (std::size_t i = 0; i < size_or(size.points, 300); ++i) {
    vec<double, 3> point{};
    for (int axis = 0; axis < 3; ++axis) point[axis] = spread * 2 * random_unit<double>(random);
    problem.points.push_back(point);
  }
  problem.options.cutoff = 0.25;
  problem.options.sorted = problem.options.shifts = problem.options.squared_distances = true;
  problem.options.method = method;
  return problem;
}

class neighbor_list_graph_test : public backend_test {};

/// Replays that fail before one that does not: the next check reports them, once.
void expect_former_faults(const cuda_context& context, cuda_graph& graph, neighbor_list<cuda_context, double, 3>& list,
                          neighbor_input_on_device<double, 3>& stored, const neighbor_problem<double, 3>& good,
                          const neighbor_problem<double, 3>& crowd) {
  const auto replay = [&](const neighbor_problem<double, 3>& next) {
    copy_bytes(context, next.points.data(), stored.points().data(), stored.points().bytes());
    graph.launch(context);
  };
  replay(good);
  list.check();
  replay(crowd);
  replay(good);
  try {
    list.check();
    FAIL() << "no error";
  } catch (const overflow_error& problem) {
    EXPECT_EQ(problem.needed(), reference::neighbor_list(crowd).entries.size());
  }
  list.check();
  replay(crowd);
  EXPECT_THROW(list.check(), overflow_error);
  replay(good);
  list.check();
}

void expect_replays(const std::string& method, const box_and_size& size) {
  SCOPED_TRACE(method);
  const cuda_context context;
  const auto problem = random_problem(1, 1, method, size);
  if (!serves(method, problem)) return;
  neighbor_input_on_device<double, 3> stored(context, problem);
  neighbor_list<cuda_context, double, 3> list(context, problem.options);
  list.build(stored.input());
  list.reserve(3 * list.size());

  // Growing has reallocated memory; the recorded build must use the new memory.
  list.build(stored.input());
  cuda_graph graph;
  graph.capture(context, [&] { list.build_async(stored.input()); });
  for (const std::uint64_t seed : {2, 3, 4}) {
    const auto next = random_problem(seed, 1, method, size);
    copy_bytes(context, next.points.data(), stored.points().data(), stored.points().bytes());
    graph.launch(context);
    list.check();
    expect_same(bring_home(context, list), reference::neighbor_list(next).entries, next);
  }

  const auto crowd = random_problem(5, 0.1, method, size);
  copy_bytes(context, crowd.points.data(), stored.points().data(), stored.points().bytes());
  graph.launch(context);
  EXPECT_THROW(list.check(), overflow_error);
  auto broken = random_problem(6, 1, method, size);
  broken.points[77][2] = -1;
  copy_bytes(context, broken.points.data(), stored.points().data(), stored.points().bytes());
  graph.launch(context);
  for (int k = 0; k < 2; ++k) EXPECT_THROW(list.check(), data_error) << "until it is replayed again";
  expect_former_faults(context, graph, list, stored, problem, crowd);

  const auto again = random_problem(7, 1, method, size);
  copy_bytes(context, again.points.data(), stored.points().data(), stored.points().bytes());
  graph.launch(context);
  list.check();
  expect_same(bring_home(context, list), reference::neighbor_list(again).entries, again);
}

TEST_F(neighbor_list_graph_test, replays_a_build_on_points_that_have_moved) {
  for (const std::string& method : methods_here()) {
    for (const box_and_size& size : {box_and_size{0.5, 2000}, {0, 2000}, {0, 5000}}) {
      if (size.points == 2000 || method == "warps") expect_replays(method, size);
    }
  }
}

TEST_F(neighbor_list_graph_test, update_follows_a_build_that_was_replayed) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    const cuda_context context;
    auto problem = random_problem(1, 1, method);
    problem.options.skin = 0.1;
    problem.options.vectors = true;
    if (!serves(method, problem)) continue;
    neighbor_input_on_device<double, 3> stored(context, problem);
    neighbor_list<cuda_context, double, 3> list(context, problem.options);
    list.build(stored.input());
    list.reserve(3 * list.size());
    list.build(stored.input());
    cuda_graph graph;
    graph.capture(context, [&] { list.build_async(stored.input()); });
    for (const std::uint64_t seed : {2, 3}) {
      auto next = random_problem(seed, 1, method);
      next.options = problem.options;
      copy_bytes(context, next.points.data(), stored.points().data(), stored.points().bytes());
      graph.launch(context);
      for (std::size_t i = 0; i < next.points.size(); i += 3) next.points[i] += next.boxes[0].vectors[i % 2];
      copy_bytes(context, next.points.data(), stored.points().data(), stored.points().bytes());
      EXPECT_FALSE(list.update(stored.input()));
      expect_same(bring_home(context, list), reference::neighbor_list(next).entries, next);
    }
  }
}

}  // namespace

}  // namespace quadrat::test
