// SPDX-License-Identifier: BSD-3-Clause
#include "program/neighbors/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace quadrat::program {
namespace {

/// The volume of a box; in two dimensions its area, in one dimension its length.
double size_of(const search_box& box, int dimension) {
  const auto &a = box.vectors[0], &b = box.vectors[1], &c = box.vectors[2];
  if (dimension == 1) return std::fabs(a[0]);
  if (dimension == 2) return std::fabs(a[0] * b[1] - a[1] * b[0]);
  const vec<double, 3> normal{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  return std::fabs(dot(normal, c));
}

std::size_t points_within(const particle_file& particles, std::size_t i, double cutoff) {
  std::size_t count = 0;
  for (std::size_t j = 0; j < particles.size(); ++j) {
    double squared = 0;
    for (int axis = 0; axis < particles.dimension; ++axis) {
      squared += std::pow(particles.at(j, axis) - particles.at(i, axis), 2);
    }
    count += squared < cutoff * cutoff && j != i ? 1 : 0;
  }
  return count;
}

}  // namespace

double expected_neighbors(const particle_file& particles, const search_box& box, double cutoff) {
  const int dimension = particles.dimension;
  if (particles.size() == 0) return 0;
  const auto count = static_cast<double>(particles.size());
  bool periodic = true;
  for (int axis = 0; axis < dimension; ++axis) periodic = periodic && box.periodic[axis];
  if (periodic) {
    const double balls[] = {2 * cutoff, std::numbers::pi * cutoff * cutoff,
                            4 * std::numbers::pi / 3 * cutoff * cutoff * cutoff};
    const double ball = balls[dimension - 1];
    const double size = size_of(box, dimension);
    return size > 0 ? count * ball / size : 0;  // the search rejects boxes without volume
  }
  constexpr std::size_t most_samples = 8;
  const std::size_t samples = std::min(most_samples, particles.size());
  double sum = 0;
  for (std::size_t k = 0; k < samples; ++k) {
    sum += static_cast<double>(points_within(particles, k * particles.size() / samples, cutoff));
  }
  return sum / static_cast<double>(samples);
}

}  // namespace quadrat::program
