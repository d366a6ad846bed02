// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "models/brownian/support.hpp"
#include "quadrat/models/brownian.hpp"

// Diffusion, sedimentation and equilibrium against theory. Tolerances are four standard deviations of what is sampled.

namespace quadrat::test {

namespace {

/// A mean needs its samples: not where every access is checked.
class brownian_physics : public backend_test {
 protected:
  void SetUp() override {
    if (small_sizes()) GTEST_SKIP() << "small sizes";
    backend_test::SetUp();
  }
};

using brownian_in_double = brownian<backend_context, double>;

/// Mean and its standard deviation.
class brownian_mean {
 public:
  void add(double x) {
    ++count_;
    sum_ += x;
    squares_ += x * x;
  }
  [[nodiscard]] double mean() const { return sum_ / count_; }
  [[nodiscard]] double deviation() const {
    return std::sqrt(std::max(0.0, squares_ / count_ - mean() * mean()) / (count_ - 1));
  }

 private:
  double count_ = 0, sum_ = 0, squares_ = 0;
};

void expect_brownian_mean(const brownian_mean& found, double expected, double bias = 0) {
  EXPECT_NEAR(found.mean(), expected, 4 * found.deviation() + bias * std::fabs(expected));
}

TEST_F(brownian_physics, the_mobility_of_one_sphere_in_a_box_is_the_published_one) {
  for (const double edge : {4.0, 6.0, 10.0, 30.0}) {
    const vec<double, 3> mobility = periodic_self_mobility({edge * 1.2, edge * 1.2, edge * 1.2}, 1.2, 0.7);
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(mobility[axis] * 6 * std::numbers::pi * 0.7 * 1.2, reference::self_mobility_in_cube(1, edge), 1e-12);
    }
  }
  for (const vec<double, 3>& box : {vec<double, 3>{5, 9, 30}, vec<double, 3>{60, 4, 50}}) {
    const vec<double, 3> mobility = periodic_self_mobility(box, 1.5, 2);
    const reference::mobility_sum sum({{box[0], box[1], box[2]}, 1.5, 2, {}});
    const std::array<double, 9> expected = sum.tensor({});
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(mobility[axis], expected[4 * static_cast<std::size_t>(axis)], 1e-12);
    }
  }
}

TEST_F(brownian_physics, short_time_diffusion_is_the_self_mobility_at_every_volume_fraction) {
  for (const double fraction : {0.05, 0.2, 0.45}) {
    brownian_options options = suspension(64, fraction);
    brownian_in_double simulation(brownian_context(), options,
                                  brownian_positions(options, brownian_start::uniform_random, 64));
    brownian_mean found;
    double theory = 0;
    const int samples = 250;
    for (int sample = 0; sample < samples; ++sample) {
      simulation.advance(1);
      const brownian_statistics now = simulation.measure();
      found.add(now.short_time_diffusion);
      theory = now.short_time_theory;
    }
    EXPECT_NEAR(theory,
                options.temperature * free_mobility_of(options) *
                    reference::self_mobility_in_cube(options.radius, options.box[0]),
                1e-9 * theory);
    expect_brownian_mean(found, theory, 2 * options.accuracy);
    EXPECT_LT(found.deviation(), 0.02 * theory);
  }
}

/// The mean over runs with other random numbers: those of other steps.
[[nodiscard]] brownian_mean diffusion_of_displacements(const brownian_options& options, std::size_t count,
                                                       std::size_t steps, std::size_t runs) {
  brownian_in_double simulation(brownian_context(), options,
                                brownian_positions(options, brownian_start::uniform_random, count));
  auto state = simulation.state();
  brownian_mean found;
  for (std::size_t run = 0; run < runs; ++run) {
    state.step = run * steps;
    simulation.restore(state);
    simulation.advance(steps);
    double squares = 0;
    for (const vec<double, 3>& one : simulation.displacements()) squares += squared_norm(one);
    found.add(squares / static_cast<double>(count * steps) / (6 * options.time_step));
  }
  return found;
}

TEST_F(brownian_physics, without_forces_the_square_displacement_is_six_times_diffusion_and_time) {
  // What a sphere moves in different steps is not correlated, so this holds at all times.
  brownian_options options = suspension(40, 0.2);
  options.time_step = 0.5;
  const double free = options.temperature * free_mobility_of(options);
  const brownian_mean found = diffusion_of_displacements(options, 40, 5, 500);
  expect_brownian_mean(found, free * reference::self_mobility_in_cube(options.radius, options.box[0]),
                       2 * options.accuracy);
  EXPECT_LT(found.deviation(), 0.01 * found.mean());
  options.method = "free";
  const brownian_mean alone = diffusion_of_displacements(options, 40, 5, 2000);
  expect_brownian_mean(alone, free);
  EXPECT_LT(alone.deviation(), 0.005 * alone.mean());
}

