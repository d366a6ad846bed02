// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "list_support.hpp"
#include "pair_sums.hpp"
#include "quadrat/search/visit_list.hpp"
#include "support/random.hpp"

// Lists in strongly sheared boxes, which are searched in other vectors with the same images: every (j, S) of the box as
// given, by arithmetic with positions in double precision and nothing of the library.

namespace quadrat::test {

namespace {

/// All S, in the vectors of the box as given, whose image of b is closer to a than a distance.
template <typename T, int D, typename F>
void for_each_image_near(const lattice<T, D>& box, const vec<T, D>& a, const vec<T, D>& b, double distance, F&& f) {
  const auto vectors = make_vec<vec<double, D>, D>([&](int k) { return cast<double>(box.vectors[k]); });
  double volume = 0;
  const auto inverse = detail::reciprocal(vectors, volume);
  const vec<double, D> direct = cast<double>(b) - cast<double>(a);
  vec<int, D> first{}, last{};
  for (int k = 0; k < D; ++k) {
    if (!box.periodic[k]) continue;
    const double middle = -dot(inverse[k], direct), half = distance * norm(inverse[k]) + 1e-3;
    first[k] = static_cast<int>(std::ceil(middle - half));
    last[k] = static_cast<int>(std::floor(middle + half));
    if (first[k] > last[k]) return;
  }
  for (vec<int, D> shift = first; shift[D - 1] <= last[D - 1];) {
    vec<double, D> r = direct;
    for (int k = 0; k < D; ++k) r += shift[k] * vectors[k];
    if (norm(r) < distance) f(shift, r);
    for (int k = 0; k < D; ++k) {
      if (++shift[k] <= last[k] || k == D - 1) break;
      shift[k] = first[k];
    }
  }
}

template <int D>
[[nodiscard]] std::vector<int> name_of(std::size_t i, std::size_t j, const vec<int, D>& shift) {
  std::vector<int> name{static_cast<int>(i), static_cast<int>(j)};
  for (int k = 0; k < D; ++k) name.push_back(shift[k]);
  return name;
}

/// Whether the first component that is not 0 is positive.
template <int D>
[[nodiscard]] bool comes_first(const vec<int, D>& shift) {
  for (int k = 0; k < D; ++k) {
    if (shift[k] != 0) return shift[k] > 0;
  }
  return false;
}

template <typename T, int D>
[[nodiscard]] double largest_number(const neighbor_problem<T, D>& problem) {
  double largest = 0;
  for (const auto& point : problem.points) largest = std::max(largest, norm(cast<double>(point)));
  for (const auto& box : problem.boxes) {
    for (int k = 0; k < D; ++k) largest = std::max(largest, norm(cast<double>(box.vectors[k])));
  }
  return largest;
}

/// Of a list with shifts and vectors.
template <typename T, int D>
void expect_right_by_positions(const neighbor_list_on_host<T, D>& got, const neighbor_problem<T, D>& problem) {
  const double reach = static_cast<double>(problem.options.cutoff + problem.options.skin);
  const double rounding = 16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest_number(problem);
  std::map<std::vector<int>, vec<T, D>> listed;
  for (const auto& entry : got.entries) {
    ASSERT_TRUE(listed.emplace(name_of<D>(entry.i, entry.j, entry.shift), entry.vector).second) << describe(entry);
  }
  std::size_t found = 0;
  const std::vector<vec<T, D>>& rows = problem.queries ? *problem.queries : problem.points;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t system = problem.system_of_point.empty() ? 0 : problem.system_of_point[i];
    for (std::size_t j = 0; j < problem.points.size(); ++j) {
      if (!problem.system_of_point.empty() && problem.system_of_point[j] != system) continue;
      if (problem.options.pairs == neighbor_pairs::half && j < i) continue;
      const bool half = problem.options.pairs == neighbor_pairs::half;
      for_each_image_near<T, D>(problem.boxes[system], rows[i], problem.points[j], reach + rounding,
                                [&](const vec<int, D>& shift, const vec<double, D>& r) {
                                  if (!problem.queries && i == j && shift == vec<int, D>{}) return;
                                  if (half && i == j && !comes_first(shift)) return;
                                  const auto entry = listed.find(name_of<D>(i, j, shift));
                                  if (entry == listed.end()) {
                                    EXPECT_GT(norm(r), reach - rounding) << "missing: " << i << ", " << j;
                                    return;
                                  }
                                  ++found;
                                  EXPECT_LT(norm(r - cast<double>(entry->second)), rounding)
                                      << "the vector of " << i << ", " << j;
                                });
    }
  }
  EXPECT_EQ(found, listed.size()) << "some of these are no neighbors";
}

/// A box of a few cutoffs, each vector of which is sheared by a multiple of those before it.
template <typename T, int D>
[[nodiscard]] lattice<T, D> sheared(double by, const vec<bool, D>& periodic) {
  vec<vec<T, D>, D> vectors{};
  for (int k = 0; k < D; ++k) {
    vectors[k][k] = T(4) + T(0.5) * static_cast<T>(k);
    for (int m = 0; m < k; ++m) vectors[k] += static_cast<T>(m + k == 2 ? -0.7 * by : by) * vectors[m];
  }
  return make_lattice<T, D>(vec<T, D>::filled(T(0.5)), vectors, periodic);
}

template <typename T, int D>
void fill(neighbor_problem<T, D>& problem, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  problem.points.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const lattice<T, D>& box = problem.boxes[problem.system_of_point.empty() ? 0 : problem.system_of_point[i]];
    vec<T, D> point = box.origin;
    for (int k = 0; k < D; ++k) {
      T fraction = T(0.01) + T(0.98) * random_unit<T>(random);
      // Some points are outside.
      if (i % 3 == 0 && (box.periodic[k] || problem.options.accept_outside)) fraction += static_cast<T>(i % 5) - T(2);
      point += fraction * box.vectors[k];
    }
    problem.points.push_back(point);
  }
}

