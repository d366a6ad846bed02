// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>

#include "models/friction/support.hpp"

// Many grains with friction: conserved quantities, and what runs must not depend on.

namespace quadrat::test {

namespace {

class granular_friction_runs : public backend_test {};

std::size_t grains_along() { return size_or(8, 4); }

/// The largest energy in a run, divided by the initial one.
template <typename T>
double highest_energy(const loose_grains& grains, const granular_friction_options& options, double* last = nullptr) {
  auto simulation = grains.simulate<T>(options);
  const double start = total_energy(simulation.measure());
  double highest = 1;
  for (int chunk = 0; chunk < 40; ++chunk) {
    simulation.advance(size_or(25, 5));
    const double energy = total_energy(simulation.measure()) / start;
    highest = std::max(highest, energy);
    if (last != nullptr) *last = energy;
  }
  return highest;
}

TEST_F(granular_friction_runs, energy_never_exceeds_its_start) {
  const loose_grains grains(grains_along(), 0.5, 1);
  for (const auto stiffness : {contact_stiffness::hertz, contact_stiffness::linear}) {
    for (const double restitution : {0.5, 0.9, 1.0}) {
      for (const double friction : {0.3, 10.0}) {
        granular_friction_options options = grains.in_box(without_gravity());
        options.stiffness = stiffness;
        options.material.restitution = restitution;
        options.material.friction = friction;
        options.material.rolling_friction = restitution < 1 ? 0.05 : 0;
        double last = 1;
        EXPECT_LT(highest_energy<double>(grains, options, &last), 1 + 1e-4) << restitution << ", mu " << friction;
        if (!small_sizes()) {
          EXPECT_LT(last, 0.99) << restitution << ", mu " << friction;
        }
        EXPECT_LT(highest_energy<float>(grains, options), 1 + 1e-4) << restitution << ", mu " << friction;
      }
    }
  }
}

TEST_F(granular_friction_runs, without_friction_and_damping_energy_is_conserved) {
  const loose_grains grains(grains_along(), 0.5, 2);
  for (const auto stiffness : {contact_stiffness::hertz, contact_stiffness::linear}) {
    granular_friction_options options = grains.in_box(without_gravity());
    options.stiffness = stiffness;
    options.material.restitution = 1;
    options.material.friction = 0;
    double last = 0;
    EXPECT_LT(highest_energy<double>(grains, options, &last), 1 + 1e-4);
    EXPECT_NEAR(last, 1, 1e-4);
    EXPECT_LT(highest_energy<float>(grains, options, &last), 1 + 1e-4);
    EXPECT_NEAR(last, 1, 1e-4);
  }
}

TEST_F(granular_friction_runs, without_walls_momentum_and_angular_momentum_are_conserved) {
  const loose_grains grains(size_or(6, 3), 0.5, 3, 0.0102);
  granular_friction_options options = without_gravity();
  options.upper = grains.upper;
  auto simulation = grains.simulate<double>(options);
  const auto momenta = [&] {
    const auto x = simulation.positions();
    const auto v = simulation.velocities();
    const auto w = simulation.angular_velocities();
    std::pair<vec<double, 3>, vec<double, 3>> sum{};
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double mass = mass_of(options, grains.radii[i]);
      sum.first += v[i] * mass;
      const vec<double, 3> orbit{x[i][1] * v[i][2] - x[i][2] * v[i][1], x[i][2] * v[i][0] - x[i][0] * v[i][2],
                                 x[i][0] * v[i][1] - x[i][1] * v[i][0]};
      sum.second += orbit * mass + w[i] * (0.4 * mass * grains.radii[i] * grains.radii[i]);
    }
    return sum;
  };
  const auto before = momenta();
  const double energy = total_energy(simulation.measure());
  simulation.advance(400);
  const auto after = momenta();
  EXPECT_LT(total_energy(simulation.measure()), 0.95 * energy) << "grains have met";
  const double mass = mass_of(options, 0.005) * static_cast<double>(grains.radii.size());
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_NEAR(after.first[axis], before.first[axis], 1e-12 * mass);
    EXPECT_NEAR(after.second[axis], before.second[axis], 1e-9 * mass * 0.05);
  }
}

TEST_F(granular_friction_runs, the_same_bits_in_every_run_and_with_any_number_of_threads) {
  const loose_grains grains(size_or(14, 4), 0.5, 4);
  granular_friction_options options = grains.in_box();
  options.material.rolling_friction = 0.02;
  std::vector<granular_friction_state<float>> states;
  for (const backend_context& context : all_contexts()) {
    auto simulation = grains.simulate<float>(options, context);
    simulation.advance(100);
    states.push_back(simulation.state());
    EXPECT_GT(simulation.measure().rebuilds, 2u);
    EXPECT_FALSE(states.back().contacts.empty());
  }
  for (const auto& state : states) EXPECT_TRUE(same_bits(state, states[0]));
}