/// Spheres at independent random places, like molecules of an ideal gas, under equal forces: the mean of M_ij over the
/// places of j vanishes, because the sum over modes leaves out k = 0, where the mean flow is. So the mean velocity is
/// the self-mobility times the force at every density, (1 - 2.837297 x + 4 pi x^3 / 3) / (6 pi eta a), x = a / L.
TEST_F(brownian_physics, spheres_at_random_places_sediment_with_their_self_mobility) {
  for (const double fraction : {0.02, 0.1}) {
    brownian_options options = suspension(16, fraction);
    options.temperature = 0;
    options.force = {0, -2, 0};
    brownian_in_double simulation(brownian_context(), options,
                                  brownian_positions(options, brownian_start::lattice, 16));
    auto state = simulation.state();
    brownian_mean along, across;
    const std::uint64_t samples = 3000;
    for (std::uint64_t sample = 0; sample < samples; ++sample) {
      options.seed = 100 + sample;
      state.positions = brownian_positions(options, brownian_start::uniform_random, 16);
      state.origins = state.positions;
      state.step = 1;
      simulation.restore(state);
      simulation.advance(1);
      const vec<double, 3> moved = simulation.measure().mean_displacement;
      along.add(moved[1] / (options.force[1] * options.time_step));
      across.add(moved[0] / (options.force[1] * options.time_step));
    }
    const double theory = free_mobility_of(options) * reference::self_mobility_in_cube(options.radius, options.box[0]);
    expect_brownian_mean(along, theory, 2 * options.accuracy);
    EXPECT_NEAR(across.mean(), 0, 4 * across.deviation());
    EXPECT_LT(along.deviation(), 0.01 * theory);
  }
}

/// kT (a / (6 pi eta a N) + the mean of 1 / (6 pi eta r) over pairs (N - 1) / N): Kirkwood 1954, for pairs that do not
/// overlap; overlapping ones have 1 - r / 4 a in place of a / r.
[[nodiscard]] double kirkwood(const brownian_options& options, const std::vector<vec<double, 3>>& places) {
  const auto count = static_cast<double>(places.size());
  double sum = count;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double r = norm(places[j] - places[i]), a = options.radius;
      sum += 2 * (r > 2 * a ? a / r : 1 - r / (4 * a));
    }
  }
  return options.temperature * free_mobility_of(options) * sum / (count * count);
}

TEST_F(brownian_physics, the_center_of_a_chain_diffuses_after_kirkwood) {
  constexpr std::size_t beads = 8;
  brownian_options options = suspension(beads, 0.0005);
  options.spring = 2;
  options.spring_length = 2.5 * options.radius;
  options.time_step = 0.05;
  options.bonds = chain_bonds(beads, beads);
  const auto start = brownian_positions(options, brownian_start::chains, beads, beads);
  brownian_in_double simulation(brownian_context(), options, start);
  brownian_mean moved, theory;
  vec<double, 3> before{};
  const int steps = 8000;
  for (int step = 0; step < steps; ++step) {
    // Where the beads are without the box: each beside the one before it.
    std::vector<vec<double, 3>> places = simulation.positions();
    for (std::size_t i = 1; i < beads; ++i) {
      const auto& domain = simulation.domain();
      places[i] = places[i - 1] + domain.separation(domain.wrap(places[i - 1]), domain.wrap(places[i]));
    }
    theory.add(kirkwood(options, places));
    simulation.advance(1);
    vec<double, 3> center{};
    for (const vec<double, 3>& one : simulation.displacements()) center += one / static_cast<double>(beads);
    moved.add(squared_norm(center - before) / (6 * options.time_step));
    before = center;
  }
  // The images of the chain act like those of a point force: -2.837297 kT / (6 pi eta L).
  const double images = 2.8372974794806 * options.radius / options.box[0];
  const double expected = theory.mean() - options.temperature * free_mobility_of(options) * images;
  EXPECT_NEAR(moved.mean(), expected, 4 * moved.deviation() + 0.01 * expected);
  // Without hydrodynamic interactions it would be that of one bead divided by their number.
  EXPECT_GT(expected, 1.5 * options.temperature * free_mobility_of(options) / static_cast<double>(beads));
}

