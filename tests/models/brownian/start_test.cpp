// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/brownian.hpp"
#include "support/errors.hpp"

// How spheres are placed.

namespace quadrat::test {

namespace {

[[nodiscard]] brownian_options long_brownian_box() {
  brownian_options options;
  options.box = {12, 7, 30};
  options.spring = 4;
  options.temperature = 2;
  return options;
}

[[nodiscard]] box<double, 3> brownian_domain(const brownian_options& options) {
  return make_box<double, 3>({}, options.box, vec<bool, 3>::filled(true));
}

TEST(brownian_start_places, all_are_in_the_box) {
  const brownian_options options = long_brownian_box();
  for (const brownian_start start : {brownian_start::lattice, brownian_start::uniform_random, brownian_start::chains}) {
    for (const std::size_t count : {0, 1, 2, 7, 300}) {
      const auto places = brownian_positions(options, start, count, 5);
      EXPECT_EQ(places.size(), count);
      for (const auto& place : places) EXPECT_TRUE(brownian_domain(options).wrap(place) == place);
    }
  }
}

TEST(brownian_start_places, a_lattice_keeps_spheres_apart) {
  const brownian_options options = long_brownian_box();
  for (const std::size_t count : {2, 10, 64, 200}) {
    const auto places = brownian_positions(options, brownian_start::lattice, count);
    double least = 1e9;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        least = std::min(least, norm(brownian_domain(options).separation(places[i], places[j])));
      }
    }
    EXPECT_GT(least, 0.6 * std::cbrt(12.0 * 7 * 30 / static_cast<double>(count))) << count;
  }
}

TEST(brownian_start_places, steps_of_chains_are_those_of_their_springs) {
  brownian_options options = long_brownian_box();
  const std::size_t count = 3000;
  const auto bonds = chain_bonds(count, 20);
  EXPECT_EQ(bonds.size(), 150u * 19);
  EXPECT_EQ(bonds[19], (brownian_bond{20, 21}));
  EXPECT_EQ(chain_bonds(7, 3).size(), 4u);
  EXPECT_TRUE(chain_bonds(7, 1).empty());
  EXPECT_TRUE(chain_bonds(0, 4).empty());
  for (const double length : {0.0, 2.5}) {
    options.spring_length = length;
    const auto places = brownian_positions(options, brownian_start::chains, count, 20);
    double squares = 0;
    for (const brownian_bond& bond : bonds) {
      const double square = squared_norm(brownian_domain(options).separation(places[bond[0]], places[bond[1]]));
      if (length > 0) {
        EXPECT_NEAR(std::sqrt(square), length, 1e-9);
      }
      squares += square;
    }
    const double expected = length > 0 ? length * length : 3 * options.temperature / options.spring;
    EXPECT_NEAR(squares / static_cast<double>(bonds.size()), expected, 0.06 * expected);
  }
}

TEST(brownian_start_places, impossible_ones_are_refused) {
  brownian_options options = long_brownian_box();
  const auto chains = [&](std::size_t length) {
    return error_of<argument_error>(
        [&] { static_cast<void>(brownian_positions(options, brownian_start::chains, 10, length)); });
  };
  expect_words(chains(0), {"0 spheres", "at least 1"});
  options.spring = 0;
  expect_words(chains(5), {"chains need springs"});
  options.radius = -1;
  expect_words(chains(5), {"radius", "-1"});
  expect_words(error_of<argument_error>([] { static_cast<void>(periodic_self_mobility({1, 0, 1}, 1, 1)); }), {"box"});
  expect_words(error_of<argument_error>([] {
                 static_cast<void>(periodic_self_mobility({1, 1, 2000}, 1, 1));
               }),
               {"2000", "1000 times"});
}

}  // namespace

}  // namespace quadrat::test
