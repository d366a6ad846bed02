// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "list_support.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/search/interaction.hpp"
#include "random_neighbor_problem.hpp"

/// Checks of what visits the pairs of a list and of sums over them, against the entries of a brute force.
namespace quadrat::test {

/// Counts the visits of (i, j) in a table, and adds up the squared distances.
template <typename T, int D>
struct tick_visit {
  std::size_t count;
  std::uint32_t* visits;
  T* squared;

  QUADRAT_HD void operator()(particle_id i, particle_id j, const vec<T, D>& r, T squared_distance) const {
    // A wrong separation shows as an impossible count.
    atomic_add(visits + i * count + j, squared_norm(r) == squared_distance ? 1u : 1000u);
    atomic_add(squared + i * count + j, squared_distance);
  }
};

/// A bound on the rounding of a separation.
template <typename T, int D>
[[nodiscard]] double separation_rounding(const neighbor_problem<T, D>& problem) {
  double largest = static_cast<double>(problem.options.cutoff);
  for (const auto& point : problem.points) largest += std::sqrt(static_cast<double>(squared_norm(point)));
  for (const auto& box : problem.boxes) largest += std::sqrt(static_cast<double>(squared_norm(box.origin)));
  return 64 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest;
}

/// for_each_pair(list, f) calls f for these entries, once for each, with their separations.
template <typename List, typename T, int D>
void expect_visits(const backend_context& context, List& list, const neighbor_problem<T, D>& problem,
                   const neighbor_result<T, D>& wanted) {
  const std::size_t n = problem.points.size();
  auto visits = to_device(context, std::vector<std::uint32_t>(n * n, 0));
  auto squared = to_device(context, std::vector<T>(n * n, T(0)));
  for_each_pair(list, tick_visit<T, D>{n, visits.data(), squared.data()});
  std::vector<std::uint32_t> times(n * n, 0);
  std::vector<double> sums(n * n, 0);
  for (const auto& entry : wanted.entries) {
    ++times[entry.i * n + entry.j];
    sums[entry.i * n + entry.j] += static_cast<double>(entry.squared);
  }
  const auto got = to_host(context, visits);
  const auto got_sums = to_host(context, squared);
  const double tolerance = separation_rounding(problem) * static_cast<double>(problem.options.cutoff) * 8;
  for (std::size_t k = 0; k < n * n; ++k) {
    ASSERT_EQ(got[k] % 1000, times[k]) << "pair " << k / n << ", " << k % n;
    if (same_bits) {
      ASSERT_LT(got[k], 1000u) << "pair " << k / n << ", " << k % n;
    }
    ASSERT_NEAR(static_cast<double>(got_sums[k]), sums[k], tolerance * (1 + times[k]));
  }
}

/// The sums of force(i, j, separation, squared distance) over the entries of a full list, whose energy is 1: by point,
/// and in total.
template <typename Force, typename T, int D>
void expect_interactions(const std::vector<tensor_interaction<T, D>>& got, const tensor_interaction<T, D>& total,
                         const Force& force, const neighbor_problem<T, D>& problem,
                         const neighbor_result<T, D>& wanted) {
  std::vector<tensor_interaction<double, D>> sums(problem.points.size());
  tensor_interaction<double, D> all{};
  for (const auto& entry : wanted.entries) {
    const auto term = force(entry.i, entry.j, cast<double>(entry.vector), static_cast<double>(entry.squared));
    sums[entry.i] += term;
    all += term;
  }
  const double unit = 40 * separation_rounding(problem) * (1 + static_cast<double>(problem.options.cutoff));
  ASSERT_EQ(got.size(), sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double tolerance = unit * (1 + sums[i].energy);
    ASSERT_EQ(static_cast<double>(got[i].energy), sums[i].energy) << "point " << i;
    for (int k = 0; k < D * D; ++k) {
      ASSERT_NEAR(static_cast<double>(got[i].virial[k]), sums[i].virial[k], tolerance) << "point " << i;
    }
    for (int axis = 0; axis < D; ++axis) {
      ASSERT_NEAR(static_cast<double>(got[i].force[axis]), sums[i].force[axis], tolerance) << "point " << i;
    }
  }
  EXPECT_EQ(static_cast<double>(total.energy), all.energy);
  for (int k = 0; k < D * D; ++k) {
    EXPECT_NEAR(static_cast<double>(total.virial[k]), all.virial[k], unit * (1 + all.energy)) << "component " << k;
  }
}

}  // namespace quadrat::test
