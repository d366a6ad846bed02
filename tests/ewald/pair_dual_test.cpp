// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ewald/ewald_case.hpp"
#include "quadrat/search/make_neighbor_list.hpp"
#include "quadrat/search/visit_list.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

// The short-range part over a neighbor list, by the functor that the sums give.

namespace quadrat::test {

namespace {

class ewald_pair_test : public backend_test {};

/// Force and potential, for unit charge at i.
template <typename T>
struct pair_sum {
  vec<T, 3> field{};
  T potential{};

  QUADRAT_HD pair_sum& operator+=(const pair_sum& other) {
    field += other.field;
    potential += other.potential;
    return *this;
  }
};

template <typename T>
struct pair_of_charges {
  ewald_pair<T> pair;
  const T* charges;

  QUADRAT_HD pair_sum<T> operator()(particle_id, particle_id j, const vec<T, 3>& r, T squared_distance) const {
    const auto term = pair.at(squared_distance);
    return {(2 * charges[j] * term.slope) * r, charges[j] * term.energy};
  }
};

ewald_case<double> charges_in_a_skewed_cell(std::size_t points) {
  std::mt19937_64 random(7);
  const double edge = std::cbrt(static_cast<double>(points));
  ewald_case<double> of;
  of.cells = {cell_of({edge, 0, 0}, {0.3 * edge, 1.1 * edge, 0}, {-0.2 * edge, 0.1 * edge, 0.9 * edge}, false)};
  for (std::size_t i = 0; i < points; ++i) {
    vec<double, 3> point = of.cells[0].origin;
    for (int axis = 0; axis < 3; ++axis) point += random_unit<double>(random) * of.cells[0].vectors[axis];
    of.points.push_back(point);
    of.charges.push_back(i % 2 == 0 ? 1 : -1);
  }
  return of;
}

TEST_F(ewald_pair_test, a_sum_over_a_list_is_the_short_range_part) {
  const backend_context context;
  const ewald_case<double> of = charges_in_a_skewed_cell(300);
  const auto points = to_device(context, of.points);
  const auto charges = to_device(context, of.charges);
  for (const auto& [method, law] : {std::pair{"spme", pair_law::coulomb}, std::pair{"esp", pair_law::coulomb},
                                    std::pair{"spme", pair_law::dispersion}}) {
    electrostatics_options options;
    options.method = method;
    options.law = law;
    options.accuracy = 1e-4;
    options.coulomb_constant = 2.5;
    options.parts = ewald_parts::short_range;
    electrostatics<backend_context, double> sums(context, options);
    EXPECT_THROW(static_cast<void>(sums.pair()), argument_error);
    array<vec<double, 3>, backend_context> forces(context, of.points.size());
    array<double, backend_context> potentials(context, of.points.size());
    sums.compute({points_of(points.data(), points.size()), charges.data(), of.cells, nullptr, {}},
                 {forces.data(), potentials.data(), nullptr, nullptr, nullptr});
    const ewald_pair<double> pair = sums.pair();
    auto list =
        make_neighbor_list(context, of.cells[0], {.cutoff = pair.cutoff(), .shifts = true, .keeps_points = true});
    list.build(points_of(points.data(), points.size()));
    array<pair_sum<double>, backend_context> found(context, of.points.size());
    accumulate_neighbors(list, found.data(), pair_of_charges<double>{pair, charges.data()});
    const auto by_list = to_host(context, found);
    const auto wanted = to_host(context, forces);
    const auto wanted_potentials = to_host(context, potentials);
    for (std::size_t i = 0; i < by_list.size(); ++i) {
      EXPECT_LT(norm(of.charges[i] * by_list[i].field - wanted[i]), 1e-9 * (1 + norm(wanted[i]))) << method << " " << i;
      EXPECT_NEAR(by_list[i].potential, wanted_potentials[i], 1e-9 * (1 + std::fabs(wanted_potentials[i]))) << method;
    }
    EXPECT_EQ(pair.at(pair.cutoff() * pair.cutoff()).energy, 0);
    EXPECT_EQ(pair.at(1e30).slope, 0);
  }
}

/// The same of points 2 k and 2 k + 1 is scaled.
template <typename T>
struct pair_of_scaled_charges {
  ewald_pair<T> pair;
  const T* charges;
  T scale;

