// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "distributed/small_system.hpp"
#include "quadrat/distributed/electrostatics.hpp"

// Ewald sums over the ranks of a communicator, compared with one rank that takes the same parameters.

namespace quadrat::test {

template <typename T>
struct charges_of_ranks {
  grid<T, 3> space{};
  std::vector<vec<T, 3>> points{};
  std::vector<T> charges{};
  electrostatics_options options{};

  /// `net`: the sum of the charges, about. `slab`: open along the last axis.
  charges_of_ranks(const vec<T, 3>& length, const vec<int, 3>& cells, std::size_t count, std::uint64_t seed,
                   T net = T(0), bool slab = false) {
    std::mt19937_64 random(seed);
    space = make_grid(make_box_from_lengths<T, 3>({-1, 2, 0.5}, length, {true, true, !slab}), cells);
    for (std::size_t i = 0; i < count; ++i) {
      auto& point = points.emplace_back();
      for (int axis = 0; axis < 3; ++axis) {
        point[axis] = space.domain.lower[axis] + length[axis] * random_unit<T>(random);
      }
      charges.push_back((i % 2 == 0 ? T(1) : T(-1)) * (T(0.5) + random_unit<T>(random)) + net / static_cast<T>(count));
    }
    options.coulomb_constant = 1.5;
    options.accuracy = sizeof(T) == 4 ? 1e-4 : 1e-6;
  }
};

template <typename T>
struct sums_of_charges {
  std::vector<vec<T, 3>> forces{};
  std::vector<T> potentials{}, energies{};
  double energy = 0;
  std::vector<double> virial{};
};

/// What `compute` gives for that many points.
template <typename T, typename Compute>
[[nodiscard]] sums_of_charges<T> sums_by(const backend_context& context, std::size_t count, const Compute& compute) {
  array<vec<T, 3>, backend_context> forces(context, count);
  array<T, backend_context> potentials(context, count), energies(context, count);
  array<double, backend_context> energy(context, 1), virial(context, 9);
  electrostatics_output<T> output;
  output.forces = forces.data();
  output.potentials = potentials.data();
  output.energies = energies.data();
  output.energy = energy.data();
  output.virial = virial.data();
  compute(output);
  return {to_host(context, forces), to_host(context, potentials), to_host(context, energies),
          to_host(context, energy)[0], to_host(context, virial)};
}

template <typename T>
[[nodiscard]] sums_of_charges<T> sums_alone(const charges_of_ranks<T>& system, const std::vector<vec<T, 3>>& points,
                                            const electrostatics_report& report) {
  const backend_context context = context_of_rank(determinism::run_to_run);
  electrostatics_options options = system.options;
  options.method = report.method;
  options.parameters = report.parameters;
  electrostatics<backend_context, T> alone(context, options);
  const auto all = to_device(context, points);
  const auto charges = to_device(context, system.charges);
  const lattice<T, 3> cell = make_lattice(system.space.domain);
  electrostatics_input<T> input;
  input.points = points_of(all);
  input.charges = charges.data();
  input.cells = {&cell, 1};
  return sums_by<T>(context, points.size(),
                    [&](const electrostatics_output<T>& output) { alone.compute(input, output); });
}

/// Values of own charges against those of one rank, within `tolerance` of the largest one.
template <typename T>
void expect_own(const std::vector<T>& found, const std::vector<T>& all, const std::vector<std::uint32_t>& own,
                double tolerance, const std::string& what) {
  double scale = 0;
  for (const T& one : all) scale = std::max(scale, std::fabs(static_cast<double>(one)));
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double off = std::fabs(static_cast<double>(found[i]) - static_cast<double>(all[own[i]]));
    expect(off <= tolerance * scale, what, " of charge ", own[i], " is off by ", off, " of ", scale);
  }
}

template <typename T>
[[nodiscard]] std::vector<T> component_of_each(const std::vector<vec<T, 3>>& values, int axis) {
  std::vector<T> result;
  for (const auto& value : values) result.push_back(value[axis]);
  return result;
}

template <typename T>
void expect_sums_of_one_rank(const sums_of_charges<T>& found, const sums_of_charges<T>& all,
                             const std::vector<std::uint32_t>& own, const std::string& name) {
  const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-11;
  for (int axis = 0; axis < 3; ++axis) {
    expect_own(component_of_each(found.forces, axis), component_of_each(all.forces, axis), own, tolerance,
               name + ": the force");
  }
  expect_own(found.potentials, all.potentials, own, tolerance, name + ": the potential");
  expect_own(found.energies, all.energies, own, tolerance, name + ": the energy");
  double scale = 1e-300;
  for (const T one : all.energies) scale += std::fabs(static_cast<double>(one));
  expect(std::fabs(found.energy - all.energy) <= tolerance * scale, name, ": the energy is ", found.energy,
         "; one rank has ", all.energy);
  for (std::size_t k = 0; k < 9; ++k) {
    expect(std::fabs(found.virial[k] - all.virial[k]) <= 10 * tolerance * scale, name, ": number ", k,
           " of the virial is ", found.virial[k], "; one rank has ", all.virial[k]);
  }
}

