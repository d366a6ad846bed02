// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "distributed/small_system.hpp"
#include "quadrat/distributed/mobility.hpp"

// The mobility of spheres over the ranks of a communicator, compared with one rank within rounding.

namespace quadrat::test {

template <typename T>
struct spheres_of_ranks {
  grid<T, 3> space{};
  std::vector<vec<T, 3>> points{};
  mobility_options options{};

  spheres_of_ranks(const vec<T, 3>& length, const vec<int, 3>& cells, std::size_t count, double accuracy) {
    std::mt19937_64 random(count);
    space = make_grid(make_box_from_lengths<T, 3>({}, length, vec<bool, 3>::filled(true)), cells);
    for (std::size_t i = 0; i < count; ++i) {
      auto& point = points.emplace_back();
      for (int axis = 0; axis < 3; ++axis) point[axis] = length[axis] * random_unit<T>(random);
    }
    options.method = "split";
    options.accuracy = accuracy;
    options.radius = 1.1;
    options.viscosity = 0.7;
  }
};

/// What one object gives: a product, noise, and both at once.
template <typename T>
struct velocities_of_spheres {
  std::vector<vec<T, 3>> product{}, noise{}, both{};
  mobility_report report{};
};

template <typename T, typename Mobility>
[[nodiscard]] velocities_of_spheres<T> velocities_by(const backend_context& context, Mobility& flow,
                                                     const std::vector<vec<T, 3>>& forces) {
  const auto given = to_device(context, forces);
  array<vec<T, 3>, backend_context> result(context, forces.size());
  velocities_of_spheres<T> all;
  flow.multiply(given.data(), result.data());
  all.product = to_host(context, result);
  flow.square_root({7, 11, 0.8}, result.data());
  all.noise = to_host(context, result);
  flow.velocities(given.data(), {7, 12, 1.5}, result.data());
  all.both = to_host(context, result);
  all.report = flow.report();
  return all;
}

template <typename T>
void expect_velocities(const std::vector<vec<T, 3>>& found, const std::vector<vec<T, 3>>& all,
                       const std::vector<std::uint32_t>& own, double tolerance, const std::string& what) {
  double scale = 0;
  for (const auto& one : all) scale = std::max(scale, static_cast<double>(norm(one)));
  expect(scale > 0 || all.empty(), what, " is 0");
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double off = static_cast<double>(norm(found[i] - all[own[i]]));
    expect(off <= tolerance * scale, what, " of sphere ", own[i], " is off by ", off, " of ", scale);
  }
}

/// For the points of `set`, and after they have moved by nearly half of the skin.
template <typename T>
void check_spheres_of(communicator& ranks, const spheres_of_ranks<T>& system, const decomposition<3>& shares,
                      const std::string& name, T skin = T(0)) {
  const backend_context context = context_of_rank(determinism::run_to_run);
  const std::size_t count = system.points.size();
  distributed_mobility<backend_context, T> flow(context, ranks, system.space, system.options, count);
  mobility<backend_context, T> alone(context, system.space.domain.length, system.options);
  alone.prepare(count);
  std::vector<particle_id> own;
  std::vector<vec<T, 3>> forces, all = system.points;
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < count; ++i) {
    const int owner = shares.view().owner(system.space.unfolded_cell_of(system.points[i]));
    if (owner == ranks.rank()) own.push_back(static_cast<particle_id>(i));
    forces.push_back(make_vec<T, 3>([&](int) { return random_unit<T>(random) - T(0.5); }));
  }
  const auto ids = to_device(context, own);
  auto points = to_device(context, chosen(all, own));
  flow.set(shares, points_of(points), ids.data(), skin);
  expect(flow.own() == own.size(), name, ": ", flow.own(), " spheres are own");
  for (int round = 0; round < (skin > T(0) ? 2 : 1); ++round) {
    flow.set_points(points_of(points));
    const auto there = to_device(context, all);
    alone.set_points(points_of(there));
    const auto found = velocities_by<T>(context, flow, chosen(forces, own));
    const auto expected = velocities_by<T>(context, alone, forces);
    expect(found.report.parameters.modes == expected.report.parameters.modes &&
               found.report.iterations == expected.report.iterations,
           name, ": ranks take ", found.report.iterations, " iterations, one takes ", expected.report.iterations);
    expect(std::fabs(found.report.neighbors - expected.report.neighbors) < 1e-9 * (1 + expected.report.neighbors), name,
           ": spheres have ", found.report.neighbors, " neighbors; on one rank ", expected.report.neighbors);
    const double tolerance = sizeof(T) == 4 ? 2e-4 : 1e-11;
    expect_velocities(found.product, expected.product, own, tolerance, name + ": the product");
    expect_velocities(found.noise, expected.noise, own, tolerance, name + ": the noise");
    expect_velocities(found.both, expected.both, own, tolerance, name + ": the velocity");
    for (auto& point : all) {
      for (int axis = 0; axis < 3; ++axis) point[axis] += T(0.49) * skin * (2 * random_unit<T>(random) - 1);
      if (random() % 2 == 0) point = system.space.domain.wrap(point);
    }
    points = to_device(context, chosen(all, own));
  }
}

inline void check_suspension(communicator& ranks, std::size_t count) {
  const spheres_of_ranks<double> liquid({14, 11, 12}, {7, 5, 6}, count, 1e-3);
  check_spheres_of(ranks, liquid, even_decomposition(liquid.space, ranks.size()), "a suspension", 0.8);
}

/// Boxes thinner than two cutoffs, skins, empty ranks, crowds, one sphere.
inline void check_spheres(communicator& ranks, std::size_t most) {
  const int size = ranks.size();
  check_suspension(ranks, most);
  const spheres_of_ranks<float> single({14, 11, 12}, {7, 5, 6}, most, 1e-3);
  check_spheres_of(ranks, single, random_decomposition(single.space, size, 7), "a suspension in float", 1.0f);
  const spheres_of_ranks<double> rod({40, 5, 5}, {24, 1, 2}, most / 2, 1e-2);
  check_spheres_of(ranks, rod, random_decomposition(rod.space, size, 5), "a rod", 0.3);
  spheres_of_ranks<double> corner({20, 20, 20}, {8, 8, 8}, 40, 1e-2);
  for (auto& point : corner.points) point = point * 0.15;
  check_spheres_of(ranks, corner, even_decomposition(corner.space, size), "a crowded corner");
  const spheres_of_ranks<double> one({6, 7, 8}, {3, 3, 4}, 1, 1e-4);
  check_spheres_of(ranks, one, even_decomposition(one.space, size), "one sphere", 0.5);
}

}  // namespace quadrat::test
