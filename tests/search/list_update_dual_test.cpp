// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "lennard_jones_atoms.hpp"
#include "list_support.hpp"
#include "quadrat/core/error.hpp"
#include "random_neighbor_problem.hpp"
#include "random_walk.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// After update, rebuilt or not, a list with a skin belongs to the points given to update.

namespace quadrat::test {

namespace {

/// The vector of an entry for the present points.
template <typename T, int D>
[[nodiscard]] vec<T, D> vector_of(const neighbor_problem<T, D>& problem, const neighbor_entry<T, D>& entry) {
  const lattice<T, D>& box = problem.boxes[problem.system_of_point.empty() ? 0 : problem.system_of_point[entry.i]];
  vec<int, D> from{}, to{};
  const vec<T, D> a = box.wrap(problem.points[entry.i], from);
  const vec<T, D> b = box.wrap(problem.points[entry.j], to);
  return (b - a) + box.translation(entry.shift - from + to);
}

/// A problem in the boxes that are searched, and entries with the S of these.
template <typename T, int D>
struct searched_problem {
  explicit searched_problem(const neighbor_problem<T, D>& given) : problem(given) {
    problem.boxes = detail::searched_boxes<T, D>(given.boxes, maps);
  }
  [[nodiscard]] neighbor_entry<T, D> operator()(neighbor_entry<T, D> entry) const {
    const std::size_t system = problem.system_of_point.empty() ? 0 : problem.system_of_point[entry.i];
    if (!maps.empty()) entry.shift = maps[system].to_searched(entry.shift);
    return entry;
  }

