// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <quadrat/search/make_neighbor_list.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

// What list_kernel.cu and list_kernel.cpp have in common: the points, and what is summed for each over its row.

using vector3 = quadrat::vec<float, 3>;

constexpr std::size_t count = 4000;
constexpr float cutoff = 0.12f;

inline quadrat::box<float, 3> periodic_box() {
  return quadrat::make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true});
}

inline std::vector<vector3> random_points() {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<vector3> points(count);
  for (auto& point : points) point = {uniform(random), uniform(random), uniform(random)};
  return points;
}

/// The force on point i of springs that push neighbors apart: (1 - r / cutoff) away from each. Row i of the list is
/// entries offsets[i] to offsets[i + 1]; entry k is the point neighbors[k], at vectors[k] from i.
QUADRAT_HD inline vector3 force_on(const quadrat::neighbor_list_view<float, 3>& list, std::size_t i) {
  vector3 sum{};
  for (std::uint64_t k = list.offsets[i]; k < list.offsets[i + 1]; ++k) {
    const float r = std::sqrt(list.squared_distances[k]);
    sum -= ((1 - r / cutoff) / r) * list.vectors[k];
  }
  return sum;
}

/// The same force by a loop over all points.
inline vector3 force_of_all(const std::vector<vector3>& points, std::size_t i) {
  vector3 sum{};
  for (std::size_t j = 0; j < points.size(); ++j) {
    vector3 vector = points[j] - points[i];
    for (int axis = 0; axis < 3; ++axis) vector[axis] -= std::round(vector[axis]);  // to the nearest image
    const float r = quadrat::norm(vector);
    if (j != i && r < cutoff) sum -= ((1 - r / cutoff) / r) * vector;
  }
  return sum;
}

/// Compares forces with those of all points. Gives the exit status.
inline int judge(const std::vector<vector3>& points, const std::vector<vector3>& forces) {
  float largest = 0, difference = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const vector3 expected = force_of_all(points, i);
    largest = std::max(largest, quadrat::norm(expected));
    difference = std::max(difference, quadrat::norm(forces[i] - expected));
  }
  std::printf("largest force %g, largest difference %g\n", static_cast<double>(largest),
              static_cast<double>(difference));
  return largest > 1 && difference < 1e-4f ? 0 : 1;
}
