// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "models/friction/support.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

// Grains of several materials, their rolling resistance and cohesion, compared with closed forms.

namespace quadrat::test {

namespace {

class granular_friction_materials : public backend_test {};

constexpr double number_pi = std::numbers::pi;

/// Two materials that differ in everything, without damping.
granular_friction_options two_materials() {
  granular_friction_options options = without_gravity();
  options.material = {.density = 2500,
                      .young_modulus = 6e7,
                      .poisson_ratio = 0.25,
                      .restitution = 1,
                      .friction = 0.5,
                      .normal_spring = 1e4,
                      .tangential_spring = 8e3};
  options.further_materials = {{.density = 7800,
                                .young_modulus = 2e7,
                                .poisson_ratio = 0.4,
                                .restitution = 1,
                                .friction = 0.18,
                                .normal_spring = 3e3,
                                .tangential_spring = 1e3}};
  return options;
}

double mass_of_sphere(double density, double r) { return 4.0 / 3 * number_pi * density * r * r * r; }
double in_series(double a, double b) { return a * b / (a + b); }
/// E* and G* of two bodies.
double effective_young(const granular_material& a, const granular_material& b) {
  return in_series(a.young_modulus / (1 - a.poisson_ratio * a.poisson_ratio),
                   b.young_modulus / (1 - b.poisson_ratio * b.poisson_ratio));
}
double effective_shear(const granular_material& a, const granular_material& b) {
  const auto of_one = [](const granular_material& m) {
    return m.young_modulus / (2 * (2 - m.poisson_ratio) * (1 + m.poisson_ratio));
  };
  return in_series(of_one(a), of_one(b));
}

constexpr double small_radius = 0.004;
constexpr double large_radius = 0.006;

/// A grain of material 0 and one of material 1 to its right, with this overlap, at rest.
friction_simulation touching_pair(const granular_friction_options& options, double overlap) {
  const points positions{{0, 0, 0}, {small_radius + large_radius - overlap, 0, 0}};
  return {make_context(),
          options,
          std::vector<double>{small_radius, large_radius},
          positions,
          {},
          {},
          std::vector<std::uint32_t>{0, 1}};
}

/// The force on grain 0 in the first step, for a contact that remembers this displacement along y.
vec<double, 3> first_force(const granular_friction_options& options, double overlap, double displacement = 0) {
  friction_simulation pair = touching_pair(options, overlap);
  const bool hertz = options.stiffness == contact_stiffness::hertz;
  const double scale = hertz ? std::sqrt(in_series(small_radius, large_radius) * overlap) : 1;
  auto state = pair.state();
  state.velocities.assign(2, vec<double, 3>{});
  state.contacts = {{0, 1, {0, displacement, 0}, scale}, {1, 0, {0, -displacement, 0}, scale}};
  pair.restore(state);
  pair.advance(1);
  return pair.state().velocities[0] *
         (mass_of_sphere(options.material.density, small_radius) / pair.options().time_step);
}

TEST_F(granular_friction_materials, contacts_have_the_effective_moduli_of_their_materials) {
  const double overlap = 2e-5;
  const double displacement = 1e-6;
  for (const auto stiffness : {contact_stiffness::hertz, contact_stiffness::linear}) {
    granular_friction_options options = two_materials();
    options.stiffness = stiffness;
    const granular_material& a = options.material;
    const granular_material& b = options.further_materials[0];
    const double root = std::sqrt(in_series(small_radius, large_radius) * overlap);
    const bool hertz = stiffness == contact_stiffness::hertz;
    const double normal =
        hertz ? 4.0 / 3 * effective_young(a, b) * root : 2 * in_series(a.normal_spring, b.normal_spring);
    const double tangential =
        hertz ? 8 * effective_shear(a, b) * root : 2 * in_series(a.tangential_spring, b.tangential_spring);
    const vec<double, 3> force = first_force(options, overlap, displacement);
    EXPECT_NEAR(force[0] / (-normal * overlap), 1, 1e-9);
    EXPECT_NEAR(force[1] / (-tangential * displacement), 1, 1e-9);
  }
}

TEST_F(granular_friction_materials, friction_of_a_pair_is_the_geometric_mean_unless_it_is_given) {
  granular_friction_options options = two_materials();
  const double overlap = 2e-5;
  const auto ratio = [&] {
    const vec<double, 3> force = first_force(options, overlap, 1e-3);
    return force[1] / force[0];
  };
  EXPECT_NEAR(ratio(), std::sqrt(0.5 * 0.18), 1e-9);
  options.material_pairs = {{.first = 1, .second = 0, .friction = 0.07}};
  EXPECT_NEAR(ratio(), 0.07, 1e-9);
  options.material_pairs = {{.first = 0, .second = 0, .friction = 0.07}};
  EXPECT_NEAR(ratio(), std::sqrt(0.5 * 0.18), 1e-9);
}

/// The ratio of speeds after and before a head-on collision.
double parting_ratio(const granular_friction_options& options, std::uint32_t a, std::uint32_t b, double speed) {
  const points positions{{0, 0, 0}, {small_radius + large_radius + 1e-6, 0, 0}};
  const points velocities{{speed / 2, 0, 0}, {-speed / 2, 0, 0}};
  friction_simulation pair(make_context(), options, std::vector<double>{small_radius, large_radius}, positions,
                           velocities, {}, std::vector<std::uint32_t>{a, b});
  for (int chunk = 0; chunk < 4000; ++chunk) {
    pair.advance(50);
    const auto x = pair.positions();
    const auto v = pair.velocities();
    if (x[1][0] - x[0][0] > small_radius + large_radius && v[1][0] > v[0][0]) return (v[1][0] - v[0][0]) / speed;
  }
  ADD_FAILURE() << "the pair has not parted";
  return 0;
}

TEST_F(granular_friction_materials, each_pair_parts_with_its_restitution_at_any_speed) {
  granular_friction_options options = two_materials();
  options.material.restitution = 0.9;
  options.further_materials[0].restitution = 0.4;
  options.further_materials.push_back({.young_modulus = 1e7, .restitution = 0.6});
  options.material_pairs = {{.first = 0, .second = 2, .restitution = 0.25}};
  options.time_step = longest_granular_time_step(options, small_radius) / 50;
  const double expected[3][3] = {{0.9, std::sqrt(0.9 * 0.4), 0.25},
                                 {std::sqrt(0.9 * 0.4), 0.4, std::sqrt(0.4 * 0.6)},
                                 {0.25, std::sqrt(0.24), 0.6}};
  for (std::uint32_t a = 0; a < 3; ++a) {
    for (std::uint32_t b = 0; b < 3; ++b) {
      for (const double speed : {0.05, 1.0}) {
        EXPECT_NEAR(parting_ratio(options, a, b, speed) / expected[a][b], 1, 0.005)
            << a << " and " << b << " at " << speed << " m/s";
      }
    }
  }
}

constexpr double ball_radius = 0.005;
constexpr double earth_gravity = 9.81;

/// A ball of material 1 on a floor of material 0.
granular_friction_options ball_on_floor(double angle = 0) {
  granular_friction_options options = two_materials();
  options.gravity = {earth_gravity * std::sin(angle), -earth_gravity * std::cos(angle), 0};
  options.walls = {granular_wall{}};
  options.material.restitution = options.further_materials[0].restitution = 0.5;
  return options;
}

friction_simulation placed_ball(const granular_friction_options& options, double speed, const vec<double, 3>& spin) {
  const granular_material& m = options.further_materials[0];
  const double weight = mass_of_sphere(m.density, ball_radius) * -options.gravity[1];
  const double stiffness = 4.0 / 3 * effective_young(options.material, m) * std::sqrt(ball_radius);
  const points positions{{0, ball_radius - std::pow(weight / stiffness, 2.0 / 3), 0}};
  const points velocities{{speed, 0, 0}};
  const points spins{spin};
  return {make_context(), options, std::vector<double>{ball_radius}, positions,
          velocities,     spins,   std::vector<std::uint32_t>{1}};
}

void advance_for(friction_simulation& simulation, double duration) {
  simulation.advance(static_cast<std::size_t>(duration / simulation.options().time_step));
}

TEST_F(granular_friction_materials, a_sliding_ball_rolls_in_the_end_with_five_sevenths_of_its_speed) {
  const double speed = 0.4;
  const double friction = std::sqrt(0.5 * 0.18);
  const double sliding_time = 2.0 / 7 * speed / (friction * earth_gravity);
  friction_simulation one = placed_ball(ball_on_floor(), speed, {});
  advance_for(one, sliding_time / 2);
  EXPECT_NEAR(one.velocities()[0][0], speed - friction * earth_gravity * sliding_time / 2, 0.01 * speed);
  advance_for(one, sliding_time);
  EXPECT_NEAR(one.velocities()[0][0], 5.0 / 7 * speed, 0.01 * speed);
  EXPECT_NEAR(one.angular_velocities()[0][2], -5.0 / 7 * speed / ball_radius, 0.01 * speed / ball_radius);
}

TEST_F(granular_friction_materials, rolling_resistance_stops_a_ball_at_the_analytic_distance) {
  const double speed = 0.2;
  const double resistance = 0.08;
  const double deceleration = 5.0 / 7 * resistance * earth_gravity;
  for (const auto rolling : {rolling_resistance::constant, rolling_resistance::sds}) {
    granular_friction_options options = ball_on_floor();
    options.rolling = rolling;
    options.material_pairs = {{.first = 0, .second = 1, .rolling_friction = resistance, .rolling_damping = 0.3}};
    friction_simulation one = placed_ball(options, speed, {0, 0, -speed / ball_radius});
    advance_for(one, speed / deceleration * 1.5);
    EXPECT_NEAR(one.positions()[0][0] / (speed * speed / 2 / deceleration), 1, 0.02);
    EXPECT_NEAR(one.velocities()[0][0], 0, 0.01 * speed);
  }
}

TEST_F(granular_friction_materials, a_rolling_spring_holds_a_ball_on_an_incline_up_to_its_angle) {
  const double resistance = 0.1;
  for (const double tangent : {0.05, 0.09, 0.15}) {
    const double angle = std::atan(tangent);
    granular_friction_options options = ball_on_floor(angle);
    options.rolling = rolling_resistance::sds;
    options.material_pairs = {
        {.first = 0, .second = 1, .friction = 0.5, .rolling_friction = resistance, .rolling_damping = 0.3}};
    friction_simulation one = placed_ball(options, 0, {});
    advance_for(one, 0.2);
    const double before = one.velocities()[0][0];
    advance_for(one, 0.1);
    const double acceleration = (one.velocities()[0][0] - before) / 0.1;
    if (tangent < resistance) {
      EXPECT_LT(std::fabs(one.positions()[0][0]), 2e-5) << tangent;
      EXPECT_NEAR(acceleration, 0, 1e-4) << tangent;
    } else {
      const double expected = 5.0 / 7 * earth_gravity * (std::sin(angle) - resistance * std::cos(angle));
      EXPECT_NEAR(acceleration / expected, 1, 0.02) << tangent;
    }
  }
}

TEST_F(granular_friction_materials, twisting_friction_stops_a_spinning_ball_at_the_analytic_time) {
  const double twisting = 0.04;
  const double spin = 30;
  granular_friction_options options = ball_on_floor();
  options.material_pairs = {{.first = 0, .second = 1, .twisting_friction = twisting}};
  friction_simulation one = placed_ball(options, 0, {0, spin, 0});
  // The torque mu_t m g R by the moment of inertia 2/5 m R^2.
  const double stopping_time = spin / (2.5 * twisting * earth_gravity / ball_radius);
  advance_for(one, stopping_time / 2);
  EXPECT_NEAR(one.angular_velocities()[0][1], spin / 2, 0.01 * spin);
  advance_for(one, stopping_time);
  EXPECT_NEAR(one.angular_velocities()[0][1], 0, 0.01 * spin);
}

TEST_F(granular_friction_materials, cohesion_pulls_by_the_area_and_parts_at_the_closed_form) {
  granular_friction_options options = two_materials();
  const double cohesion = 2e5;
  options.material_pairs = {{.first = 0, .second = 1, .cohesion = cohesion}};
  const double r = in_series(small_radius, large_radius);
  const double young = effective_young(options.material, options.further_materials[0]);
  double most = 0;
  for (int k = 1; k < 40; ++k) {
    // The strongest pull is at the tenth of these.
    const double overlap = r * std::pow(number_pi * cohesion / young, 2) * k / 10;
    const double pull =
        2 * number_pi * cohesion * r * overlap - 4.0 / 3 * young * std::sqrt(r) * std::pow(overlap, 1.5);
    const double found = first_force(options, overlap)[0];
    EXPECT_NEAR(found, pull, 1e-9 * 2 * number_pi * cohesion * r * overlap) << k;
    most = std::max(most, found);
  }
  EXPECT_NEAR(most / (2.0 / 3 * std::pow(number_pi * cohesion, 3) * r * r / (young * young)), 1, 1e-9);
}

TEST_F(granular_friction_materials, a_cohesive_ball_hangs_below_a_ceiling_that_holds_its_weight) {
  for (const double strength : {1.5, 0.8}) {
    granular_friction_options options = ball_on_floor();
    options.walls = {{{0, 0, 0}, {0, -1, 0}}};
    const double weight = mass_of_sphere(options.further_materials[0].density, ball_radius) * earth_gravity;
    const double young = effective_young(options.material, options.further_materials[0]);
    const double cohesion =
        std::cbrt(strength * weight * 1.5 * young * young / (ball_radius * ball_radius)) / number_pi;
    options.material_pairs = {{.first = 0, .second = 1, .cohesion = cohesion}};
    const double overlap = ball_radius * std::pow(number_pi * cohesion / young, 2);
    const points positions{{0, overlap - ball_radius, 0}};
    friction_simulation one(make_context(), options, std::vector<double>{ball_radius}, positions, {}, {},
                            std::vector<std::uint32_t>{1});
    advance_for(one, 0.1);
    if (strength > 1) {
      EXPECT_GT(one.positions()[0][1], -ball_radius);
    } else {
      EXPECT_LT(one.positions()[0][1], -2 * ball_radius);
    }
  }
}

/// Materials of three kinds, by turns, with rolling springs, twisting friction and cohesion.
struct mixed_crowd {
  loose_grains grains;
  std::vector<std::uint32_t> materials;
  granular_friction_options options;

