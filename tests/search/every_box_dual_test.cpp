// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "list_support.hpp"
#include "quadrat/core/error.hpp"
#include "random_neighbor_problem.hpp"
#include "support/random.hpp"

// Tilted boxes, and those smaller than the cutoff, with sets larger than those of the random searches: more points than
// a block has, rows longer than those that are kept, more images than a word has bits for, and one list for changing
// boxes.

namespace quadrat::test {

namespace {

template <typename T>
using edges_of_box = vec<vec<T, 3>, 3>;

template <typename T>
[[nodiscard]] neighbor_problem<T, 3> problem_in(const edges_of_box<T>& edges, const vec<bool, 3>& periodic,
                                                std::size_t count, T cutoff, std::uint64_t seed) {
  neighbor_problem<T, 3> problem;
  std::mt19937_64 random(seed);
  problem.boxes = {make_lattice<T, 3>({T(0.5), T(-2), T(1)}, edges, periodic)};
  problem.options.cutoff = cutoff;
  problem.points.assign(count, problem.boxes[0].origin);
  for (auto& point : problem.points) {
    for (int k = 0; k < 3; ++k) point += (T(0.01) + T(0.98) * random_unit<T>(random)) * edges[k];
  }
  return problem;
}

/// Full and half lists, with and without what is written beside the neighbors, by every method.
template <typename T>
void expect_all_methods_agree(neighbor_problem<T, 3> problem) {
  for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
    problem.options.pairs = pairs;
    const auto wanted = reference::neighbor_list(problem);
    ASSERT_GT(wanted.entries.size(), problem.points.size());
    if (!same_bits && wanted.margin < 4) continue;  // the GPU's contraction may decide otherwise
    for (const bool plain : {true, false}) {
      problem.options.shifts = problem.options.vectors = problem.options.squared_distances = !plain;
      for (const std::string& method : methods_here()) check_method(backend_context(), problem, wanted, method);
      if (testing::Test::HasFailure()) return;
    }
  }
}

template <typename T>
[[nodiscard]] std::vector<edges_of_box<T>> tilted_boxes() {
  return {{{{{9, 0, 0}}, {{3, 8, 0}}, {{-2, 2, 7}}}},
          {{{{0, 6, 6}}, {{6, 0, 6}}, {{6, 6, 0}}}},
          {{{{2, 9, 0}}, {{8, -1, 0}}, {{1, 2, -7}}}},
          {{{{8, 0, 0}}, {{20, 8, 0}}, {{-14, 18, 8}}}}};
}

}  // namespace

template <typename T>
class every_box : public backend_test {};
using every_box_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(every_box, every_box_precisions);

TYPED_TEST(every_box, tilted_with_more_points_than_a_block_has) {
  using T = TypeParam;
  std::uint64_t seed = 1;
  for (const auto& edges : tilted_boxes<T>()) {
    for (const bool open : {false, true}) {
      SCOPED_TRACE(message("box ", seed, open ? ", open along the second vector" : ""));
      expect_all_methods_agree(problem_in<T>(edges, {{true, !open, true}}, size_or(450, 150), T(1.4), seed));
      if (this->HasFailure()) return;
    }
    ++seed;
  }
}

TYPED_TEST(every_box, rows_of_hundreds_of_neighbors) {
  using T = TypeParam;
  const std::size_t count = size_or(320, 150);
  for (const auto& edges : tilted_boxes<T>()) {
    auto problem = problem_in<T>(edges, vec<bool, 3>::filled(true), count, T(1.5), 5);
    // A crowd across a face, most of it in one place.
    for (std::size_t i = 0; i < count - 20; ++i) {
      problem.points[i] = problem.boxes[0].origin + T(i % 3) * edges[static_cast<int>(i % 3)] +
                          (i % 2 == 0 ? T(0.5) : T(0.01)) * (problem.points[i] - problem.boxes[0].origin) * T(0.1);
    }
    expect_all_methods_agree(problem);
  }
}

TYPED_TEST(every_box, smaller_than_the_cutoff_with_thousands_of_images) {
  using T = TypeParam;
  const edges_of_box<T> tiny{{{{1, 0, 0}}, {{T(0.4), T(1.25), 0}}, {{T(-0.3), T(0.5), T(0.75)}}}};
  expect_all_methods_agree(problem_in<T>(tiny, vec<bool, 3>::filled(true), 5, T(5), 6));
  const edges_of_box<T> upright{{{{1, 0, 0}}, {{0, T(1.25), 0}}, {{0, 0, T(0.75)}}}};
  expect_all_methods_agree(problem_in<T>(upright, vec<bool, 3>::filled(true), 5, T(4.6), 7));
  const edges_of_box<T> flat{{{{12, 0, 0}}, {{2, 12, 0}}, {{T(0.05), T(0.04), T(0.25)}}}};
  expect_all_methods_agree(problem_in<T>(flat, vec<bool, 3>::filled(true), 60, T(1.7), 8));
}

/// What a list keeps between builds must be that of the box: cells, and the bits of words that hold images.
TYPED_TEST(every_box, one_list_for_boxes_that_change) {
  using T = TypeParam;
  const auto tilted = tilted_boxes<T>();
  const edges_of_box<T> upright{{{{9, 0, 0}}, {{0, 8, 0}}, {{0, 0, 7}}}};
  const edges_of_box<T> tiny{{{{T(0.6), 0, 0}}, {{T(0.2), T(0.7), 0}}, {{T(0.1), T(0.1), T(0.5)}}}};
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    neighbor_options<T> options;
    options.cutoff = T(1.4);
    options.method = method;
    options.sorted = options.shifts = options.vectors = true;
    const backend_context context;
    neighbor_list<backend_context, T, 3> list(context, options);
    std::uint64_t seed = 20;
    for (const auto& edges : {upright, tilted[0], tiny, tilted[1], upright, tiny, tilted[3]}) {
      for (const std::size_t count : {std::size_t{100}, std::size_t{190}, std::size_t{128}, std::size_t{129}}) {
        auto problem =
            problem_in<T>(edges, vec<bool, 3>::filled(true), edges[0][0] < 1 ? count / 25 : count, T(1.4), ++seed);
        problem.options = options;
        const auto wanted = reference::neighbor_list(problem);
        if (!same_bits && wanted.margin < 16) continue;
        const neighbor_input_on_device<T, 3> stored(context, problem);
        list.build(stored.input());
        expect_same(bring_home(context, list), wanted.entries, problem);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(every_box, points_far_outside_of_open_axes_of_tilted_boxes) {
  using T = TypeParam;
  for (const double far : {0.0, 3.0, 1000.0}) {
    for (const auto& edges : tilted_boxes<T>()) {
      SCOPED_TRACE(far);
      auto problem = problem_in<T>(edges, {{true, true, false}}, size_or(300, 150), T(1.6), 9);
      problem.options.accept_outside = true;
      for (std::size_t i = 0; i < problem.points.size(); i += 2) {
        problem.points[i] += static_cast<T>(far) * edges[2] + T(2) * edges[0];
      }
      expect_all_methods_agree(problem);
      if (this->HasFailure()) return;
    }
  }
}

}  // namespace quadrat::test
