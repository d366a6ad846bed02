// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "search/list_support.hpp"

// Special cases of `sweeps`: chunks too small for all candidates within reach, blocks smaller than a cell, and threads
// that share the work.

namespace quadrat::test {

namespace {

/// Every row has some hundred neighbors, in up to 27 images of the box.
problem3 crowded_problem(bool periodic) {
  problem3 problem = some_problem(periodic, 3, 900);
  problem.options.cutoff = 0.95f;
  problem.options.sorted = problem.options.shifts = false;
  return problem;
}

/// Checks every output by every way of writing.
template <typename Check>
void for_each_output(problem3 problem, Check&& check) {
  const auto with = [&](auto&& change) {
    problem3 changed = problem;
    change(changed.options);
    check(changed);
  };
  with([](auto&) {});
  with([](auto& o) { o.squared_distances = o.vectors = o.shifts = true; });
  with([](auto& o) { o.layout = neighbor_layout::pairs; });
  with([](auto& o) { o.sorted = o.shifts = true; });
  with([](auto& o) {
    o.layout = neighbor_layout::matrix;
    o.width = 600;
  });
  with([](auto& o) {
    o.layout = neighbor_layout::matrix;
    o.width = 600;
    o.vectors = true;
  });
}

}  // namespace

TEST(neighbor_sweeps_test, more_candidates_than_a_chunk_holds) {
  const cpu_context context;
  for (const bool periodic : {false, true}) {
    for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
      problem3 problem = crowded_problem(periodic);
      problem.options.pairs = pairs;
      const auto wanted = reference::neighbor_list(problem);
      ASSERT_GT(wanted.entries.size(), 100 * problem.points.size() / (pairs == neighbor_pairs::half ? 2 : 1));
      for_each_output(problem, [&](const problem3& asked) { check_method(context, asked, wanted, "sweeps"); });
    }
  }
}

/// Of candidates with radii a chunk keeps some, so that the points of a block may come to it in several parts.
TEST(neighbor_sweeps_test, more_candidates_with_radii_than_a_chunk_holds) {
  const cpu_context context;
  for (const cutoff_rule rule : {cutoff_rule::sum_of_radii, cutoff_rule::larger_radius, cutoff_rule::own_radius}) {
    for (const std::uint64_t seed : {7, 8, 9}) {
      problem3 problem = some_problem(seed == 8, seed, seed == 8 ? 600 : 1200);
      problem.options.rule = rule;
      problem.options.cutoff = 0.9f;
      problem.options.sorted = problem.options.shifts = false;
      std::mt19937_64 random(seed);
      const float largest = rule == cutoff_rule::sum_of_radii ? 0.45f : 0.9f;
      for (std::size_t i = 0; i < problem.points.size(); ++i) {
        problem.radii.push_back(i % 50 == 0 ? 0.0f : largest * (0.5f + 0.5f * random_unit<float>(random)));
      }
      const auto wanted = reference::neighbor_list(problem);
      ASSERT_GT(wanted.entries.size(), 50 * problem.points.size());
      check_method(context, problem, wanted, "sweeps");
      problem.options.shifts = true;
      check_method(context, problem, wanted, "sweeps");
    }
  }
}

TEST(neighbor_sweeps_test, boxes_smaller_than_the_cutoff_with_images_of_a_point_itself) {
  const cpu_context context;
  for (const bool tilted : {false, true}) {
    for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
      problem3 problem = some_problem(true, 5, 40);
      if (tilted) {
        problem.boxes = {make_lattice<float, 3>({}, {{{{0.9f, 0, 0}}, {{0.7f, 1.3f, 0}}, {{-0.4f, 0.9f, 0.5f}}}},
                                                vec<bool, 3>::filled(true))};
      }
      problem.options.cutoff = tilted ? 1.1f : 2.3f;
      problem.options.pairs = pairs;
      problem.options.sorted = problem.options.shifts = false;
      const auto wanted = reference::neighbor_list(problem);
      const bool own_images = std::any_of(wanted.entries.begin(), wanted.entries.end(),
                                          [](const auto& entry) { return entry.i == entry.j; });
      ASSERT_TRUE(own_images);
      for_each_output(problem, [&](problem3 asked) {
        if (asked.options.layout == neighbor_layout::matrix) {
          asked.options.width = widest_row(wanted.entries, asked.points.size());
        }
        check_method(context, asked, wanted, "sweeps");
      });
    }
  }
}

