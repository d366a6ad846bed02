// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <quadrat/core/grid.hpp>
#include <quadrat/core/views.hpp>
#include <quadrat/search/neighborhood.hpp>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

// Shared by visitor.cu and visitor.cpp: the points, and the value computed for each from its neighbors.

constexpr std::size_t count = 100000;
constexpr float cutoff = 0.05f;

inline quadrat::box<float, 3> periodic_box() {
  return quadrat::make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true});
}

inline std::vector<quadrat::vec<float, 3>> random_points() {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<quadrat::vec<float, 3>> points(count);
  for (auto& point : points) point = {uniform(random), uniform(random), uniform(random)};
  return points;
}

/// Points per volume around point i, weighted by a smooth window: 315 / (64 pi h^9) (h^2 - r^2)^3 for r < h = cutoff
/// (Mueller, Charypar, Gross 2003, eq. 20). Can be called in kernels and on the host.
template <typename View>
QUADRAT_HD float density_at(const View& list, const quadrat::points_view<float, 3>& points, quadrat::particle_id i) {
  float sum = 0;
  quadrat::for_each_neighbor(list, points, i, cutoff,
                             [&](quadrat::particle_id, const quadrat::vec<float, 3>&, float squared_distance) {
                               const float s = 1 - squared_distance / (cutoff * cutoff);
                               sum += s * s * s;
                             });
  return sum * 315 / (64 * 3.14159265f * cutoff * cutoff * cutoff);
}

/// The mean over uniform points is their number per volume, within 0.3 percent of noise. Returns the exit status.
inline int judge(const std::vector<float>& density) {
  double sum = 0;
  for (const float d : density) sum += static_cast<double>(d);
  const double mean = sum / static_cast<double>(count);
  std::printf("density %.0f on average, of %zu points in a box of volume 1\n", mean, count);
  return std::fabs(mean / static_cast<double>(count) - 1) < 0.02 ? 0 : 1;
}