  neighbor_problem<T, D> problem;
  std::vector<detail::shift_map<D>> maps;
};

/// Every pair within the cutoff is listed, with its S if requested, and all fields of entries are right.
template <typename T, int D>
void expect_right(const neighbor_list_on_host<T, D>& got, neighbor_problem<T, D> problem) {
  const neighbor_options<T> asked = problem.options;
  const searched_problem<T, D> searched(problem);
  problem.options.skin = T(0);
  std::map<std::vector<std::int64_t>, int> there;
  const auto key = [&](const neighbor_entry<T, D>& entry) {
    std::vector<std::int64_t> result{entry.i, entry.j};
    for (int axis = 0; asked.shifts && axis < D; ++axis) result.push_back(entry.shift[axis]);
    return result;
  };
  for (const auto& entry : got.entries) {
    ++there[key(entry)];
    if (!asked.shifts) continue;
    const vec<T, D> r = vector_of(searched.problem, searched(entry));
    const T far = asked.cutoff + T(2.01) * asked.skin;
    ASSERT_LE(squared_norm(r), far * far) << describe(entry);
    neighbor_entry<T, D> right{entry.i, entry.j, entry.shift, T(0), {}};
    if (asked.squared_distances) right.squared = squared_norm(r);
    if (asked.vectors) right.vector = r;
    ASSERT_TRUE(same_entry(entry, right, true, 1e-3)) << describe(entry) << "; expected " << describe(right);
  }
  for (const auto& [name, count] : there) ASSERT_TRUE(!asked.shifts || count == 1) << "listed twice: " << name[0];
  if (asked.sorted && asked.shifts) {
    ASSERT_TRUE(std::is_sorted(got.entries.begin(), got.entries.end(), reference::comes_before<T, D>));
  }
  for (const auto& entry : reference::neighbor_list(problem).entries) {
    ASSERT_GE(--there[key(entry)], 0) << "missing: " << describe(entry);
  }
}

/// For vectors and distances without S: each belongs to one image.
template <typename T, int D>
void expect_images(const neighbor_list_on_host<T, D>& got, const neighbor_problem<T, D>& problem) {
  if (problem.options.shifts || !problem.options.vectors) return;
  for (neighbor_entry<T, D> entry : got.entries) {
    const lattice<T, D>& box = problem.boxes[problem.system_of_point.empty() ? 0 : problem.system_of_point[entry.i]];
    const vec<T, D> rest = entry.vector - vector_of(problem, entry);
    for (int axis = 0; axis < D; ++axis) {
      if (box.periodic[axis]) entry.shift[axis] = static_cast<int>(std::lround(dot(box.inverse[axis], rest)));
    }
    neighbor_entry<T, D> right = entry;
    right.vector = vector_of(problem, entry);
    if (problem.options.squared_distances) right.squared = squared_norm(right.vector);
    ASSERT_TRUE(same_entry(entry, right, true, 1e-3)) << describe(entry) << "; expected " << describe(right);
  }
}

struct walk_counts {
  int built = 0;
  int kept = 0;
};

template <typename T, int D>
void walk(neighbor_problem<T, D> problem, std::uint64_t seed, walk_counts& counts) {
  const backend_context context;
  problem.options.skin = problem.options.cutoff * T(0.3);
  if (problem.options.layout == neighbor_layout::matrix) {
    problem.options.width = 2 * widest_row(reference::neighbor_list(problem).entries, problem.points.size()) + 50;
  }
  neighbor_input_on_device<T, D> stored(context, problem);
  neighbor_list<backend_context, T, D> list(context, problem.options);
  random_walk<T, D> points(problem, seed);
  for (int step = 0; step < 6; ++step) {
    SCOPED_TRACE(step);
    const bool built = list.update(stored.input());
    ++(built ? counts.built : counts.kept);
    const auto got = bring_home(context, list);
    if (built) expect_same(got, reference::neighbor_list(problem).entries, problem);
    expect_right(got, problem);
    expect_images(got, searched_problem<T, D>(problem).problem);
    if (testing::Test::HasFatalFailure()) return;
    points.step();
    give_points(context, stored, problem);
  }
}

template <typename T, int D>
void walk_at_random(std::uint64_t seeds) {
  walk_counts counts;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    neighbor_problem<T, D> problem = neighbor_problem_maker<T, D>(seed).make();
    if (problem.queries) continue;
    SCOPED_TRACE(message("seed ", seed, ": ", describe(problem)));
    walk(problem, seed, counts);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(counts.kept, counts.built / 4) << "lists are kept while points stay near";
  EXPECT_GT(counts.built, 0);
}

class neighbor_list_update_test : public backend_test {};

TEST_F(neighbor_list_update_test, follows_points_that_are_wrapped_at_any_step_in_any_box_and_layout) {
  walk_at_random<float, 2>(size_or(60, 15));
  walk_at_random<float, 3>(size_or(60, 15));
  walk_at_random<double, 2>(size_or(60, 15));
  walk_at_random<double, 3>(size_or(60, 15));
}

TEST_F(neighbor_list_update_test, every_method_follows) {
  for (const std::string& method : methods_here()) {
    for (const bool sorted : {false, true}) {
      SCOPED_TRACE(method);
      problem3 problem = some_problem(true, 5, 300);
      problem.options.method = method;
      problem.options.sorted = sorted;
      problem.options.vectors = problem.options.squared_distances = true;
      walk_counts counts;
      walk(problem, 6, counts);
      EXPECT_GT(counts.kept, 0);
    }
  }
}

/// Two atoms 0.49 apart, one of which leaves the box through a face and is wrapped to the opposite one.
TEST_F(neighbor_list_update_test, two_atoms_stay_as_near_as_they_are_when_one_is_wrapped) {
  const backend_context context;
  neighbor_problem<double, 3> problem;
  problem.boxes = {make_lattice<double, 3>({}, {{{{10, 0, 0}}, {{0, 10, 0}}, {{0, 0, 10}}}}, {true, true, true})};
  problem.points = {{9.5, 5, 5}, {9.99, 5, 5}};
  problem.options.cutoff = 1;
  problem.options.skin = 0.5;
  problem.options.shifts = problem.options.vectors = problem.options.squared_distances = problem.options.sorted = true;
  neighbor_input_on_device<double, 3> stored(context, problem);
  neighbor_list<backend_context, double, 3> list(context, problem.options);
  EXPECT_TRUE(list.update(stored.input()));
  problem.points = {{9.52, 5, 5}, {0.01, 5, 5}};
  give_points(context, stored, problem);
  EXPECT_FALSE(list.update(stored.input()));
  const auto entries = bring_home(context, list).entries;
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].shift, (vec<int, 3>{1, 0, 0}));
  EXPECT_EQ(entries[1].shift, (vec<int, 3>{-1, 0, 0}));
  EXPECT_NEAR(entries[0].vector[0], 0.49, 1e-12);
  EXPECT_NEAR(entries[1].squared, 0.49 * 0.49, 1e-12);
}

