// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "ewald/domains.hpp"
#include "ewald/ewald_case.hpp"
#include "search/cell_walk.hpp"
#include "support/random.hpp"

// Charges in clusters have many more neighbors than even ones: cells are smaller, and GPUs walk with more threads.

namespace quadrat::test {

namespace {

class clustered_charges_test : public backend_test {};

/// Half of the charges in a cube with a tenth of the cell's edge.
template <typename T>
[[nodiscard]] ewald_case<T> cluster(std::size_t count, T edge) {
  std::mt19937_64 random(5);
  ewald_case<T> of;
  for (std::size_t i = 0; i < count; ++i) {
    const T size = i % 2 == 0 ? edge / 10 : edge;
    of.points.push_back(make_vec<T, 3>([&](int) { return size * random_unit<T>(random); }));
    of.charges.push_back(i % 4 < 2 ? T(1) : T(-1));
  }
  of.cells = {make_lattice(make_box(vec<T, 3>::filled(0), vec<T, 3>::filled(edge), vec<bool, 3>::filled(true)))};
  return of;
}

/// With virials one thread walks for a charge.
template <typename T>
void expect_the_same_with_virials(const backend_context& context, std::size_t count, double tolerance) {
  SCOPED_TRACE(message(count, " charges of ", sizeof(T), " bytes"));
  const ewald_case<T> of = cluster<T>(count, 20);
  electrostatics_options options;
  options.method = "esp";
  options.accuracy = 1e-4;
  electrostatics<backend_context, T> sums(context, options);
  std::vector<ewald_results<T>> found;
  for (const bool virials : {true, false}) {
    ewald_arrays<T> arrays(context, of);
    auto output = arrays.output();
    if (!virials) output.virial = nullptr;
    sums.compute(arrays.input(), output);
    found.push_back(arrays.results());
  }
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, static_cast<double>(norm(found[0].forces[i])));
    difference = std::max(difference, static_cast<double>(norm(found[1].forces[i] - found[0].forces[i])));
    EXPECT_NEAR(found[1].potentials[i], found[0].potentials[i], tolerance * (1 + std::fabs(found[0].potentials[i])));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LT(difference, tolerance * largest);
}

TEST_F(clustered_charges_test, have_the_same_forces_however_many_threads_walk) {
  const backend_context context;
  for (const std::size_t count : {2u, 130u, 600u, 2500u}) {
    expect_the_same_with_virials<double>(context, count, 1e-10);
    expect_the_same_with_virials<float>(context, count, 1e-3);
  }
}

TEST(clustered_cells, are_small_and_divided_among_threads_where_rows_are_long) {
  const auto request = [](double neighbors, bool cuda) {
    return detail::domain_request{1, neighbors, 1000, cuda, std::size_t{1} << 30};
  };
  const auto threads = [](double charges, double neighbors) {
    return detail::walking_threads(charges, detail::best_walk(neighbors, true).row_candidates(neighbors), 1e5);
  };
  EXPECT_EQ(threads(500, 10), 4U);
  EXPECT_EQ(threads(500, 3000), 32U);
  EXPECT_EQ(threads(30000, 3000), 4U) << "fill the device";
  EXPECT_EQ(threads(1e6, 3000), 1U);
  const std::vector<lattice<double, 3>> cell = cluster<double>(1, 20).cells;
  const auto edge = [&](double neighbors) {
    return detail::make_domains<double>(cell, cell, request(neighbors, true))[0].grid.cells.edge[0];
  };
  EXPECT_LT(edge(3000), 0.3 * edge(10));
}

/// Not as small as clusters want them where they would be folded.
TEST(clustered_cells, are_as_small_as_they_can_be_without_being_folded) {
  const std::vector<lattice<double, 3>> cell = cluster<double>(1, 20).cells;
  const auto domain = detail::make_domains<double>(cell, cell, {1, 3000, 1000, true, 45 * 45 * 45})[0];
  EXPECT_FALSE(domain.grid.folded);
  EXPECT_LT(domain.grid.cells.edge[0], 0.6);
}

}  // namespace

}  // namespace quadrat::test
