// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "../../examples/water/water.hpp"
#include "ewald/water_of_openmm.hpp"
#include "support/backend.hpp"

// Rigid water, the example: charges and Lennard-Jones in one pass over a kept list, and SETTLE.

namespace quadrat::test {

namespace {

class water_test : public backend_test {};

TEST_F(water_test, energies_and_forces_are_those_of_openmm) {
  water::liquid<backend_context, double> system(backend_context(), 8, 1e-7);
  const water::energies found = system.measure();
  EXPECT_NEAR(found.pairs + found.mesh, water_of_openmm::energy_without_dispersion,
              1e-6 * std::fabs(water_of_openmm::energy_without_dispersion));
  // OpenMM averages over all pairs of atoms and each atom with itself: a factor of 1 + O(1 / atoms).
  const double molecules = static_cast<double>(system.size()) / 3, factor = (3 * molecules + 3) / (3 * molecules + 1);
  const double dispersion = water_of_openmm::energy - water_of_openmm::energy_without_dispersion;
  EXPECT_NEAR(factor * found.dispersion, dispersion, 1e-9 * std::fabs(dispersion));
  const auto forces = system.forces();
  std::size_t atom = 0;
  for (const auto& row : water_of_openmm::forces) {
    const vec<double, 3> wanted{row[0], row[1], row[2]};
    EXPECT_LT(norm(forces[atom] - wanted), 1e-5 * water_of_openmm::rms_force) << atom;
    atom += water_of_openmm::every;
  }
}

template <typename T>
void stays_rigid_and_keeps_its_energy() {
  water::liquid<backend_context, T> system(backend_context(), 8, 1e-4);
  for (int k = 0; k < 50; ++k) {  // the lattice melts
    if (k % 5 == 0) system.rescale();
    system.step();
  }
  const water::energies first = system.measure();
  for (int k = 0; k < 20; ++k) system.step();
  const water::energies last = system.measure();
  EXPECT_LT(system.constraint_error(), 1e-10);
  EXPECT_GT(std::fabs(last.kinetic - first.kinetic), 100.0);  // energy changes its kind
  EXPECT_NEAR(last.total(), first.total(), 5.0);              // kJ/mol, of 512 molecules
}

TEST_F(water_test, stays_rigid_and_keeps_its_energy) { stays_rigid_and_keeps_its_energy<double>(); }
TEST_F(water_test, keeps_its_energy_with_forces_in_single_precision) { stays_rigid_and_keeps_its_energy<float>(); }

}  // namespace

}  // namespace quadrat::test