/// Most images have no candidate within reach of a block, and there are more of them than a chunk has segments.
TEST(neighbor_sweeps_test, candidates_with_radii_in_many_images_out_of_reach) {
  const cpu_context context;
  for (const cutoff_rule rule : {cutoff_rule::sum_of_radii, cutoff_rule::larger_radius, cutoff_rule::own_radius}) {
    problem3 problem = some_problem(true, 5, 12);
    problem.options.rule = rule;
    problem.options.cutoff = 7;
    problem.options.sorted = problem.options.shifts = false;
    const float largest = rule == cutoff_rule::sum_of_radii ? 3.5f : 7.0f;
    for (std::size_t i = 0; i < problem.points.size(); ++i) {
      problem.radii.push_back(largest * static_cast<float>(i) / static_cast<float>(problem.points.size() - 1));
    }
    const auto wanted = reference::neighbor_list(problem);
    ASSERT_GT(wanted.entries.size(), 10 * problem.points.size());
    for_each_output(problem, [&](problem3 asked) {
      asked.options.width = widest_row(wanted.entries, asked.points.size());
      check_method(context, asked, wanted, "sweeps");
    });
  }
}

/// More rows than blocks hold, whose blocks end at slanted faces; some points far outside of the box.
TEST(neighbor_sweeps_test, tilted_and_turned_boxes_with_many_blocks) {
  const cpu_context context;
  const vec<vec<float, 3>, 3> tilted_boxes[] = {{{{{2, 0, 0}}, {{0.8f, 2, 0}}, {{-0.6f, 0.7f, 2}}}},
                                                {{{{0, 1.6f, 1.6f}}, {{1.6f, 0, 1.6f}}, {{1.6f, 1.6f, 0}}}},
                                                {{{{2, 0, 0}}, {{6, 2, 0}}, {{-7, 5, 2}}}}};
  for (const auto& vectors : tilted_boxes) {
    for (const bool accept_outside : {false, true}) {
      problem3 problem = some_problem(true, 6, 300);
      problem.boxes = {make_lattice<float, 3>({0.5f, -3, 1}, vectors, {true, !accept_outside, true})};
      for (auto& point : problem.points) {
        const vec<float, 3> at = point;
        point = problem.boxes[0].origin;
        for (int k = 0; k < 3; ++k) point += at[k] * vectors[k];  // up to two boxes
        if (!problem.boxes[0].periodic[1] && at[1] > 1.9f) point += 500.0f * vectors[1];
      }
      problem.options.cutoff = 0.4f;
      problem.options.accept_outside = accept_outside;
      const auto wanted = reference::neighbor_list(problem);
      ASSERT_GT(wanted.entries.size(), 3 * problem.points.size());
      for_each_output(problem, [&](const problem3& asked) { check_method(context, asked, wanted, "sweeps"); });
    }
  }
}

/// From the second build on, neighbors are recorded while they are counted.
TEST(neighbor_sweeps_test, every_build_of_a_list_holds_the_pairs_of_its_own_points) {
  const cpu_context context;
  for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
    for (const neighbor_layout layout : {neighbor_layout::csr, neighbor_layout::pairs}) {
      neighbor_options<float> options;
      options.cutoff = 0.3f;
      options.pairs = pairs;
      options.layout = layout;
      options.method = "sweeps";
      list3 list(context, options);
      const auto build = [&](std::size_t count, float edge) {
        SCOPED_TRACE(message(count, " points in a part of ", edge, " of the cube"));
        problem3 problem = some_problem(false, count, count);
        for (auto& point : problem.points) point = edge * point;
        problem.options = options;
        const neighbor_input_on_device<float, 3> stored(context, problem);
        list.build(stored.input());
        expect_same(bring_home(context, list), reference::neighbor_list(problem).entries, problem);
      };
      build(300, 1);
      build(300, 1);
      build(300, 0.9f);  // more pairs than were recorded
      build(300, 0.9f);
      if (layout == neighbor_layout::csr) build(1100, 0.05f);  // rows too long to be recorded
      build(300, 1);
      build(0, 1);
      build(1, 1);
      build(250, 1);
    }
  }
}

TEST(neighbor_sweeps_test, the_order_does_not_depend_on_the_number_of_threads) {
  problem3 problem = some_problem(true, 4, 5000);
  problem.options.cutoff = 0.2f;
  problem.options.method = "sweeps";
  problem.options.sorted = false;
  std::vector<std::vector<particle_id>> found;
  for (const int threads : {1, 2, 3, 2}) {
    cpu_context::options chosen;
    chosen.threads = threads;
    chosen.reproducibility = determinism::run_to_run;
    const cpu_context context(chosen);
    const neighbor_input_on_device<float, 3> stored(context, problem);
    list3 list(context, problem.options);
    list.build(stored.input());
    found.push_back(to_host(context, list.view().neighbors, list.size()));
    EXPECT_EQ(found.back(), found.front()) << threads << " threads";
  }
}

}  // namespace quadrat::test
