// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "models/friction/support.hpp"

// The law of grains with friction, compared with closed forms or with integration of the same equation.

namespace quadrat::test {

namespace {

class granular_friction_law : public backend_test {};

constexpr double radius_a = 0.004;
constexpr double radius_b = 0.006;

/// The ratio of a head-on pair's speeds after and before contact.
double measured_restitution(const granular_friction_options& options, double speed) {
  const points positions{{0, 0, 0}, {radius_a + radius_b + 1e-6, 0, 0}};
  const points velocities{{speed / 2, 0, 0}, {-speed / 2, 0, 0}};
  const std::vector<double> radii{radius_a, radius_b};
  friction_simulation pair(make_context(), options, radii, positions, velocities);
  for (int chunk = 0; chunk < 4000; ++chunk) {
    pair.advance(50);
    const auto x = pair.positions();
    const auto v = pair.velocities();
    if (x[1][0] - x[0][0] > radius_a + radius_b && v[1][0] > v[0][0]) return (v[1][0] - v[0][0]) / speed;
  }
  ADD_FAILURE() << "the pair has not parted";
  return 0;
}

/// The same by the classical Runge-Kutta method, integrated until the force is zero.
double integrated_restitution(const granular_friction_options& options, double speed) {
  const granular_material& m = options.material;
  const double mass_a = mass_of(options, radius_a);
  const double mass_b = mass_of(options, radius_b);
  const double mass = mass_a * mass_b / (mass_a + mass_b);
  const double radius = radius_a * radius_b / (radius_a + radius_b);
  const double modulus = m.young_modulus / (2 * (1 - m.poisson_ratio * m.poisson_ratio));
  const double beta = std::log(m.restitution) / std::hypot(std::log(m.restitution), std::numbers::pi);
  const bool hertz = options.stiffness == contact_stiffness::hertz;
  const auto force = [&](double overlap, double approach) {
    if (overlap <= 0) return 0.0;
    const double root = std::sqrt(radius * overlap);
    if (!hertz) return m.normal_spring * overlap - 2 * beta * std::sqrt(m.normal_spring * mass) * approach;
    return 4.0 / 3 * modulus * root * overlap -
           2 * std::sqrt(5.0 / 6) * beta * std::sqrt(2 * modulus * root * mass) * approach;
  };
  double overlap = 0;
  double approach = speed;
  const double step = options.time_step / 20;
  for (int k = 0; k < 10'000'000; ++k) {
    if (k > 0 && force(overlap, approach) <= 0) break;
    const double v1 = approach;
    const double a1 = -force(overlap, v1) / mass;
    const double v2 = approach + step / 2 * a1;
    const double a2 = -force(overlap + step / 2 * v1, v2) / mass;
    const double v3 = approach + step / 2 * a2;
    const double a3 = -force(overlap + step / 2 * v2, v3) / mass;
    const double v4 = approach + step * a3;
    const double a4 = -force(overlap + step * v3, v4) / mass;
    overlap += step / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
    approach += step / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  return -approach / speed;
}

granular_friction_options pair_options(contact_stiffness stiffness, double restitution) {
  granular_friction_options options = without_gravity();
  options.stiffness = stiffness;
  options.material.restitution = restitution;
  options.time_step =
      longest_granular_time_step(options, radius_a) / (stiffness == contact_stiffness::hertz ? 50 : 100);
  return options;
}

TEST_F(granular_friction_law, an_unclipped_pair_parts_with_the_restitution_at_any_speed) {
  for (const auto stiffness : {contact_stiffness::hertz, contact_stiffness::linear}) {
    for (const double restitution : {0.2, 0.5, 0.8, 0.95, 1.0}) {
      granular_friction_options options = pair_options(stiffness, restitution);
      options.attraction = true;
      for (const double speed : {0.02, 0.3, 2.0}) {
        EXPECT_NEAR(measured_restitution(options, speed) / restitution, 1, 0.005)
            << restitution << " at " << speed << " m/s";
      }
    }
  }
}

TEST_F(granular_friction_law, a_pair_whose_force_does_not_pull_parts_with_the_restitution_at_any_speed) {
  for (const auto stiffness : {contact_stiffness::hertz, contact_stiffness::linear}) {
    for (const double restitution : {0.05, 0.1, 0.135, 0.3, 0.5, 0.8, 0.95, 1.0}) {
      const granular_friction_options options = pair_options(stiffness, restitution);
      for (const double speed : {0.02, 2.0}) {
        EXPECT_NEAR(measured_restitution(options, speed) / restitution, 1, 0.005)
            << restitution << " at " << speed << " m/s";
      }
    }
  }
}

TEST_F(granular_friction_law, a_pair_damped_by_the_formula_parts_where_the_force_is_zero) {
  for (const auto stiffness : {contact_stiffness::hertz, contact_stiffness::linear}) {
    for (const double restitution : {0.3, 0.6, 0.9}) {
      granular_friction_options options = pair_options(stiffness, restitution);
      options.damping = contact_damping::formula;
      for (const double speed : {0.1, 1.0}) {
        const double expected = integrated_restitution(options, speed);
        EXPECT_GT(expected, restitution);
        EXPECT_NEAR(measured_restitution(options, speed) / expected, 1, 0.005)
            << restitution << " at " << speed << " m/s";
      }
    }
  }
}

TEST_F(granular_friction_law, linear_springs_keep_to_the_formulas) {
  for (const double zeta : {0.1, 0.3}) {
    const double root = std::sqrt(1 - zeta * zeta);
    const double restitution = std::exp(-std::numbers::pi * zeta / root);
    granular_friction_options options = pair_options(contact_stiffness::linear, restitution);
    options.damping = contact_damping::formula;
    const double late = std::numbers::pi - std::atan(2 * zeta * root / (1 - 2 * zeta * zeta));
    EXPECT_NEAR(measured_restitution(options, 0.5) / std::exp(-zeta * late / root), 1, 0.005) << zeta;
    options.attraction = true;
    EXPECT_NEAR(measured_restitution(options, 0.5) / restitution, 1, 0.005) << zeta;
  }
}

/// The acceleration of a sphere on a plane, and the speed of its contact point divided by that of its center.
struct descent {
  double acceleration;
  double slip;
};

/// The plane is y = 0; gravity is tilted by the angle.
descent descend(granular_friction_options options, double angle) {
  const double g = 9.81;
  const double radius = 0.005;
  options.gravity = {g * std::sin(angle), -g * std::cos(angle), 0};
  options.walls = {granular_wall{}};
  const granular_material& m = options.material;
  const double modulus = m.young_modulus / (2 * (1 - m.poisson_ratio * m.poisson_ratio));
  const double weight = mass_of(options, radius) * g * std::cos(angle);
  const double overlap = options.stiffness == contact_stiffness::hertz
                             ? std::pow(weight / (4.0 / 3 * modulus * std::sqrt(radius)), 2.0 / 3)
                             : weight / m.normal_spring;
  const points positions{{0, radius - overlap, 0}};
  friction_simulation sphere(make_context(), options, std::vector<double>{radius}, positions);
  const double step = sphere.options().time_step;
  const auto steps = static_cast<std::size_t>(0.02 / step);
  sphere.advance(steps);
  const double early = sphere.velocities()[0][0];
  sphere.advance(steps);
  const double late = sphere.velocities()[0][0];
  const double turning = -sphere.angular_velocities()[0][2] * (radius - overlap / 2);
  return {(late - early) / (static_cast<double>(steps) * step), (late - turning) / late};
}

TEST_F(granular_friction_law, a_sphere_on_an_incline_rolls_or_slides) {
  const double g = 9.81;
  for (const auto stiffness : {contact_stiffness::hertz, contact_stiffness::linear}) {
    granular_friction_options options;
    options.stiffness = stiffness;
    options.material.friction = 0.2;  // it slides beyond tan = 0.7
    for (const double tangent : {0.2, 0.5, 0.65}) {
      const double angle = std::atan(tangent);
      const descent found = descend(options, angle);
      EXPECT_NEAR(found.acceleration / (5.0 / 7 * g * std::sin(angle)), 1, 0.01) << tangent;
      EXPECT_NEAR(found.slip, 0, 0.01) << tangent;
    }
    for (const double tangent : {0.75, 1.0, 2.0}) {
      const double angle = std::atan(tangent);
      const descent found = descend(options, angle);
      EXPECT_NEAR(found.acceleration / (g * (std::sin(angle) - 0.2 * std::cos(angle))), 1, 0.01) << tangent;
      EXPECT_GT(found.slip, 0.01) << tangent;
    }
  }
}

TEST_F(granular_friction_law, rolling_resistance_stops_a_rolling_ball) {
  const double radius = 0.005;
  const double speed = 0.1;
  for (const double resistance : {0.0, 0.05}) {
    granular_friction_options options;
    options.material.rolling_friction = resistance;
    options.walls = {granular_wall{}};
    const points positions{{0, radius * (1 - 1e-4), 0}};
    const points velocities{{speed, 0, 0}};
    const points spins{{0, 0, -speed / radius}};
    friction_simulation ball(make_context(), options, std::vector<double>{radius}, positions, velocities, spins);
    // The torque mu_r N R, reduced by that of friction, decelerates it by 5/7 mu_r g.
    const double stopping_time = resistance > 0 ? speed / (5.0 / 7 * resistance * 9.81) : 0.3;
    ball.advance(static_cast<std::size_t>(stopping_time / 2 / ball.options().time_step));
    EXPECT_NEAR(ball.velocities()[0][0], resistance > 0 ? speed / 2 : speed, 0.02 * speed);
    ball.advance(static_cast<std::size_t>(stopping_time / ball.options().time_step));
    EXPECT_NEAR(ball.velocities()[0][0], resistance > 0 ? 0 : speed, 0.02 * speed);
    EXPECT_NEAR(ball.angular_velocities()[0][2], resistance > 0 ? 0 : -speed / radius, 0.02 * speed / radius);
  }
}

TEST_F(granular_friction_law, friction_holds_a_block_of_grains_that_cannot_roll_until_the_angle_of_friction) {
  // Three touching spheres keep each other from rolling: they slide only beyond tan = mu.
  const double radius = 0.005;
  const double high = radius * (1 - 1e-4);
  const double apart = 2 * radius * (1 - 1e-4);
  const points positions{{0, high, 0}, {apart, high, 0}, {apart / 2, high, apart * std::sqrt(0.75)}};
  for (const double tangent : {0.2, 0.8}) {
    granular_friction_options options;
    options.material.rolling_friction = 0.5;
    const double angle = std::atan(tangent);
    options.gravity = {9.81 * std::sin(angle), -9.81 * std::cos(angle), 0};
    options.walls = {granular_wall{}};
    friction_simulation block(make_context(), options, std::vector<double>{radius}, positions);
    const double duration = 0.05;
    block.advance(static_cast<std::size_t>(duration / block.options().time_step));
    const double speed = block.velocities()[0][0];
    if (tangent < options.material.friction) {
      EXPECT_LT(speed, 0.02 * 9.81 * duration);
    } else {
      EXPECT_GT(speed, 0.1 * 9.81 * duration);
    }
  }
}

}  // namespace

}  // namespace quadrat::test
