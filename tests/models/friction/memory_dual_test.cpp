// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <new>

#include "models/friction/support.hpp"
#include "support/counting_memory.hpp"

// Grains with friction when memory runs out, at any allocation.

namespace quadrat::test {

namespace {

class granular_friction_memory : public backend_test {};

/// Grains thrown together, so that lists grow.
struct crowd {
  loose_grains grains{size_or(5, 3), 0.05, 1, 0.013};
  granular_friction_options options;

  crowd() : options(grains.in_box()) {
    options.material.restitution = 0.3;
    options.gravity = {0, -100, 0};
  }
};

/// Whether `action` had enough memory for its allocations. If not, the simulation must say that it is invalid.
template <typename Simulation, typename Action>
bool had_memory(counting_memory& memory, Simulation& simulation, std::size_t allocations, Action&& action) {
  memory.allow(allocations);
  bool enough = true;
  try {
    action();
  } catch (const std::bad_alloc&) {
    enough = false;
  }
  memory.allow_all();
  if (!enough) {
    EXPECT_ANY_THROW(simulation.check()) << allocations << " allocations";
  }
  return enough;
}

TEST_F(granular_friction_memory, a_restore_that_fails_leaves_no_simulation_that_seems_sound) {
  const crowd many;
  counting_memory memory;
  auto simulation = many.grains.simulate<double>(many.options, memory.context(determinism::none));
  const auto start = simulation.state();
  simulation.advance(300);
  const auto later = simulation.state();
  std::size_t allocations = 0;
  while (!had_memory(memory, simulation, allocations, [&] { simulation.restore(start); })) ++allocations;
  EXPECT_GT(allocations, 5u);
  simulation.advance(300);
  EXPECT_TRUE(same_bits(simulation.state(), later));
}

TEST_F(granular_friction_memory, a_list_that_cannot_grow_leaves_no_simulation_that_seems_sound) {
  const crowd many;
  counting_memory memory;
  auto enough = many.grains.simulate<double>(many.options);
  const auto start = enough.state();
  constexpr std::size_t steps = 1500;
  enough.advance(steps);
  std::size_t failures = 0;
  for (std::size_t allocations = 0; allocations < size_or(16, 8); ++allocations) {
    // A new one each time, because a simulation keeps its memory.
    auto simulation = many.grains.simulate<double>(many.options, memory.context(determinism::none));
    const auto run = [&] { simulation.advance(steps); };
    if (!had_memory(memory, simulation, allocations, run)) {
      ++failures;
      simulation.restore(start);
      run();
    }
    EXPECT_TRUE(same_bits(simulation.state(), enough.state())) << allocations;
  }
  EXPECT_GT(failures, 2u) << "lists have grown";
}

}  // namespace

}  // namespace quadrat::test
