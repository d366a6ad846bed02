// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "list_support.hpp"
#include "random_neighbor_problem.hpp"

// Several cutoffs from one search: rows in order of rings, each inner list at the beginning of its rows.

namespace quadrat::test {

namespace {

template <typename T, int D>
struct rings_shape {
  using type = T;
  static constexpr int dimension = D;
};

/// The entries of the reference in order of rings, and how many of each row are within each inner cutoff.
template <typename T, int D>
[[nodiscard]] std::vector<std::uint32_t> order_by_rings(std::vector<neighbor_entry<T, D>>& entries, std::size_t rows,
                                                        const neighbor_options<T>& options) {
  const std::size_t count = options.inner_cutoffs.size();
  const auto ring_of = [&](const neighbor_entry<T, D>& entry) {
    std::size_t ring = 0;
    while (ring < count) {
      const T inner = options.inner_cutoffs[ring] + options.skin;
      if (entry.squared < inner * inner) break;
      ++ring;
    }
    return ring;
  };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const auto& a, const auto& b) { return a.i != b.i ? a.i < b.i : ring_of(a) < ring_of(b); });
  std::vector<std::uint32_t> within(rows * count, 0);
  for (const auto& entry : entries) {
    for (std::size_t k = ring_of(entry); k < count; ++k) ++within[entry.i * count + k];
  }
  return within;
}

/// The least difference of a squared distance and a squared inner cutoff, relative.
template <typename T, int D>
[[nodiscard]] bool is_near_a_ring(const std::vector<neighbor_entry<T, D>>& entries,
                                  const neighbor_options<T>& options) {
  return std::any_of(entries.begin(), entries.end(), [&](const auto& entry) {
    return std::any_of(options.inner_cutoffs.begin(), options.inner_cutoffs.end(), [&](T inner) {
      const T squared = (inner + options.skin) * (inner + options.skin);
      return std::fabs(entry.squared - squared) <= T(1e-4) * squared;
    });
  });
}

template <typename T, int D>
void check_rings(const backend_context& context, neighbor_problem<T, D> problem, const std::string& method) {
  SCOPED_TRACE(method.empty() ? "method chosen" : "method " + method);
  auto wanted = reference::neighbor_list(problem);
  const std::size_t rows = problem.queries ? problem.queries->size() : problem.points.size();
  if (problem.options.layout == neighbor_layout::matrix && problem.options.width == 0) {
    problem.options.width = widest_row(wanted.entries, rows) + 1;
  }
  if (!same_bits && (wanted.margin < 16 || is_near_a_ring(wanted.entries, problem.options))) return;
  const auto within = order_by_rings(wanted.entries, rows, problem.options);
  problem.options.method = method;
  if (!serves(method, problem)) return;
  const neighbor_input_on_device<T, D> stored(context, problem);
  neighbor_list<backend_context, T, D> list(context, problem.options);
  list.build(stored.input());
  EXPECT_EQ(to_host(context, list.view().within, within.size()), within);
  problem.options.sorted = true;  // inner cutoffs ask for it
  expect_same(bring_home(context, list), wanted.entries, problem);
}

}  // namespace

template <typename Shape>
class list_of_rings : public backend_test {};
using rings_shapes =
    testing::Types<rings_shape<float, 2>, rings_shape<float, 3>, rings_shape<double, 2>, rings_shape<double, 3>>;
TYPED_TEST_SUITE(list_of_rings, rings_shapes);

TYPED_TEST(list_of_rings, agrees_with_brute_force_over_random_searches) {
  using T = typename TypeParam::type;
  const backend_context context;
  const std::uint64_t searches = size_or(60, 8);
  for (std::uint64_t seed = 0; seed < searches; ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    auto problem = neighbor_problem_maker<T, TypeParam::dimension>(seed + 7000).make();
    const T cutoff = problem.options.cutoff;
    problem.options.inner_cutoffs = {cutoff * T(0.3), cutoff * T(0.5), cutoff * T(0.8)};
    problem.options.inner_cutoffs.resize(1 + seed % 3);
    check_rings(context, problem, "");
    for (const std::string& method : methods_here()) check_rings(context, problem, method);
    if (this->HasFailure()) return;
  }
}

class list_of_rings_state : public backend_test {};

