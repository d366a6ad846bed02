// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "list_support.hpp"
#include "random_neighbor_problem.hpp"

// Counting without a list gives the row lengths of the list.

namespace quadrat::test {

namespace {

/// The counts of a method, on the host.
template <typename T, int D>
void expect_counts(const backend_context& context, const neighbor_problem<T, D>& problem,
                   const std::vector<std::uint32_t>& wanted, std::size_t total, const std::string& method) {
  SCOPED_TRACE(method.empty() ? "method chosen" : "method " + method);
  if (!serves(method, problem)) return;
  neighbor_options<T> options = problem.options;
  options.method = method;
  const neighbor_input_on_device<T, D> stored(context, problem);
  neighbor_list<backend_context, T, D> list(context, options);
  const neighbor_counts counts = list.count(stored.input());
  ASSERT_EQ(counts.rows, wanted.size());
  EXPECT_EQ(counts.total, total);
  EXPECT_EQ(to_host(context, counts.counts, counts.rows), wanted);
}

template <typename T, int D>
void check_counts(const backend_context& context, neighbor_problem<T, D> problem) {
  const auto entries = reference::neighbor_list(problem).entries;
  std::vector<std::uint32_t> wanted(problem.queries ? problem.queries->size() : problem.points.size(), 0);
  for (const auto& entry : entries) ++wanted[entry.i];
  // A matrix too narrow for the neighbors, which counting ignores.
  if (problem.options.layout == neighbor_layout::matrix) problem.options.width = 1;
  expect_counts(context, problem, wanted, entries.size(), "");
  for (const std::string& method : methods_here()) expect_counts(context, problem, wanted, entries.size(), method);
}

template <typename T, int D>
struct counted_shape {
  using type = T;
  static constexpr int dimension = D;
};

}  // namespace

template <typename Shape>
class neighbor_count_test : public backend_test {};
using counted_shapes = testing::Types<counted_shape<float, 2>, counted_shape<float, 3>, counted_shape<double, 2>,
                                      counted_shape<double, 3>>;
TYPED_TEST_SUITE(neighbor_count_test, counted_shapes);

TYPED_TEST(neighbor_count_test, agrees_with_brute_force_over_random_searches) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (std::size_t seed = 0; seed < size_or(200, 20); ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    const auto problem = neighbor_problem_maker<T, D>(seed).make();
    // A compiler that contracts may decide differently on a pair at exactly the cutoff.
    if (!same_bits && reference::neighbor_list(problem).margin < 16) continue;
    check_counts(context, problem);
    if (this->HasFailure()) return;
  }
}

class neighbor_count : public backend_test {
 protected:
  /// Points at random in a periodic cube of edge 10, cutoff 1.
  [[nodiscard]] static problem3 points_in_a_cube(std::size_t count) {
    problem3 problem;
    problem.boxes = {cube(10, true)};
    problem.options.cutoff = 1;
    std::mt19937_64 random(7);
    for (std::size_t i = 0; i < count; ++i) {
      problem.points.push_back(make_vec<float, 3>([&](int) { return 10 * random_unit<float>(random); }));
    }
    return problem;
  }
};

TEST_F(neighbor_count, takes_no_memory_for_pairs) {
  const backend_context context;
  problem3 problem = points_in_a_cube(2000);
  problem.options.cutoff = 4.5f;  // about 750 neighbors per point
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    problem.options.method = method;
    const neighbor_input_on_device<float, 3> stored(context, problem);
    list3 list(context, problem.options);
    const std::uint64_t total = list.count(stored.input()).total;
    EXPECT_GT(total, 700 * problem.points.size());
    EXPECT_LT(list.bytes(), sizeof(particle_id) * total / 2);
  }
}

TEST_F(neighbor_count, leaves_no_list_and_disturbs_none_that_follows) {
  const backend_context context;
  for (const neighbor_layout layout : {neighbor_layout::csr, neighbor_layout::matrix}) {
    problem3 problem = points_in_a_cube(500);
    problem.options.layout = layout;
    problem.options.width = 40;
    const auto wanted = reference::neighbor_list(problem);
    const neighbor_input_on_device<float, 3> stored(context, problem);
    list3 list(context, problem.options);
    list.build(stored.input());
    EXPECT_EQ(list.count(stored.input()).total, wanted.entries.size());
    expect_words(error_of<argument_error>([&] { static_cast<void>(list.view()); }), {"nothing has been built"});
    expect_words(error_of<argument_error>([&] { list.build_async(stored.input()); }), {"build has not been called"});
    list.build(stored.input());
    expect_same(bring_home(context, list), wanted.entries, problem);
  }
}

TEST_F(neighbor_count, names_points_that_are_impossible) {
  const backend_context context;
  problem3 problem = points_in_a_cube(100);
  problem.boxes = {cube(10, false)};
  problem.points[77] = {11, 0, 0};
  const neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  expect_words(error_of<data_error>([&] { static_cast<void>(list.count(stored.input())); }), {"point 77"});
}

TEST_F(neighbor_count, of_nothing_is_nothing) {
  const backend_context context;
  problem3 problem = points_in_a_cube(0);
  const neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  const neighbor_counts counts = list.count(stored.input());
  EXPECT_EQ(counts.rows, 0u);
  EXPECT_EQ(counts.total, 0u);
}

}  // namespace quadrat::test