  QUADRAT_HD pair_sum<T> operator()(particle_id i, particle_id j, const vec<T, 3>& r, T squared_distance) const {
    const auto term = i / 2 == j / 2 ? pair.at(squared_distance, scale) : pair.at(squared_distance);
    return {(2 * charges[j] * term.slope) * r, charges[j] * term.energy};
  }
};

TEST_F(ewald_pair_test, scaled_pairs_in_a_sum_over_a_list_are_those_of_the_short_range_part) {
  const backend_context context;
  ewald_case<double> of = charges_in_a_skewed_cell(300);
  std::vector<scaled_pair> scaled;
  for (particle_id i = 0; i < of.points.size(); i += 2) {  // close pairs
    of.points[i + 1] = of.points[i] + vec<double, 3>{0.05 + 0.001 * i, 0.02, -0.03};
    scaled.push_back({i, i + 1, 0});
  }
  const auto points = to_device(context, of.points);
  const auto charges = to_device(context, of.charges);
  for (const double scale : {0.0, 0.5}) {
    for (scaled_pair& pair : scaled) pair.scale = scale;
    electrostatics_options options;
    options.accuracy = 1e-4;
    options.coulomb_constant = 2.5;
    options.parts = ewald_parts::short_range;
    electrostatics<backend_context, double> sums(context, options);
    array<vec<double, 3>, backend_context> forces(context, of.points.size());
    array<double, backend_context> potentials(context, of.points.size());
    sums.compute({points_of(points.data(), points.size()), charges.data(), of.cells, nullptr, scaled},
                 {forces.data(), potentials.data(), nullptr, nullptr, nullptr});
    auto list = make_neighbor_list(context, of.cells[0],
                                   {.cutoff = sums.pair().cutoff(), .shifts = true, .keeps_points = true});
    list.build(points_of(points.data(), points.size()));
    array<pair_sum<double>, backend_context> found(context, of.points.size());
    accumulate_neighbors(list, found.data(), pair_of_scaled_charges<double>{sums.pair(), charges.data(), scale});
    const auto by_list = to_host(context, found);
    const auto wanted = to_host(context, forces);
    const auto wanted_potentials = to_host(context, potentials);
    for (std::size_t i = 0; i < by_list.size(); ++i) {
      EXPECT_LT(norm(of.charges[i] * by_list[i].field - wanted[i]), 1e-9 * (1 + norm(wanted[i]))) << scale << " " << i;
      EXPECT_NEAR(by_list[i].potential, wanted_potentials[i], 1e-9 * (1 + std::fabs(wanted_potentials[i]))) << scale;
    }
  }
}

TEST_F(ewald_pair_test, scaled_pairs_have_no_jump_at_the_cutoff_and_are_finite_at_distance_0) {
  const backend_context context;
  const ewald_case<double> of = charges_in_a_skewed_cell(300);
  const auto points = to_device(context, of.points);
  const auto charges = to_device(context, of.charges);
  electrostatics<backend_context, double> sums(context, {.accuracy = 1e-4, .coulomb_constant = 2.5});
  sums.prepare({points_of(points.data(), points.size()), charges.data(), of.cells, nullptr, {}});
  const ewald_pair<double> pair = sums.pair();
  EXPECT_EQ(pair.at(0.7, 1.0).energy, pair.at(0.7).energy);
  EXPECT_EQ(pair.at(0.7, 1.0).slope, pair.at(0.7).slope);
  EXPECT_EQ(pair.at(1e30, 1.0).energy, 0);
  EXPECT_LT(pair.at(0.0, 0.0).energy, 0);
  EXPECT_TRUE(std::isfinite(pair.at(0.0, 0.0).slope));
  const double r = pair.cutoff();
  EXPECT_NEAR(pair.at(4 * r * r, 0.25).energy, -0.75 * 2.5 / (2 * r), 1e-12);
  EXPECT_NEAR(pair.at(4 * r * r, 0.25).slope, 0.75 * 2.5 / (16 * r * r * r), 1e-12);
  EXPECT_NEAR(pair.at(0.999999 * r * r, 0.0).energy, pair.at(1.000001 * r * r, 0.0).energy, 1e-3 / r);
}

}  // namespace

}  // namespace quadrat::test
