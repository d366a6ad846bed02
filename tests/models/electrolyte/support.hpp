// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "quadrat/models/electrolyte.hpp"
#include "support/backend.hpp"

// Shared by the tests of the electrolyte.

namespace quadrat::test {

/// A 2:1 electrolyte of ions that differ in all respects, and neutral ones, in a box that is no cube.
[[nodiscard]] inline electrolyte_options mixed_ions(std::size_t third = 20) {
  electrolyte_options options;
  options.box = {7, 8, 9};
  options.species = {{third, 2, 3, 1.2}, {2 * third, -1, 0.7, 0.8}, {third / 2, 0, 1, 1}};
  options.coulomb_constant = 1.5;
  options.accuracy = 1e-3;
  options.temperature = 0.9;
  options.seed = 5;
  return options;
}

/// `pairs` pairs of ions at this number of ions per volume.
[[nodiscard]] inline electrolyte_options simple_ions(std::size_t pairs, double density, double coulomb_constant = 1) {
  electrolyte_options options;
  options.species = {{pairs, 1, 1, 1}, {pairs, -1, 1, 1}};
  options.box = vec<double, 3>::filled(std::cbrt(2 * static_cast<double>(pairs) / density));
  options.coulomb_constant = coulomb_constant;
  options.accuracy = 1e-3;
  return options;
}

/// Of few ions, several threads would mostly wait for each other.
[[nodiscard]] inline backend_context few_ions_context() { return context_at(determinism::none, 1); }

template <typename T>
[[nodiscard]] electrolyte<backend_context, T> started(const electrolyte_options& options,
                                                      const backend_context& context = {}) {
  return electrolyte<backend_context, T>(context, options, electrolyte_start(options));
}

template <typename T>
void expect_same(const electrolyte_state<T>& a, const electrolyte_state<T>& b, const std::string& what) {
  EXPECT_EQ(a.step, b.step) << what;
  EXPECT_TRUE(a.positions == b.positions) << what;
  EXPECT_TRUE(a.velocities == b.velocities) << what;
}

}  // namespace quadrat::test