/// For the points of `set`, and after they have moved by nearly half of the skin, over the faces of the box and of
/// blocks.
template <typename T>
void check_charges_of(communicator& ranks, const charges_of_ranks<T>& system, const decomposition<3>& shares,
                      const std::string& name, T skin = T(0)) {
  const backend_context context = context_of_rank(determinism::run_to_run);
  distributed_electrostatics<backend_context, T> sums(context, ranks, system.space, system.options);
  std::vector<std::uint32_t> own;
  for (std::size_t i = 0; i < system.points.size(); ++i) {
    const int owner = shares.view().owner(system.space.unfolded_cell_of(system.points[i]));
    if (owner == ranks.rank()) own.push_back(static_cast<std::uint32_t>(i));
  }
  const auto charges = to_device(context, chosen(system.charges, own));
  auto points = to_device(context, chosen(system.points, own));
  sums.set(shares, points_of(points), charges.data(), skin);
  expect(sums.own() == own.size(), name, ": ", sums.own(), " charges are own");
  std::vector<vec<T, 3>> all = system.points;
  std::mt19937_64 random(3);
  for (int round = 0; round < (skin > T(0) ? 2 : 1); ++round) {
    const auto found = sums_by<T>(
        context, own.size(), [&](const electrostatics_output<T>& output) { sums.compute(points_of(points), output); });
    expect_sums_of_one_rank(found, sums_alone(system, all, sums.report()), own, name);
    for (auto& point : all) {
      for (int axis = 0; axis < 3; ++axis) {
        const T moved = point[axis] + T(0.49) * skin * (2 * random_unit<T>(random) - 1);
        const box<T, 3>& domain = system.space.domain;
        const bool leaves = moved < domain.lower[axis] || !(moved < domain.lower[axis] + domain.length[axis]);
        if (domain.periodic[axis] || !leaves) point[axis] = moved;
      }
      // Wrapped or not.
      if (random() % 2 == 0) point = system.space.domain.wrap(point);
    }
    points = to_device(context, chosen(all, own));
  }
}

/// Both methods and laws; boxes thinner than two cutoffs, net charges, skins, empty ranks.
inline void check_charges(communicator& ranks, std::size_t most) {
  const int size = ranks.size();
  charges_of_ranks<double> liquid({6, 5, 7}, {6, 5, 7}, most, 1);
  check_charges_of(ranks, liquid, even_decomposition(liquid.space, size), "a liquid", 0.3);
  liquid.options.method = "esp";
  check_charges_of(ranks, liquid, even_decomposition(liquid.space, size), "a liquid by esp", 0.3);
  charges_of_ranks<float> single({6, 5, 7}, {6, 5, 7}, most, 2, 3.0f);
  single.options.remove_net_force = true;
  check_charges_of(ranks, single, random_decomposition(single.space, size, 7), "a net charge in float", 0.4f);
  charges_of_ranks<double> rod({30, 2, 2}, {24, 1, 2}, most / 2, 3, 2.0);
  rod.options.remove_net_force = true;
  rod.options.method = "spme";
  check_charges_of(ranks, rod, random_decomposition(rod.space, size, 5), "a rod");
  charges_of_ranks<double> attraction({5, 6, 4}, {5, 6, 4}, most / 2, 4);
  attraction.options.law = pair_law::dispersion;
  attraction.options.accuracy = 1e-4;
  check_charges_of(ranks, attraction, even_decomposition(attraction.space, size), "dispersion", 0.2);
  for (const ewald_parts part : {ewald_parts::short_range, ewald_parts::long_range}) {
    charges_of_ranks<double> parts({6, 5, 7}, {3, 5, 4}, most / 2, 6);
    parts.options.parts = part;
    check_charges_of(ranks, parts, random_decomposition(parts.space, size, 11), "a part of the sum");
  }
  charges_of_ranks<double> slab({6, 5, 4}, {6, 5, 4}, most, 9, 4.0, true);
  check_charges_of(ranks, slab, even_decomposition(slab.space, size), "a slab with a net charge", 0.3);
  charges_of_ranks<float> wide({5, 6, 3}, {5, 2, 7}, most / 2, 10, 0.0f, true);
  wide.options.method = "esp";
  check_charges_of(ranks, wide, random_decomposition(wide.space, size, 12), "a slab by esp", 0.2f);
  // A cutoff that reaches across the room between the images of a slab.
  charges_of_ranks<double> few({4, 4, 20}, {2, 2, 10}, 60, 11, 1.0, true);
  few.options.accuracy = 0.05;
  few.options.method = "spme";
  few.options.parameters = {7, 0.6, {16, 16, 90}, 6};
  check_charges_of(ranks, few, even_decomposition(few.space, size), "a slab within the cutoff of its image");
  charges_of_ranks<double> corner({8, 8, 8}, {8, 8, 8}, 40, 8);
  for (auto& point : corner.points) point = corner.space.domain.lower + (point - corner.space.domain.lower) * 0.1;
  check_charges_of(ranks, corner, even_decomposition(corner.space, size), "a corner");
}

}  // namespace quadrat::test