TEST_F(neighbor_list_update_test, lennard_jones_atoms_that_are_wrapped_each_step_keep_their_energy) {
  const backend_context context;
  lennard_jones_atoms atoms(context);
  const double before = atoms.energy_an_atom();
  double drift = 0;
  for (int step = 0; step < 200; ++step) {
    atoms.step(0.002);
    drift = std::fmax(drift, std::fabs(atoms.energy_an_atom() - before));
  }
  EXPECT_GT(atoms.wraps(), 20) << "the test wraps";
  EXPECT_GT(atoms.kept(), 100) << "the test keeps lists";
  EXPECT_LT(drift, 1e-3);
}

TEST_F(neighbor_list_update_test, points_that_can_be_in_no_list_are_named_and_leave_none) {
  for (const bool periodic : {false, true}) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      const backend_context context;
      problem3 problem = some_problem(periodic);
      problem.options.skin = 0.25f;
      neighbor_input_on_device<float, 3> stored(context, problem);
      list3 list(context, problem.options);
      EXPECT_TRUE(list.update(stored.input()));
      problem.points[17][1] = bad;
      give_points(context, stored, problem);
      expect_words(error_of<data_error>([&] { (void)list.update(stored.input()); }), {"point 17", "not finite"});
      EXPECT_THROW((void)list.view(), argument_error);
    }
  }
  const backend_context context;
  problem3 problem = some_problem(false);
  problem.points[17] = {1, 1, 1.9375f};
  problem.options.skin = 0.25f;
  neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  EXPECT_TRUE(list.update(stored.input()));
  problem.points[17][2] = 2.03125f;  // just outside the open box
  give_points(context, stored, problem);
  expect_words(error_of<data_error>([&] { (void)list.update(stored.input()); }), {"point 17", "2.03125"});
}

TEST_F(neighbor_list_update_test, input_that_is_refused_leaves_no_list_of_older_points) {
  const backend_context context;
  problem3 problem = some_problem();
  problem.options.skin = 0.25f;
  problem.options.rule = cutoff_rule::sum_of_radii;
  problem.radii.assign(problem.points.size(), 0.2f);
  const neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  EXPECT_TRUE(list.update(stored.input()));
  neighbor_input<float, 3> without = stored.input();
  without.radii = nullptr;
  EXPECT_THROW((void)list.update(without), argument_error);
  EXPECT_THROW((void)list.view(), argument_error);
  EXPECT_TRUE(list.update(stored.input()));
}

/// Builds, changes the problem, and expects the next update to rebuild for it.
template <typename Change>
void expect_noticed(problem3 problem, Change&& change) {
  const backend_context context;
  problem.options.skin = 0.25f;
  const neighbor_input_on_device<float, 3> before(context, problem);
  list3 list(context, problem.options);
  EXPECT_TRUE(list.update(before.input()));
  EXPECT_FALSE(list.update(before.input()));
  change(problem);
  const neighbor_input_on_device<float, 3> after(context, problem);
  EXPECT_TRUE(list.update(after.input()));
  expect_same(bring_home(context, list), reference::neighbor_list(problem).entries, problem);
  EXPECT_FALSE(list.update(after.input()));
}