TEST_F(list_of_rings_state, pairs_at_exactly_an_inner_cutoff_are_beyond_it) {
  const backend_context context;
  problem3 problem = some_problem(true, 1, 0);
  for (int k = 0; k < 512; ++k) {
    problem.points.push_back(
        {0.25f * static_cast<float>(k % 8), 0.25f * static_cast<float>(k / 8 % 8), 0.25f * static_cast<float>(k / 64)});
  }
  problem.options.cutoff = 0.625f;
  problem.options.inner_cutoffs = {0.25f, 0.5f};
  for (const std::string& method : methods_here()) check_rings(context, problem, method);
  problem.options.pairs = neighbor_pairs::half;
  check_rings(context, problem, "");
}

/// The lists of the inner cutoffs, each built alone.
TEST_F(list_of_rings_state, holds_the_lists_of_its_inner_cutoffs) {
  const backend_context context;
  problem3 problem = some_problem(true, 9, size_or(2000, 400));
  problem.options.inner_cutoffs = {0.1f, 0.2f, 0.35f};
  const neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  list.build(stored.input());
  const std::size_t rows = problem.points.size();
  const auto offsets = to_host(context, list.view().offsets, rows + 1);
  const auto neighbors = to_host(context, list.view().neighbors, list.size());
  const auto within = to_host(context, list.view().within, 3 * rows);
  for (std::size_t k = 0; k < 3; ++k) {
    problem3 alone = problem;
    alone.options.cutoff = problem.options.inner_cutoffs[k];
    alone.options.inner_cutoffs.clear();
    list3 inner(context, alone.options);
    inner.build(stored.input());
    const auto inner_offsets = to_host(context, inner.view().offsets, rows + 1);
    const auto inner_neighbors = to_host(context, inner.view().neighbors, inner.size());
    for (std::size_t i = 0; i < rows; ++i) {
      ASSERT_EQ(within[3 * i + k], inner_offsets[i + 1] - inner_offsets[i]);
      std::vector<particle_id> mine(neighbors.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
                                    neighbors.begin() + static_cast<std::ptrdiff_t>(offsets[i] + within[3 * i + k]));
      std::sort(mine.begin(), mine.end());
      const std::vector<particle_id> theirs(
          inner_neighbors.begin() + static_cast<std::ptrdiff_t>(inner_offsets[i]),
          inner_neighbors.begin() + static_cast<std::ptrdiff_t>(inner_offsets[i + 1]));
      ASSERT_EQ(mine, theirs) << "row " << i;
    }
  }
}

TEST_F(list_of_rings_state, belongs_to_the_points_of_its_build) {
  const backend_context context;
  problem3 problem = some_problem(true, 2, 300);
  problem.options.inner_cutoffs = {0.2f, 0.3f};
  list3 list(context, problem.options);
  for (const std::size_t count : {300u, 0u, 1u, 700u, 300u}) {
    auto points = some_problem(true, count, count).points;
    problem.points = points;
    auto wanted = reference::neighbor_list(problem);
    if (!same_bits && (wanted.margin < 16 || is_near_a_ring(wanted.entries, problem.options))) continue;
    const auto within = order_by_rings(wanted.entries, count, problem.options);
    const neighbor_input_on_device<float, 3> stored(context, problem);
    list.build(stored.input());
    expect_same(bring_home(context, list), wanted.entries, problem);
    EXPECT_EQ(to_host(context, list.view().within, within.size()), within);
    list.build_async(stored.input());
    list.check();
    EXPECT_EQ(to_host(context, list.view().within, within.size()), within);
  }
  problem.options.inner_cutoffs.clear();
  list3 plain(context, problem.options);
  plain.build(neighbor_input_on_device<float, 3>(context, problem).input());
  EXPECT_EQ(plain.view().within, nullptr);
}

TEST_F(list_of_rings_state, impossible_inner_cutoffs_are_refused) {
  const backend_context context;
  const auto refusal = [&](std::vector<float> inner) {
    neighbor_options<float> options;
    options.cutoff = 1;
    options.inner_cutoffs = std::move(inner);
    return error_of<argument_error>([&] { list3(context, options); });
  };
  EXPECT_EQ(refusal({0.25f, 0.5f, 0.75f}), "no error");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& inner : {std::vector<float>{0}, {-1}, {nan}, {1}, {2}, {0.5f, 0.5f}, {0.5f, 0.25f}}) {
    expect_words(refusal(inner), {"inner cutoff", "must increase"});
  }
  expect_words(refusal({0.1f, 0.2f, 0.3f, 0.4f}), {"there are 4", "at most 3"});
}

}  // namespace quadrat::test
