// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/modes.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <vector>

#include "quadrat/core/error.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

using mode_number = std::complex<double>;

detail::mode_map<double> map_of_systems(std::size_t systems) {
  detail::mode_map<double> map{};
  map.extent[0] = 4;
  map.extent[1] = 5;
  map.extent[2] = 6;
  map.row = 4;
  map.systems = systems;
  map.apart = map.lines() * map.row;
  return map;
}

/// What cuFFT needs of the transforms of real meshes.
TEST(pair_modes, makes_conjugates_of_the_modes_at_k_and_minus_k_of_every_system) {
  const auto map = map_of_systems(3);
  std::vector<mode_number> modes(map.systems * map.apart);
  std::mt19937_64 random(1);
  for (auto& x : modes) x = {random_unit<double>(random), random_unit<double>(random)};
  const auto before = modes;
  const detail::pair_modes<double> pair{map, map.view(reinterpret_cast<double*>(modes.data()), 2 * modes.size())};
  for (std::size_t i = 0; i < map.systems * map.lines(); ++i) pair(i);
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const std::size_t line = i % map.apart / map.row, first = i / map.apart * map.apart;
    const std::size_t other = (4 - line / 5) % 4 * 5 + (5 - line % 5) % 5;
    const mode_number wanted =
        i % map.row == 0 ? 0.5 * (before[i] + std::conj(before[first + other * map.row])) : before[i];
    ASSERT_LT(std::abs(modes[i] - wanted), 1e-15) << i;
  }
}

TEST(mode_map, refuses_arrays_that_are_too_small) {
  const auto map = map_of_systems(3);
  std::vector<double> numbers(2 * map.systems * map.apart);
  EXPECT_EQ(map.view(numbers.data(), numbers.size()).size(), numbers.size());
  expect_words(error_of<argument_error>([&] { (void)map.view(numbers.data(), numbers.size() - 2); }),
               {"240 numbers along axis 1", "239"});
}

}  // namespace

}  // namespace quadrat::test