/// The mean of f(r) over the distribution r^2 exp(-k (r - l)^2 / 2 kT).
template <typename F>
[[nodiscard]] double dimer_mean(const brownian_options& options, const F& f) {
  double weights = 0, sum = 0;
  for (double r = 0.0005; r < 20; r += 0.001) {
    const double extension = r - options.spring_length;
    const double weight = r * r * std::exp(-options.spring * extension * extension / (2 * options.temperature));
    weights += weight;
    sum += weight * f(r);
  }
  return sum / weights;
}

/// Dimers whose spheres overlap: there the mobility varies most, and noise or drift that does not fit it changes the
/// distribution of lengths.
void expect_boltzmann_lengths(brownian_options options, std::size_t dimers, std::size_t steps, double bias) {
  const std::size_t count = 2 * dimers;
  options.bonds = chain_bonds(count, 2);
  brownian_in_double simulation(brownian_context(), options,
                                brownian_positions(options, brownian_start::chains, count, 2));
  // Dimers are independent samples; steps are not.
  std::vector<double> lengths(dimers), squares(dimers);
  const std::size_t settle = steps / 10, every = 5;
  simulation.advance(settle);
  double samples = 0;
  for (std::size_t step = 0; step < steps; step += every) {
    simulation.advance(every);
    const auto places = simulation.positions();
    ++samples;
    for (std::size_t i = 0; i < dimers; ++i) {
      const double square = squared_norm(simulation.domain().separation(places[2 * i], places[2 * i + 1]));
      lengths[i] += std::sqrt(square);
      squares[i] += square;
    }
  }
  brownian_mean length, square;
  for (std::size_t i = 0; i < dimers; ++i) {
    length.add(lengths[i] / samples);
    square.add(squares[i] / samples);
  }
  expect_brownian_mean(length, dimer_mean(options, [](double r) { return r; }), bias);
  expect_brownian_mean(square, dimer_mean(options, [](double r) { return r * r; }), 2 * bias);
  EXPECT_LT(length.deviation(), 0.03 * length.mean());
}

TEST_F(brownian_physics, lengths_of_free_dimers_are_distributed_after_boltzmann) {
  brownian_options options = suspension(400, 0.01);
  options.method = "free";
  options.spring = 4;
  options.spring_length = 1.5;
  options.time_step = 0.02;
  expect_boltzmann_lengths(options, 200, 10'000, 0.003);
  options.scheme = brownian_scheme::midpoint;
  options.time_step = 0.3;
  expect_boltzmann_lengths(options, 200, 3000, 0.003);
}

TEST_F(brownian_physics, lengths_of_dimers_in_a_fluid_are_distributed_after_boltzmann) {
  brownian_options options = suspension(32, 0.05);
  options.spring = 2;
  options.time_step = 0.5;
  options.scheme = brownian_scheme::midpoint;
  expect_boltzmann_lengths(options, 16, 3000, 0.01);
}

/// A midpoint step is of second order, an Euler step of first: known variances of a spring's lengths.
TEST_F(brownian_physics, midpoint_steps_are_of_second_order) {
  for (const brownian_scheme scheme : {brownian_scheme::euler_maruyama, brownian_scheme::midpoint}) {
    brownian_options options = suspension(4000, 0.01);
    options.method = "free";
    options.scheme = scheme;
    options.spring = 2;
    // u = 2 k h / (6 pi eta a): the length of a dimer relaxes in 1 / u steps.
    const double u = 0.6;
    options.time_step = u / (2 * options.spring * free_mobility_of(options));
    options.bonds = chain_bonds(4000, 2);
    brownian_in_double simulation(brownian_context(), options,
                                  brownian_positions(options, brownian_start::chains, 4000, 2));
    brownian_mean square;
    for (int sample = 0; sample < 20; ++sample) {
      simulation.advance(6);
      const auto places = simulation.positions();
      for (std::size_t i = 0; i < places.size(); i += 2) {
        square.add(squared_norm(simulation.domain().separation(places[i], places[i + 1])) / 3);
      }
    }
    const double exact = options.temperature / options.spring;
    const double ratio = scheme == brownian_scheme::midpoint ? (1 - u + u * u / 2) / (1 - u + u * u / 2 - u * u * u / 8)
                                                             : 1 / (1 - u / 2);
    expect_brownian_mean(square, exact * ratio);
  }
}

}  // namespace

}  // namespace quadrat::test
