// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "models/electrolyte/support.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

// Options, particles and runs that are not possible.

namespace quadrat::test {

namespace {

class electrolyte_faults : public backend_test {};
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST_F(electrolyte_faults, impossible_options_are_named) {
  struct impossible {
    std::function<void(electrolyte_options&)> change;
    std::vector<std::string> words;
  };
  const std::vector<impossible> all{
      {[](auto& o) { o.species.clear(); }, {"0 kinds"}},
      {[](auto& o) {
         o.species = {{1, 1, 1, 1}};
         o.background = true;
       },
       {"1 ion", "at least 2"}},
      {[](auto& o) {
         o.species = {{0, 1, 1, 1}, {0, -1, 1, 1}};
       },
       {"no ions", "at least 2"}},
      {[](auto& o) { o.species[1].count += 1; }, {"add up to -1", "background"}},
      {[](auto& o) { o.species[0].charge = o.species[1].charge = 0; }, {"charges add up to 0", "positive"}},
      {[](auto& o) { o.species[0].charge = nan; }, {"charge of ions of kind 0", "nan"}},
      {[](auto& o) { o.species[1].mass = 0; }, {"mass of ions of kind 1 is 0"}},
      {[](auto& o) { o.species[1].diameter = -1; }, {"diameter of ions of kind 1 is -1"}},
      {[](auto& o) { o.box[1] = nan; }, {"box", "nan"}},
      {[](auto& o) { o.box[1] = 1.5; }, {"shortest edge of the box is 1.5", "2.69"}},
      {[](auto& o) { o.coulomb_constant = 0; }, {"Coulomb constant is 0"}},
      {[](auto& o) { o.accuracy = nan; }, {"accuracy", "nan"}},
      {[](auto& o) { o.accuracy = 2; }, {"accuracy is 2"}},
      {[](auto& o) { o.method = "magic"; }, {"magic", "spme"}},
      {[](auto& o) { o.repulsion = -1; }, {"repulsion is -1"}},
      {[](auto& o) { o.temperature = -1; }, {"temperature is -1"}},
      {[](auto& o) { o.friction = std::numeric_limits<double>::infinity(); }, {"friction is inf"}},
      {[](auto& o) { o.time_step = 0; }, {"time step is 0"}},
      {[](auto& o) { o.time_step = nan; }, {"time step is nan"}}};
  const electrolyte_particles start = electrolyte_start(mixed_ions());
  for (const impossible& it : all) {
    electrolyte_options options = mixed_ions();
    it.change(options);
    electrolyte_particles particles = start;
    std::size_t count = 0;
    for (const ion_species& kind : options.species) count += kind.count;
    particles.positions.resize(count, {1, 2, 3});
    particles.velocities.resize(count);
    expect_words(
        error_of<argument_error>([&] { electrolyte<backend_context, double>(backend_context(), options, particles); }),
        it.words);
  }
  electrolyte_options crowded = mixed_ions(200);
  expect_words(error_of<argument_error>([&] { static_cast<void>(electrolyte_start(crowded)); }), {"sites", "700 ions"});
}

TEST_F(electrolyte_faults, impossible_particles_are_named) {
  const electrolyte_options options = mixed_ions();
  const auto with = [&](const auto& change) {
    electrolyte_particles particles = electrolyte_start(options);
    change(particles);
    return [&, particles] { electrolyte<backend_context, float>(backend_context(), options, particles); };
  };
  expect_words(error_of<argument_error>(with([](auto& p) { p.velocities.pop_back(); })), {"70 positions", "69"});
  expect_words(error_of<data_error>(with([](auto& p) { p.positions[3][1] = nan; })), {"position of ion 3", "nan"});
  expect_words(error_of<data_error>(with([](auto& p) { p.velocities[4][0] = 1e300; })), {"velocity of ion 4", "inf"});
  expect_words(error_of<data_error>(with([](auto& p) { p.positions[5] = p.positions[2]; })), {"same place"});
}

TEST_F(electrolyte_faults, a_run_that_blows_up_names_the_step_and_stays_invalid) {
  electrolyte_options options = mixed_ions();
  auto simulation = started<double>(options);
  const auto good = simulation.state();
  auto bad = good;
  bad.velocities[7] = {1e4, 0, 0};
  simulation.restore(bad);
  simulation.advance(3);
  for (int again = 0; again < 2; ++again) {
    expect_words(error_of<data_error>([&] { simulation.check(); }), {"blew up in step 1", "ion 7"});
  }
  expect_words(error_of<data_error>([&] { static_cast<void>(simulation.measure()); }), {"blew up"});
  bad = good;
  bad.positions[1] = bad.positions[0];
  for (int again = 0; again < 2; ++again) {
    expect_words(error_of<data_error>([&] { again == 0 ? simulation.restore(bad) : simulation.check(); }),
                 {"same place"});
  }
  simulation.restore(good);
  simulation.advance(2);
  simulation.check();
  auto wrong = good;
  wrong.positions.pop_back();
  expect_words(error_of<argument_error>([&] { simulation.restore(wrong); }), {"69 ions", "70"});
}

TEST_F(electrolyte_faults, the_smallest_systems_run) {
  electrolyte_options options;
  options.species = {{1, 1, 1, 1}, {1, -1, 1, 1}};
  options.box = vec<double, 3>::filled(2.3);
  auto two = started<double>(options);
  two.advance(100);
  EXPECT_TRUE(std::isfinite(two.measure().total_energy));
  options.temperature = 0;
  options.friction = 0;
  auto cold = started<float>(options);
  cold.advance(10);
  EXPECT_TRUE(std::isfinite(cold.measure().pressure));
}

}  // namespace

}  // namespace quadrat::test