template <typename T, int D>
void expect_every_method_right(neighbor_problem<T, D> problem) {
  problem.options.cutoff = T(1.3);
  problem.options.shifts = problem.options.vectors = true;
  const backend_context context;
  for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
    if (problem.queries && pairs == neighbor_pairs::half) continue;
    for (const neighbor_layout layout : {neighbor_layout::csr, neighbor_layout::matrix}) {
      for (const bool sorted : {false, true}) {
        problem.options.pairs = pairs;
        problem.options.layout = layout;
        problem.options.width = layout == neighbor_layout::matrix ? 200 : 0;
        problem.options.sorted = sorted;
        for (const std::string& method : methods_here()) {
          SCOPED_TRACE(method);
          problem.options.method = method;
          if (!serves(method, problem)) continue;
          const neighbor_input_on_device<T, D> stored(context, problem);
          neighbor_list<backend_context, T, D> list(context, problem.options);
          list.build(stored.input());
          const auto got = bring_home(context, list);
          ASSERT_GT(got.entries.size(), problem.points.size() / 2);
          expect_right_by_positions(got, problem);
          if (sorted) {
            EXPECT_TRUE(std::is_sorted(got.entries.begin(), got.entries.end(), reference::comes_before<T, D>));
          }
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

struct count_pairs {
  template <typename T, int D>
  QUADRAT_HD interaction<T, D> operator()(particle_id, particle_id, const vec<T, D>& r, T) const {
    return {r, T(1), T(0)};
  }
};

/// That the functions of visit_list.hpp find the entries of a full list that are within the cutoff. Those at the cutoff
/// may round to either side of it.
template <typename T, int D>
void expect_visits_of(const backend_context& context, neighbor_list<backend_context, T, D>& list,
                      const std::vector<neighbor_entry<T, D>>& entries, std::size_t points) {
  constexpr double rounding = 1e-3;
  const auto cutoff = static_cast<double>(list.options().cutoff);
  array<interaction<T, D>, backend_context> sums(context, points), total(context, 1);
  accumulate_pairs(list, sums.data(), total.data(), count_pairs{});
  std::vector<vec<double, D>> wanted(points);
  std::vector<int> counts(points), doubtful(points);
  for (const auto& entry : entries) {
    const vec<double, D> r = cast<double>(entry.vector);
    if (std::fabs(norm(r) - cutoff) < rounding) ++doubtful[entry.i];
    if (norm(r) >= cutoff) continue;
    wanted[entry.i] += r;
    ++counts[entry.i];
  }
  const auto got = to_host(context, sums);
  for (std::size_t i = 0; i < points; ++i) {
    EXPECT_LE(std::abs(static_cast<int>(got[i].energy) - counts[i]), doubtful[i]) << "pairs of " << i;
    if (doubtful[i] > 0) continue;
    EXPECT_LT(norm(cast<double>(got[i].force) - wanted[i]), rounding) << "the vectors of " << i;
  }
}

constexpr double shears[] = {0.5, 1, -2.5, 7.3};

template <typename T, int D>
void expect_right_in_sheared_boxes() {
  for (const double by : shears) {
    for (int open = -1; open < D; ++open) {
      for (const bool outside : {false, true}) {
        if (open < 0 && outside) continue;
        SCOPED_TRACE(message(D, "D, sheared by ", by, ", open vector ", open, outside ? ", points outside" : ""));
        neighbor_problem<T, D> problem;
        auto periodic = vec<bool, D>::filled(true);
        if (open >= 0) periodic[open] = false;
        problem.boxes = {sheared<T, D>(by, periodic)};
        problem.options.accept_outside = outside;
        fill(problem, size_or(150, 60), static_cast<std::uint64_t>(open) + 2);
        expect_every_method_right(problem);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

/// Every method, and what visits its list. Several images of a point are within reach, its own among them.
template <typename T, int D>
void expect_small_boxes_right(neighbor_problem<T, D> problem) {
  problem.options.cutoff = T(1.9);
  problem.options.shifts = problem.options.vectors = problem.options.squared_distances = true;
  problem.options.keeps_points = true;
  const backend_context context;
  for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
    problem.options.pairs = pairs;
    const auto wanted = reference::neighbor_list(problem);
    const bool same_pairs = same_bits || wanted.margin >= 64;
    for (const auto layout : {neighbor_layout::csr, neighbor_layout::pairs, neighbor_layout::matrix}) {
      problem.options.layout = layout;
      problem.options.width = layout == neighbor_layout::matrix ? 200 : 0;
      problem.options.sorted = layout != neighbor_layout::pairs;
      for (const std::string& method : methods_here()) {
        SCOPED_TRACE(message(method, pairs == neighbor_pairs::half ? ", half" : ", full"));
        problem.options.method = method;
        if (!serves(method, problem)) continue;
        const neighbor_input_on_device<T, D> stored(context, problem);
        neighbor_list<backend_context, T, D> list(context, problem.options);
        list.build(stored.input());
        const auto got = bring_home(context, list);
        expect_right_by_positions(got, problem);
        if (same_pairs) expect_same(got, wanted.entries, problem);
        if (same_pairs) expect_visits(context, list, problem, wanted);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

/// A box of about one cutoff; its last vector is sheared.
template <typename T, int D>
[[nodiscard]] lattice<T, D> small_box(double by) {
  vec<vec<T, D>, D> vectors{};
  for (int k = 0; k < D; ++k) vectors[k][k] = T(1.75) + T(0.25) * static_cast<T>(k);
  vectors[D - 1] += static_cast<T>(by) * vectors[0];
  return make_lattice<T, D>({}, vectors, vec<bool, D>::filled(true));
}

template <typename T, int D>
void expect_right_in_a_small_box(double by) {
  SCOPED_TRACE(message(D, "D, sheared by ", by));
  neighbor_problem<T, D> problem;
  problem.boxes = {small_box<T, D>(by)};
  fill(problem, 9, 8);
  expect_small_boxes_right(problem);
}

/// Points that cross faces of either box: S follows them, with and without a rebuild.
template <typename T>
void expect_points_followed_over_faces(double by, T cutoff) {
  SCOPED_TRACE(message("sheared by ", by, ", cutoff ", cutoff));
  neighbor_problem<T, 3> problem;
  problem.boxes = {sheared<T, 3>(by, {{true, true, true}})};
  fill(problem, size_or(150, 60), 9);
  problem.options.cutoff = cutoff;
  problem.options.skin = T(0.3);
  problem.options.shifts = problem.options.vectors = problem.options.sorted = true;
  const backend_context context;
  neighbor_list<backend_context, T, 3> list(context, problem.options);
  {
    const neighbor_input_on_device<T, 3> stored(context, problem);
    list.build(stored.input());
  }
  std::mt19937_64 random(10);
  bool followed = false;
  for (int step = 0; step < 4; ++step) {
    for (auto& point : problem.points) {
      for (int k = 0; k < 3; ++k) {
        point[k] += T(0.02) * (random_unit<T>(random) - T(0.5));
        point += static_cast<T>(static_cast<int>(random() % 3) - 1) * problem.boxes[0].vectors[k];
      }
    }
    const neighbor_input_on_device<T, 3> stored(context, problem);
    followed = !list.update(stored.input()) || followed;
    // All within the cutoff are listed; those that are farther now than the skin allows are not tested.
    auto now = bring_home(context, list);
    EXPECT_TRUE(std::is_sorted(now.entries.begin(), now.entries.end(), reference::comes_before<T, 3>));
    expect_visits_of(context, list, now.entries, problem.points.size());
    std::erase_if(now.entries, [&](const auto& entry) { return norm(entry.vector) >= problem.options.cutoff; });
    neighbor_problem<T, 3> without = problem;
    without.options.skin = T(0);
    expect_right_by_positions(now, without);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_TRUE(followed);
}

}  // namespace

template <typename T>
class sheared_boxes : public backend_test {};
using sheared_boxes_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(sheared_boxes, sheared_boxes_precisions);

TYPED_TEST(sheared_boxes, list_the_images_of_the_vectors_that_are_given) {
  expect_right_in_sheared_boxes<TypeParam, 2>();
  expect_right_in_sheared_boxes<TypeParam, 3>();
}

TYPED_TEST(sheared_boxes, of_several_systems_and_of_queries) {
  using T = TypeParam;
  neighbor_problem<T, 3> problem;
  for (const double by : {0.0, 2.5, 1.0, -7.3}) problem.boxes.push_back(sheared<T, 3>(by, {{true, by != 1, true}}));
  for (std::uint32_t i = 0; i < 240; ++i) problem.system_of_point.push_back(i * 7 % 4);
  fill(problem, 240, 5);
  expect_every_method_right(problem);

  neighbor_problem<T, 3> asked;
  asked.boxes = {problem.boxes[1]};
  fill(asked, 40, 6);
  asked.queries = asked.points;
  fill(asked, 120, 7);
  expect_every_method_right(asked);
}

/// As far as shifts are mapped.
TYPED_TEST(sheared_boxes, smaller_than_two_cutoffs) {
  using T = TypeParam;
  for (const double by : {2.5, -7.3, 30.0, -300.0}) {
    expect_right_in_a_small_box<T, 2>(by);
    expect_right_in_a_small_box<T, 3>(by);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(sheared_boxes, of_several_systems_smaller_than_two_cutoffs) {
  using T = TypeParam;
  neighbor_problem<T, 3> problem;
  for (const double by : {0.0, 2.5, -7.3, -300.0}) problem.boxes.push_back(small_box<T, 3>(by));
  for (std::uint32_t i = 0; i < 24; ++i) problem.system_of_point.push_back(i * 7 % 4);
  fill(problem, 24, 11);
  expect_small_boxes_right(problem);
}

/// With the second cutoff several images of a point are within reach.
TYPED_TEST(sheared_boxes, lists_with_a_skin_follow_points_over_faces) {
  using T = TypeParam;
  for (const double by : shears) {
    for (const T cutoff : {T(1.2), T(3)}) expect_points_followed_over_faces(by, cutoff);
    if (this->HasFailure()) return;
  }
}

}  // namespace quadrat::test