  mixed_crowd(std::size_t side, double speed, std::uint64_t seed) : grains(side, speed, seed) {
    options = grains.in_box(two_materials());
    options.material.restitution = 0.8;
    options.further_materials.push_back({.density = 1200, .young_modulus = 1e7, .restitution = 0.6});
    options.rolling = rolling_resistance::sds;
    for (granular_material* one : {&options.material, &options.further_materials[0], &options.further_materials[1]}) {
      one->rolling_friction = 0.1;
      one->rolling_damping = 0.2;
      one->twisting_friction = 0.02;
    }
    options.material_pairs = {{.first = 0, .second = 2, .friction = 0.9, .cohesion = 1e4}};
    options.walls[2].material = 2;
    for (std::size_t i = 0; i < grains.radii.size(); ++i) materials.push_back(static_cast<std::uint32_t>(i * i % 3));
  }
  template <typename T>
  [[nodiscard]] granular_friction<backend_context, T> simulate(const backend_context& context = make_context()) const {
    return {context, options, grains.radii, grains.positions, grains.velocities, grains.spins, materials};
  }
};

TEST_F(granular_friction_materials, energy_never_exceeds_its_start) {
  for (const double restitution : {0.5, 1.0}) {
    mixed_crowd crowd(size_or(7, 4), 0.5, 21);
    crowd.options.material.restitution = crowd.options.further_materials[0].restitution =
        crowd.options.further_materials[1].restitution = restitution;
    auto simulation = crowd.simulate<double>();
    const double start = total_energy(simulation.measure());
    double energy = start;
    for (int chunk = 0; chunk < 40; ++chunk) {
      simulation.advance(size_or(25, 5));
      energy = total_energy(simulation.measure());
      ASSERT_LT(energy, start * (1 + 1e-4)) << restitution;
    }
    if (!small_sizes()) {
      EXPECT_LT(energy, 0.98 * start);
    }
  }
}

TEST_F(granular_friction_materials, cohesion_without_friction_and_damping_conserves_energy) {
  mixed_crowd crowd(size_or(7, 4), 0.5, 22);
  for (granular_material* one :
       {&crowd.options.material, &crowd.options.further_materials[0], &crowd.options.further_materials[1]}) {
    *one = {
        .density = one->density, .young_modulus = one->young_modulus, .restitution = 1, .friction = 0, .cohesion = 3e4};
  }
  crowd.options.material_pairs.clear();
  auto simulation = crowd.simulate<double>();
  const double start = total_energy(simulation.measure());
  for (int chunk = 0; chunk < 20; ++chunk) {
    simulation.advance(size_or(50, 10));
    EXPECT_NEAR(total_energy(simulation.measure()) / start, 1, 1e-4);
  }
}

TEST_F(granular_friction_materials, equal_materials_are_as_one) {
  mixed_crowd crowd(size_or(6, 3), 0.5, 23);
  granular_friction_options plain = crowd.grains.in_box();
  plain.material.rolling_friction = 0.03;
  auto expected = crowd.grains.simulate<double>(plain);
  crowd.options = plain;
  crowd.options.further_materials = {plain.material, plain.material};
  auto found = crowd.simulate<double>();
  EXPECT_EQ(found.options().time_step, expected.options().time_step);
  expected.advance(150);
  found.advance(150);
  const auto a = expected.positions();
  const auto b = found.positions();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_LT(squared_norm(a[i] - b[i]), 1e-10 * 1e-10) << i;
  EXPECT_FALSE(expected.state().contacts.empty());
}

TEST_F(granular_friction_materials, the_same_bits_in_every_run_and_after_a_restart) {
  const mixed_crowd crowd(size_or(8, 4), 0.5, 24);
  std::vector<granular_friction_state<float>> states;
  for (const backend_context& context : all_contexts()) {
    auto simulation = crowd.simulate<float>(context);
    simulation.advance(60);
    const auto saved = simulation.state();
    simulation.advance(90);
    states.push_back(simulation.state());
    EXPECT_GT(simulation.measure().rebuilds, 2u);
    auto restarted = crowd.simulate<float>(context);
    restarted.advance(7);
    restarted.restore(saved);
    EXPECT_TRUE(same_bits(restarted.state(), saved));
    restarted.advance(90);
    EXPECT_TRUE(same_bits(restarted.state(), states.back()));
  }
  for (const auto& state : states) EXPECT_TRUE(same_bits(state, states[0]));
  const auto rolls = [](const auto& one) { return squared_norm(one.rolling) > 0; };
  EXPECT_GT(std::ranges::count_if(states[0].contacts, rolls), 3);
}

TEST_F(granular_friction_materials, making_the_list_again_keeps_rolling) {
  mixed_crowd crowd(size_or(5, 3), 0.1, 25);
  crowd.options.gravity = {3, -9.81, 1};
  auto settled = crowd.simulate<double>();
  settled.advance(1500);
  const auto start = settled.state();
  crowd.options.skin = 0.02;
  auto once = crowd.simulate<double>();
  crowd.options.skin = 1e-6;
  auto often = crowd.simulate<double>();
  once.restore(start);
  often.restore(start);
  once.advance(200);
  often.advance(200);
  EXPECT_GT(often.measure().rebuilds, once.measure().rebuilds + 10);
  const auto a = once.state();
  const auto b = often.state();
  for (std::size_t i = 0; i < a.positions.size(); ++i) {
    const vec<double, 3> difference = a.positions[i] + a.remainders[i] - b.positions[i] - b.remainders[i];
    EXPECT_LT(squared_norm(difference), 1e-10 * 1e-10) << i;
  }
}

TEST_F(granular_friction_materials, impossible_materials_are_refused) {
  const auto refused = [](auto&& change, const std::vector<std::string>& words,
                          const std::vector<std::uint32_t>& materials = {1}) {
    granular_friction_options options = two_materials();
    change(options);
    const points position{{0, 0, 0}};
    expect_words(error_of<argument_error>([&] {
                   friction_simulation(make_context(), options, std::vector<double>{ball_radius}, position, {}, {},
                                       materials);
                 }),
                 words);
  };
  refused([](auto& o) { o.further_materials[0].density = -1; }, {"density of material 1", "-1"});
  refused([](auto& o) { o.further_materials[0].cohesion = -2; }, {"cohesion of material 1", "-2"});
  refused([](auto& o) { o.material_pairs = {{.first = 0, .second = 2}}; }, {"materials 0 and 2", "2 materials"});
  refused(
      [](auto& o) {
        o.material_pairs = {{.first = 0, .second = 1}, {.first = 1, .second = 0}};
      },
      {"pair of materials 1 and 0", "twice"});
  refused([](auto& o) { o.material_pairs = {{.first = 0, .second = 1, .restitution = 1.5}}; },
          {"restitution of materials 0 and 1", "1.5"});
  refused(
      [](auto& o) {
        o.walls.resize(1);
        o.walls[0].material = 7;
      },
      {"wall 0", "material 7", "2 materials"});
  refused([](auto& o) { o.further_materials.resize(256); }, {"257 materials", "256"});
  refused([](auto&) {}, {"grain 0", "material 2", "2 materials"}, {2});
  refused([](auto&) {}, {"1 positions", "2 materials"}, {0, 1});
}

TEST_F(granular_friction_materials, the_time_step_follows_the_stiffest_and_lightest) {
  for (const auto stiffness : {contact_stiffness::hertz, contact_stiffness::linear}) {
    granular_friction_options options = two_materials();
    options.stiffness = stiffness;
    granular_friction_options first = options;
    first.further_materials.clear();
    granular_friction_options second = first;
    second.material = options.further_materials[0];
    const double limit = longest_granular_time_step(options, ball_radius);
    EXPECT_EQ(limit, std::min(longest_granular_time_step(first, ball_radius),
                              longest_granular_time_step(second, ball_radius)));
    options.material_pairs = {{.first = 0, .second = 1, .restitution = 0.05}};
    EXPECT_LT(longest_granular_time_step(options, ball_radius), limit);
  }
}

}  // namespace

}  // namespace quadrat::test