TEST_F(granular_friction_runs, how_many_steps_are_asked_for_at_once_does_not_matter) {
  const loose_grains grains(size_or(6, 4), 0.5, 5);
  const granular_friction_options options = grains.in_box();
  auto whole = grains.simulate<float>(options);
  auto parts = grains.simulate<float>(options);
  whole.advance(301);
  for (const std::size_t steps : {1u, 32u, 3u, 64u, 100u, 31u, 70u}) {
    parts.advance(steps);
    static_cast<void>(parts.measure());
  }
  EXPECT_EQ(parts.step(), 301u);
  EXPECT_TRUE(same_bits(whole.state(), parts.state()));
}

/// Contacts with a history, except between grains that the last step has separated: a new list does not hold these.
std::size_t lasting_contacts(const granular_friction_state<double>& state, const std::vector<double>& radii) {
  std::size_t count = 0;
  for (const auto& one : state.contacts) {
    const bool wall = one.second >= first_plane;
    const vec<double, 3> apart = wall ? vec<double, 3>{} : state.positions[one.first] - state.positions[one.second];
    const double sum = wall ? 1 : radii[one.first] + radii[one.second];
    count += squared_norm(apart) < sum * sum ? 1 : 0;
  }
  return count;
}

TEST_F(granular_friction_runs, making_the_list_again_does_not_disturb_contacts) {
  // Grains under their weight, with lasting contacts.
  const loose_grains grains(size_or(5, 3), 0.1, 6);
  granular_friction_options options = grains.in_box();
  options.gravity = {3, -9.81, 1};
  options.material.young_modulus = 1e6;
  auto settled = grains.simulate<double>(options);
  settled.advance(1500);
  const auto start = settled.state();
  options.skin = 0.02;
  auto once = grains.simulate<double>(options);
  options.skin = 1e-6;
  auto often = grains.simulate<double>(options);
  once.restore(start);
  often.restore(start);
  const auto before = often.measure().rebuilds;
  once.advance(200);
  often.advance(200);
  EXPECT_GT(often.measure().rebuilds, before + 10);
  EXPECT_GT(start.contacts.size(), start.positions.size()) << "grains rest on each other";
  const auto a = once.state();
  const auto b = often.state();
  EXPECT_EQ(lasting_contacts(a, once.radii()), lasting_contacts(b, often.radii()));
  double moved = 0;
  for (std::size_t i = 0; i < a.positions.size(); ++i) {
    const vec<double, 3> difference = a.positions[i] + a.remainders[i] - b.positions[i] - b.remainders[i];
    EXPECT_LT(squared_norm(difference), 1e-11 * 1e-11) << i;
    moved = std::max(moved, squared_norm(a.positions[i] - start.positions[i]));
  }
  EXPECT_GT(moved, 1e-5 * 1e-5);
}

template <typename T>
void expect_restored_runs_go_on() {
  const loose_grains grains(size_or(6, 3), 0.5, 7);
  granular_friction_options options = grains.in_box();
  auto first = grains.simulate<T>(options);
  first.advance(77);
  const granular_friction_state<T> saved = first.state();
  first.advance(200);
  auto second = grains.simulate<T>(options);
  second.advance(13);
  second.restore(saved);
  EXPECT_EQ(second.step(), 77u);
  EXPECT_TRUE(same_bits(second.state(), saved));
  second.advance(200);
  EXPECT_TRUE(same_bits(second.state(), first.state()));
}

TEST_F(granular_friction_runs, a_restored_state_goes_on_with_the_same_bits) {
  expect_restored_runs_go_on<float>();
  expect_restored_runs_go_on<double>();
}

TEST_F(granular_friction_runs, grains_settle_on_the_floor) {
  const loose_grains grains(size_or(5, 3), 0.2, 8);
  granular_friction_options options = grains.in_box();
  options.material.young_modulus = 1e6;
  options.material.restitution = 0.3;
  options.material.rolling_friction = 0.05;
  auto simulation = grains.simulate<float>(options);
  const auto start = simulation.measure();
  simulation.advance(8000);
  const auto end = simulation.measure();
  EXPECT_LT(end.mean_height, 0.75 * start.mean_height);
  EXPECT_LT(end.gravitational_energy, 0.8 * start.gravitational_energy);
  EXPECT_LT(end.max_speed, 0.1);
  EXPECT_GT(end.contacts_per_particle, 2);
  EXPECT_LT(end.largest_overlap, 0.05);
  EXPECT_NEAR(end.time, 8000 * simulation.options().time_step, 1e-9);
}

TEST_F(granular_friction_runs, no_grain_and_one_grain) {
  granular_friction_options options;
  granular_friction<backend_context, float> none(make_context(), options, {}, {});
  none.advance(10);
  EXPECT_EQ(none.step(), 10u);
  EXPECT_EQ(none.measure().kinetic_energy, 0);
  const points position{{0, 0, 0}};
  granular_friction<backend_context, double> one(make_context(), options, std::vector<double>{0.01}, position);
  one.advance(1000);
  const double time = 1000 * one.options().time_step;
  EXPECT_NEAR(one.positions()[0][1], -9.81 / 2 * time * time, 1e-9);
  EXPECT_NEAR(one.velocities()[0][1], -9.81 * time, 1e-9);
}

}  // namespace

}  // namespace quadrat::test
