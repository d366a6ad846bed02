// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>

#include "mesh/papers/group_mesh_engine.hpp"
#include "mesh/papers/hybrid_mesh.hpp"
#include "mesh/sparse/single_mesh.hpp"
#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "support/errors.hpp"

// Guarantees of the methods with mesh based data structures, apart from correct sums.

namespace quadrat::test {

namespace {

class spread_sparse : public backend_test {};

/// Those of single_mesh, group_mesh, hybrid_mesh and cusparse that this backend has and that support the level.
[[nodiscard]] std::vector<std::string> sparse_methods(determinism level = determinism::none) {
  std::vector<std::string> names;
  for (const std::string& name : methods_here(level)) {
    if (name.ends_with("_mesh") || name == "cusparse") names.push_back(name);
  }
  return names;
}

TEST(spread_sparse_rule, threads_of_a_mesh_point_are_those_of_the_paper) {
  using detail::paper_compute_unit;
  EXPECT_EQ(paper_compute_unit(0), 1);
  EXPECT_EQ(paper_compute_unit(0.5), 1);
  EXPECT_EQ(paper_compute_unit(1), 1);
  EXPECT_EQ(paper_compute_unit(1.99), 1);
  EXPECT_EQ(paper_compute_unit(2), 2);
  EXPECT_EQ(paper_compute_unit(3.99), 2);
  EXPECT_EQ(paper_compute_unit(4), 4);
  EXPECT_EQ(paper_compute_unit(8), 8);
  EXPECT_EQ(paper_compute_unit(15.9), 8);
  EXPECT_EQ(paper_compute_unit(16), 16);
  EXPECT_EQ(paper_compute_unit(1e6), 16);
}

TEST(spread_sparse_rule, groups_are_as_near_to_cubes_as_their_size_and_the_mesh_allow) {
  detail::mesh_shape shape{{128, 128, 128}, {6, 6, 6}, {true, true, true}, 0};
  const auto block = [&](int size) {
    const auto grid = detail::make_group_grid(shape, size);
    return std::vector<int>(grid.block, grid.block + 3);
  };
  EXPECT_EQ(block(64), (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(block(1), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(block(7), (std::vector<int>{1, 1, 7}));
  EXPECT_EQ(block(128), (std::vector<int>{4, 4, 8}));
  shape = {{1, 512, 512}, {1, 4, 4}, {true, true, true}, 1};
  EXPECT_EQ(block(64), (std::vector<int>{1, 8, 8}));
  shape = {{1, 1, 512}, {1, 1, 4}, {true, true, true}, 2};
  EXPECT_EQ(block(64), (std::vector<int>{1, 1, 64}));
}

/// With order 1 all weights are 1, and a canonical sum is that of the values in the order of the points. Covers rows
/// sorted by a warp, in a block's shared memory, and in place.
template <typename T>
void expect_sums_in_order_of_points(std::size_t count) {
  spread_case<T, 1> it = uniform_case<T, 1>(8, count, 1);
  it.mesh[0] = 1;
  it.order = 1;
  const spread_input<T, 1> input(it);
  T sum = T(0);
  for (const T value : input.values) sum += value;
  for (const int unit : {0, 32}) {
    it.details.compute_unit = unit;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto found = run_method(context_at(determinism::canonical, 7), it, input, "single_mesh");
      EXPECT_EQ(found.mesh[0], sum) << count << " points, unit " << unit;
    }
  }
}

TEST_F(spread_sparse, canonical_sums_of_rows_of_any_length_are_in_the_order_of_points) {
  for (const std::size_t count : {0u, 1u, 2u, 33u, 128u, 200u, 257u, 1000u, 2500u, 5000u, 70'001u}) {
    if (small_sizes() && count > 5000) continue;
    expect_sums_in_order_of_points<float>(count);
    expect_sums_in_order_of_points<double>(count);
  }
}

/// Many points, so that timing could matter; short and long rows, small and large groups.
template <typename T>
void expect_same_bits_again(const std::string& method, determinism level, int extent, int group_size) {
  auto it = uniform_case<T, 3>(5, size_or(5000, 500), extent);
  it.order = 5;
  it.components = 2;
  it.details.group_size = group_size;
  it.domain.periodic[1] = false;
  it.options.clip = true;
  const spread_input<T, 3> input(it);
  const auto first = run_method(context_at(level, 1), it, input, method);
  for (const int threads : {2, 7, 7}) {
    const auto again = run_method(context_at(level, threads), it, input, method);
    EXPECT_TRUE(same_bits(first.mesh, again.mesh)) << method << ", extent " << extent << ", group " << group_size;
  }
}

TEST_F(spread_sparse, reproducible_results_do_not_depend_on_timing) {
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    for (const std::string& method : sparse_methods(level)) {
      for (const int extent : {2, 7, 30}) {
        for (const int group_size : {1, 12, 64, 1024}) {
          if (method != "group_mesh" && group_size != 64) continue;
          expect_same_bits_again<float>(method, level, extent, group_size);
          expect_same_bits_again<double>(method, level, extent, group_size);
        }
      }
    }
  }
}

/// Both reductions of a compute unit add in the same order.
TEST_F(spread_sparse, shuffles_and_shared_memory_give_the_same_bits) {
  auto it = uniform_case<float, 3>(12, 3000, 9);
  it.components = 2;
  const spread_input<float, 3> input(it);
  const auto context = context_at(determinism::run_to_run);
  for (const int unit : {1, 2, 4, 8, 16, 32}) {
    it.details.compute_unit = unit;
    it.details.reduction = detail::unit_reduction::shuffle;
    const auto shuffled = run_method(context, it, input, "single_mesh");
    it.details.reduction = detail::unit_reduction::shared_memory;
    const auto shared = run_method(context, it, input, "single_mesh");
    EXPECT_TRUE(same_bits(shuffled.mesh, shared.mesh)) << "unit " << unit;
    expect_agreement(shared, wanted_of(it, input, problem_of(it)));
  }
}

/// Rows of very different lengths: a crowd in a corner, some lone points, and empty rows.
template <typename T>
spread_case<T, 3> crowd_in_a_corner(std::size_t lone) {
  auto it = uniform_case<T, 3>(21, lone, 20);
  auto crowd = uniform_case<T, 3>(29, 500, 20);
  for (auto& point : crowd.points) {
    for (int d = 0; d < 3; ++d) point[d] = T(-1.5) + T(0.05) * (point[d] + T(1.5));
  }
  it.points.insert(it.points.end(), crowd.points.begin(), crowd.points.end());
  return it;
}

TEST_F(spread_sparse, uneven_rows_are_right) {
  for (const std::size_t lone : {0u, 3u, 2000u}) {
    const auto it = crowd_in_a_corner<double>(lone);
    const spread_input<double, 3> input(it);
    const auto wanted = wanted_of(it, input, problem_of(it));
    for (const std::string& method : sparse_methods()) {
      SCOPED_TRACE(method);
      expect_agreement(run_method(backend_context(), it, input, method), wanted);
    }
  }
}

/// Rows that a unit of threads leaves to a warp, beside others, also in the last warp.
template <typename T>
void expect_long_rows(std::size_t lone, std::size_t components) {
  auto it = crowd_in_a_corner<T>(lone);
  it.components = components;
  const spread_input<T, 3> input(it);
  const auto wanted = wanted_of(it, input, problem_of(it));
  for (const determinism level : {determinism::none, determinism::run_to_run, determinism::canonical}) {
    SCOPED_TRACE(message(lone, " lone points, ", components, " components, level ", static_cast<int>(level)));
    it.details.reduction = detail::unit_reduction::shuffle;
    const auto shuffled = run_method(context_at(level), it, input, "single_mesh");
    expect_agreement(shuffled, wanted);
    it.details.reduction = detail::unit_reduction::shared_memory;
    const auto shared = run_method(context_at(level), it, input, "single_mesh");
    expect_agreement(shared, wanted);
    if (level == determinism::none) continue;
    EXPECT_TRUE(same_bits(shuffled.mesh, shared.mesh));
  }
}

TEST_F(spread_sparse, long_rows_are_right_by_both_reductions) {
  for (const std::size_t lone : {0u, 2000u, 8000u}) {
    expect_long_rows<float>(lone, 1);
    expect_long_rows<float>(lone, 2);
    expect_long_rows<double>(lone, 2);
  }
}

/// A line of mesh points, most without points, some with as many as decide who adds them up: a thread, a warp, a block.
template <typename T>
[[nodiscard]] spread_case<T, 1> rows_of_many_lengths() {
  constexpr int nodes = 20'011;
  std::vector<int> lengths{1, 31, 32, 33, 34, 127, 128, 129, 256, 257, 4095, 4096, 4097, 9001};
  lengths.insert(lengths.end(), 90, 40);
  auto it = uniform_case<T, 1>(31, 0, nodes);
  it.order = 1;
  it.mesh[0] = nodes;
  const T spacing = it.domain.length[0] / T(nodes);
  int node = 3;
  for (const int length : lengths) {
    const T x = it.domain.lower[0] + (T(node) + T(0.25)) * spacing;
    it.points.insert(it.points.end(), static_cast<std::size_t>(length), vec<T, 1>{x});
    node += length % 3 == 0 ? 1 : 211;
  }
  std::mt19937_64 random(5);
  std::ranges::shuffle(it.points, random);
  return it;
}

template <typename T>
void expect_rows_of_many_lengths(std::size_t components) {
  auto it = rows_of_many_lengths<T>();
  it.components = components;
  const spread_input<T, 1> input(it);
  const auto wanted = wanted_of(it, input, problem_of(it));
  for (const determinism level : {determinism::none, determinism::run_to_run, determinism::canonical}) {
    for (const auto reduction : {detail::unit_reduction::shuffle, detail::unit_reduction::shared_memory}) {
      SCOPED_TRACE(message(components, " components, level ", static_cast<int>(level)));
      it.details.reduction = reduction;
      const auto found = run_method(context_at(level, 3), it, input, "single_mesh");
      // A thread adds up thousands of values one after another.
      EXPECT_LE(relative_error(found.mesh, wanted.mesh), 10 * spread_tolerance<T>);
      if (level == determinism::none) continue;
      EXPECT_TRUE(same_bits(found.mesh, run_method(context_at(level, 7), it, input, "single_mesh").mesh));
    }
  }
}

TEST_F(spread_sparse, rows_of_many_lengths_are_right_beside_each_other) {
  expect_rows_of_many_lengths<float>(1);
  expect_rows_of_many_lengths<double>(2);
}

/// The long rows of earlier points are forgotten.
TEST_F(spread_sparse, a_plan_that_had_long_rows_is_right_without_them_and_with_others) {
  const backend_context context;
  auto it = rows_of_many_lengths<double>();
  auto plan = make_plan(context, it, "single_mesh", it.order);
  const std::vector<vec<double, 1>> all = it.points;
  for (const std::size_t count : {all.size(), std::size_t{100}, all.size() / 2, all.size()}) {
    it.points.assign(all.end() - static_cast<std::ptrdiff_t>(count), all.end());
    for (auto& point : it.points) point[0] += 1e-4 * static_cast<double>(count);
    const spread_input<double, 1> input(it);
    set_points(context, plan, it);
    const auto found = run_plan(context, plan, it, input);
    EXPECT_LE(relative_error(found.mesh, wanted_of(it, input, problem_of(it)).mesh), 10 * spread_tolerance<double>);
  }
}

TEST_F(spread_sparse, points_that_are_clipped_altogether_leave_zeros) {
  auto it = uniform_case<float, 2>(3, 300, 12);
  it.domain.periodic = vec<bool, 2>::filled(false);
  it.options.clip = true;
  it.options.accept_outside = true;
  for (auto& point : it.points) point[0] += 100;
  const spread_input<float, 2> input(it);
  for (const determinism level : {determinism::none, determinism::run_to_run, determinism::canonical}) {
    for (const std::string& method : sparse_methods(level)) {
      const auto found = run_method(context_at(level), it, input, method);
      EXPECT_TRUE(std::all_of(found.mesh.begin(), found.mesh.end(), [](float sum) { return sum == 0; })) << method;
    }
  }
}

template <typename Engine>
[[nodiscard]] std::size_t needed_by(determinism level, std::size_t count, int extent) {
  detail::spread_setup<float> setup{
      {{extent, extent, extent}, {6, 6, 6}, {true, true, true}, 0}, bspline_window<float>(6), {}};
  return Engine(context_at(level), setup).bytes_needed(count);
}

TEST_F(spread_sparse, the_bytes_that_plans_hold_are_those_that_were_foretold) {
  const std::size_t count = size_or(20'000, 4000);
  auto it = uniform_case<float, 3>(6, count, 24);
  it.order = 6;
  it.mesh[0] = 24;
  using single = detail::single_mesh_engine<backend_context, float>;
  using group = detail::group_mesh_engine<backend_context, float>;
  using hybrid = detail::hybrid_mesh_engine<backend_context, float>;
  const auto held = [&](const std::string& method, determinism level) {
    auto plan = make_plan(context_at(level), it, method, it.order);
    set_points(context_at(level), plan, it);
    return static_cast<double>(plan.bytes());
  };
  // If only the number of contributions matters, they agree except for the scratch memory.
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    const auto foretold = static_cast<double>(needed_by<single>(level, count, 24));
    EXPECT_LE(held("single_mesh", level), foretold);
    EXPECT_GE(held("single_mesh", level), 0.95 * foretold - 100'000);
  }
  const auto grouped = static_cast<double>(needed_by<group>(determinism::none, count, 24));
  EXPECT_LE(held("group_mesh", determinism::none), grouped);
  EXPECT_GE(held("group_mesh", determinism::none), 0.95 * grouped - 100'000);
  EXPECT_LE(held("group_mesh", determinism::run_to_run),
            static_cast<double>(needed_by<group>(determinism::run_to_run, count, 24)));
  EXPECT_LE(held("hybrid_mesh", determinism::none),
            static_cast<double>(needed_by<hybrid>(determinism::none, count, 24)));
}

TEST_F(spread_sparse, contributions_past_32_bits_are_counted) {
  using single = detail::single_mesh_engine<backend_context, float>;
  using group = detail::group_mesh_engine<backend_context, float>;
  using hybrid = detail::hybrid_mesh_engine<backend_context, float>;
  constexpr std::size_t count = 40'000'000, contributions = count * 216;
  EXPECT_GT(needed_by<single>(determinism::none, count, 128), contributions * 8);
  EXPECT_LT(needed_by<single>(determinism::none, count, 128), contributions * 9);
  EXPECT_GT(needed_by<group>(determinism::none, count, 128), contributions * 10);
  EXPECT_LT(needed_by<group>(determinism::none, count, 128), contributions * 11);
  EXPECT_GT(needed_by<hybrid>(determinism::none, count, 128), contributions * 8);
  // All of them on a few mesh points: more than a row's counter holds.
  EXPECT_THROW(static_cast<void>(needed_by<single>(determinism::none, count, 1)), argument_error);
  EXPECT_GT(needed_by<group>(determinism::none, count, 1), contributions * 10);
}

TEST_F(spread_sparse, too_much_memory_is_refused_with_what_it_would_be) {
  auto it = uniform_case<float, 3>(6, 5000, 10);
  it.order = 6;
  it.options.most_bytes = 5'000'000;
  for (const std::string& method : sparse_methods()) {
    auto plan = make_plan(backend_context(), it, method, it.order);
    const std::string text = error_of<argument_error>([&] { set_points(backend_context(), plan, it); });
    for (const std::string& word : {method, std::string("bytes"), std::string("5000000")}) {
      EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
    }
    EXPECT_LT(plan.bytes(), std::size_t{100'000});
  }
}

}  // namespace

}  // namespace quadrat::test
