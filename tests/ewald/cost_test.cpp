// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/choice/cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ewald/crowding.hpp"
#include "ewald/domains.hpp"
#include "ewald/ewald_case.hpp"
#include "ewald/random_case.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "support/errors.hpp"

// Parameters of Ewald sums go by the constants of the device profile.

namespace quadrat::test {

namespace {

[[nodiscard]] detail::charged_system even_charges(double points) {
  const double edge = std::cbrt(points);
  detail::charged_system system{};
  system.points = system.sum_of_squares = points;
  for (int axis = 0; axis < 3; ++axis) system.vectors[axis][axis] = edge;
  return system;
}

[[nodiscard]] detail::ewald_choice choice_by(const device_profile& profile, int threads, double points,
                                             const char* method = "spme") {
  return detail::choose_ewald({method, pair_law::coulomb, 1e-4, {}, {&profile, threads}, true}, {even_charges(points)});
}

[[nodiscard]] device_profile with_factor(bool cuda, std::vector<std::string> terms, double factor) {
  device_profile profile = shipped_profile(cuda);
  for (const std::string& term : terms) profile.constants.at("ewald.sums." + term) *= factor;
  return profile;
}

TEST(ewald_costs, shipped_profiles_have_all_constants) {
  for (const bool cuda : {false, true}) {
    detail::ewald_load load{{&shipped_profile(cuda), 1}, false, 1000, 1, {even_charges(1000)}, 1};
    EXPECT_TRUE(std::isfinite(load.expected(load.work(true, 2, 100, 0))));
    EXPECT_TRUE(std::isfinite(load.expected(load.work(false, 2, 4096, 5))));
  }
}

TEST(ewald_costs, dear_pairs_shorten_the_cutoff_and_a_dear_mesh_lengthens_it) {
  for (const bool cuda : {false, true}) {
    const double usual = choice_by(shipped_profile(cuda), 1, 20000).setup.parameters.cutoff;
    // GPUs count the candidates.
    const std::string each = cuda ? "tests" : "pairs";
    const device_profile pairs = with_factor(cuda, {each, each + "_wide"}, 30);
    const device_profile mesh = with_factor(cuda, {"mesh", "mesh_wide"}, 30);
    EXPECT_LT(choice_by(pairs, 1, 20000).setup.parameters.cutoff, 0.9 * usual) << cuda;
    EXPECT_GT(choice_by(mesh, 1, 20000).setup.parameters.cutoff, 1.1 * usual) << cuda;
  }
}

TEST(ewald_costs, modes_are_summed_directly_only_where_that_is_cheap) {
  const device_profile cheap = with_factor(false, {"modes", "modes_wide"}, 1e-6);
  const device_profile dear = with_factor(false, {"modes", "modes_wide"}, 1e3);
  EXPECT_EQ(choice_by(cheap, 1, 500, "auto").setup.method, "direct");
  EXPECT_NE(choice_by(dear, 1, 500, "auto").setup.method, "direct");
}

TEST(ewald_costs, threads_divide_the_work_but_not_the_start) {
  const detail::ewald_load one{{&shipped_profile(false), 1}, true, 1e5, 1, {even_charges(1e5)}, 1};
  detail::ewald_load four = one;
  four.place.threads = 4;
  const double alone = one.expected(one.work(false, 3, 1e5, 5)), together = four.expected(four.work(false, 3, 1e5, 5));
  EXPECT_LT(together, 0.4 * alone);
  EXPECT_GT(together, 0.25 * alone);
}

[[nodiscard]] std::vector<lattice<double, 3>> cubes_of(double edge) {
  return {make_lattice(make_box(vec<double, 3>::filled(0), vec<double, 3>::filled(edge), vec<bool, 3>::filled(true)))};
}

/// In a cell with edge 1.
[[nodiscard]] std::vector<vec<double, 3>> blobs(std::size_t count, double width) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, width);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<vec<double, 3>> centers(12), points(count);
  for (auto& center : centers) center = {unit(random), unit(random), unit(random)};
  for (std::size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const double x = centers[i % 12][axis] + normal(random);
      points[i][axis] = x - std::floor(x);
    }
  }
  return points;
}

[[nodiscard]] double neighbors_there(const std::vector<vec<double, 3>>& points, double cutoff) {
  double found = 0;
  for (const auto& a : points) {
    for (const auto& b : points) {
      vec<double, 3> apart = a - b;
      for (int axis = 0; axis < 3; ++axis) apart[axis] -= std::round(apart[axis]);
      found += squared_norm(apart) < cutoff * cutoff ? 1 : 0;
    }
  }
  return found / static_cast<double>(points.size()) - 1;
}

TEST(ewald_costs, pairs_of_clusters_are_foreseen_at_all_distances) {
  for (const double width : {0.03, 0.08, 10.0}) {
    const std::vector<vec<double, 3>> points = blobs(3000, width);
    const auto boxes = detail::make_crowding_boxes<double>(cubes_of(1), 3000);
    std::vector<std::uint32_t> box;
    for (const auto& point : points) box.push_back(boxes[0].box_of(point));
    const auto measured = detail::measured_systems<double>(boxes, box, std::vector<double>(3000, 1.0));
    for (const double cutoff : {0.12, 0.25, 0.45}) {
      const double there = neighbors_there(points, cutoff);
      const double foreseen = detail::expected_neighbors(measured.systems[0], cutoff);
      EXPECT_GT(foreseen, 0.5 * there) << width << " " << cutoff;
      EXPECT_LT(foreseen, 1.6 * there) << width << " " << cutoff;
    }
  }
}

TEST(ewald_costs, cells_are_not_folded_where_a_mesh_is_larger) {
  const auto cubes = cubes_of(4);
  EXPECT_TRUE(detail::make_domains<double>(cubes, cubes, {0.5, 1, 64, false})[0].grid.folded);
  EXPECT_FALSE(detail::make_domains<double>(cubes, cubes, {0.5, 1, 64, false, 30 * 30 * 30})[0].grid.folded);
}

TEST(ewald_costs, are_explained_with_all_that_was_compared) {
  const reference::ewald_system system = testing::random_system({.points = 200}, 3);
  ewald_case<double> of;
  for (const auto& p : system.points) of.points.push_back({p[0], p[1], p[2]});
  of.charges = system.charges;
  const auto& v = system.vectors;
  of.cells = {make_lattice<double, 3>(
      {}, {vec<double, 3>{v[0][0], v[0][1], v[0][2]}, {v[1][0], v[1][1], v[1][2]}, {v[2][0], v[2][1], v[2][2]}},
      {true, true, true})};
  const cpu_context context;
  electrostatics<cpu_context, double> sums(context, {});
  expect_words(error_of<argument_error>([&] { static_cast<void>(sums.explanation()); }), {"prepared"});
  sums.prepare({points_of(of.points.data(), of.points.size()), of.charges.data(), of.cells, nullptr, {}});
  const explanation why = sums.explanation();
  ASSERT_GE(why.candidates.size(), 5U);
  EXPECT_EQ(why.chosen, why.candidates.front().method);
  EXPECT_TRUE(why.chosen.starts_with(sums.report().method)) << why.chosen;
  EXPECT_TRUE(std::ranges::is_sorted(why.candidates, {}, &candidate::milliseconds));
  for (const candidate& one : why.candidates) EXPECT_EQ(std::isinf(one.milliseconds), !one.why_not.empty());
  EXPECT_EQ(why.profile, profile_of(context).origin);
}

}  // namespace

}  // namespace quadrat::test