TEST_F(neighbor_list_update_test, other_radii_types_systems_and_exclusions_are_noticed) {
  problem3 problem = some_problem();
  const std::size_t count = problem.points.size();
  problem3 spheres = problem;
  spheres.options.rule = cutoff_rule::sum_of_radii;
  spheres.radii.assign(count, 0.125f);
  expect_noticed(spheres, [](auto& p) { p.radii[40] = 0.25f; });
  problem3 typed = problem;
  typed.options.rule = cutoff_rule::table_of_types;
  typed.options.type_cutoffs = {0.25f, 0.5f, 0.5f, 0.0f};
  typed.types.assign(count, 0);
  expect_noticed(typed, [](auto& p) { p.types[40] = 1; });
  problem3 systems = problem;
  systems.boxes.push_back(systems.boxes[0]);
  systems.system_of_point.assign(count, 0);
  expect_noticed(systems, [](auto& p) { p.system_of_point[40] = 1; });
  problem3 bonded = problem;
  for (std::size_t i = 0; i <= count; ++i) bonded.excluded_offsets.push_back(i);
  for (std::size_t i = 0; i < count; ++i) bonded.excluded.push_back(static_cast<particle_id>((i + 1) % count));
  expect_noticed(bonded, [](auto& p) { p.excluded[40] = 7; });
  expect_noticed(bonded, [](auto& p) { p.excluded_offsets[40] = 39; });
  expect_noticed(bonded, [](auto& p) {
    p.excluded_offsets.clear();
    p.excluded.clear();
  });
  expect_noticed(problem, [&](auto& p) {
    p.excluded_offsets = bonded.excluded_offsets;
    p.excluded = bonded.excluded;
  });
}

TEST_F(neighbor_list_update_test, follows_a_build_that_was_asynchronous) {
  const backend_context context;
  problem3 problem = some_problem();
  problem.options.skin = 0.25f;
  problem.options.vectors = problem.options.squared_distances = true;
  neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  list.build(stored.input());
  list.reserve(60 * 59);
  list.build(stored.input());
  for (auto& point : problem.points) point[0] += 3;  // by more than a box
  give_points(context, stored, problem);
  list.build_async(stored.input());
  vec<int, 3> boxes{};
  for (auto& point : problem.points) point = problem.boxes[0].wrap(point, boxes);
  give_points(context, stored, problem);
  EXPECT_FALSE(list.update(stored.input()));
  expect_same(bring_home(context, list), reference::neighbor_list(problem).entries, problem);
}

TEST_F(neighbor_list_update_test, rebuilds_after_an_asynchronous_build_that_failed) {
  const backend_context context;
  problem3 problem = some_problem();
  problem.options.skin = 0.25f;
  problem3 broken = problem;
  broken.points[7][1] = std::numeric_limits<float>::quiet_NaN();
  const neighbor_input_on_device<float, 3> stored(context, problem), stored_broken(context, broken);
  list3 list(context, problem.options);
  list.build(stored.input());
  try {
    list.build_async(stored_broken.input());
  } catch (const data_error&) {
  }
  EXPECT_TRUE(list.update(stored.input()));
  EXPECT_FALSE(list.update(stored.input()));
  expect_same(bring_home(context, list), reference::neighbor_list(problem).entries, problem);
}

TEST_F(neighbor_list_update_test, a_stray_point_of_an_open_box_does_not_cost_a_build_each_time) {
  const backend_context context;
  problem3 problem = some_problem(false);
  problem.points[7] = {1e7f, 1, 1};
  problem.options.skin = 0.125f;
  problem.options.accept_outside = true;
  const neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  EXPECT_TRUE(list.update(stored.input()));
  EXPECT_FALSE(list.update(stored.input()));
}

TEST_F(neighbor_list_update_test, points_so_far_away_that_a_skin_is_lost_to_rounding_are_searched_again) {
  const backend_context context;
  problem3 problem = some_problem();
  problem.options.skin = 0.125f;
  for (auto& point : problem.points) point[0] += 2 * 200'000;
  neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  EXPECT_TRUE(list.update(stored.input()));
  EXPECT_TRUE(list.update(stored.input()));
  expect_same(bring_home(context, list), reference::neighbor_list(problem).entries, problem);
}

}  // namespace

}  // namespace quadrat::test
