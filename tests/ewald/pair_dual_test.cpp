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

}  // namespace

}  // namespace quadrat::test
