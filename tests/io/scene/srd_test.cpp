// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/srd_scene.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "quadrat/io/granular_scene.hpp"

namespace quadrat::io {
namespace {

/// The scene from this text, read, checked and completed.
srd_scene completed_srd(const std::string& text) {
  auto file = parse_scene<srd_scene>("[scene]\nmodel = \"srd\"\n" + text, "examples/flow.toml");
  check(file.scene, file.places);
  complete(file.scene, file.places);
  return file.scene;
}

/// The message with which the scene from this text is refused.
std::string refused(const std::string& text) {
  try {
    static_cast<void>(completed_srd(text));
  } catch (const scene_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(srd_scene, what_is_left_out_follows_from_the_rest) {
  const srd_scene scene = completed_srd("");
  EXPECT_EQ(scene.box.cells, (int_triple{20, 20, 20}));
  EXPECT_EQ(scene.particles.count, 80000);
  EXPECT_EQ(scene.particles.per_cell, 10.0);
  EXPECT_FALSE(scene.particles.amplitude);
  EXPECT_FALSE(scene.solutes.mass);
  EXPECT_FALSE(scene.measure.bins);
  EXPECT_EQ(scene.run.sort_every, static_cast<std::int64_t>(srd_default_sort_every));
  EXPECT_EQ(scene.scene.name, "flow");
  EXPECT_EQ(scene.output.directory, "out/flow");
  const srd_scene flat = completed_srd("[box]\ndimension = 2\n[particles]\ncount = 1000\n[solutes]\ncount = 3\n");
  EXPECT_EQ(flat.box.cells, (int_triple{20, 20, 1}));
  EXPECT_EQ(flat.particles.per_cell, 2.5);
  EXPECT_EQ(flat.solutes.mass, 2.5);
  const srd_scene wave = completed_srd("[particles]\nstart = \"shear_wave\"\ntemperature = 4\n");
  EXPECT_EQ(wave.particles.amplitude, 1.0);
  EXPECT_EQ(completed_srd("[measure]\nprofile = \"y\"\n[box]\ncells = [5, 7, 9]\n").measure.bins, 7);
}

TEST(srd_scene, options_are_those_of_the_file) {
  const srd_scene scene = completed_srd(
      "[box]\ncells = [4, 8, 6]\ncell_edge = 0.5\nboundaries = [\"periodic\", \"wall\", \"periodic\"]\n"
      "[wall_velocity]\nlower_y = [1, 0, 2]\nupper_y = [3, 0, 4]\n"
      "[particles]\nmass = 2\ntemperature = 3\nseed = 7\n"
      "[physics]\ntime_step = 0.25\nangle = 90\nthermostat = false\nacceleration = [0.1, 0.2, 0.3]\n"
      "[run]\nsort_every = 9\nsums = \"fixed\"\n");
  const srd_options<3> o = options_of<3>(scene);
  for (int axis = 0; axis < 3; ++axis) {
    const auto index = static_cast<std::size_t>(axis);
    EXPECT_EQ(o.cells[axis], (std::array{4, 8, 6})[index]);
    EXPECT_EQ(o.periodic[axis], axis != 1);
    EXPECT_EQ(o.acceleration[axis], (std::array{0.1, 0.2, 0.3})[index]);
    EXPECT_EQ(o.wall_velocity[1][0][axis], (std::array{1.0, 0.0, 2.0})[index]);
    EXPECT_EQ(o.wall_velocity[1][1][axis], (std::array{3.0, 0.0, 4.0})[index]);
    EXPECT_EQ(o.wall_velocity[0][1][axis], 0.0);
  }
  EXPECT_EQ(o.cell_edge, 0.5);
  EXPECT_EQ(o.mass, 2.0);
  EXPECT_EQ(o.temperature, 3.0);
  EXPECT_EQ(o.seed, 7u);
  EXPECT_EQ(o.time_step, 0.25);
  EXPECT_EQ(o.rotation_angle, 90.0);
  EXPECT_FALSE(o.thermostat);
  EXPECT_EQ(o.sort_every, 9u);
  EXPECT_EQ(o.sums, srd_sums::fixed);
}

TEST(srd_scene, a_start_has_solutes_behind_the_fluid_and_the_wave) {
  const std::string box = "[box]\ndimension = 2\ncells = [8, 8, 1]\n";
  const srd_particles<2> plain = particles_of<2>(completed_srd(box + "[solutes]\ncount = 2\nmass = 5\n"));
  EXPECT_EQ(plain.positions.size(), 642u);
  EXPECT_EQ(plain.solute_masses, (std::vector<double>{5, 5}));
  const srd_particles<2> still = particles_of<2>(completed_srd(box));
  const srd_particles<2> wave =
      particles_of<2>(completed_srd(box + "[particles]\nstart = \"shear_wave\"\namplitude = 0.25\n"));
  ASSERT_EQ(still.positions.size(), wave.positions.size());
  for (std::size_t i = 0; i < wave.positions.size(); ++i) {
    const double expected = 0.25 * std::sin(2 * std::numbers::pi * wave.positions[i][1] / 8);
    EXPECT_NEAR(wave.velocities[i][0] - still.velocities[i][0], expected, 1e-12);
  }
}

TEST(srd_scene, text_tells_scenes_apart) {
  const std::string level = "[run]\nsteps = 5\ndeterministic = \"run_to_run\"\n";
  const std::string stored = to_text(completed_srd(level));
  EXPECT_FALSE(first_difference(stored, to_text(completed_srd(level + "sort_every = 3\n[camera]\nspeed = 2\n"))));
  const auto sums = first_difference(stored, to_text(completed_srd(level + "sums = \"fixed\"\n")));
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->key, "run.sums");
  EXPECT_FALSE(first_difference(to_text(completed_srd("")), to_text(completed_srd("[run]\nsums = \"fixed\"\n"))));
  const auto walls = first_difference(
      stored, to_text(completed_srd(level + "[box]\nboundaries = [\"wall\", \"periodic\", \"periodic\"]\n")));
  ASSERT_TRUE(walls);
  EXPECT_EQ(walls->key, "box.boundaries");
  EXPECT_EQ(walls->asked, "[\"wall\", \"periodic\", \"periodic\"]");
  const auto model = first_difference(stored, to_text(granular_scene{}));
  ASSERT_TRUE(model);
  EXPECT_EQ(model->key, "scene.model");
}

TEST(srd_scene, impossible_values_are_named_with_their_place) {
  for (const auto& [text, words] : std::initializer_list<std::pair<std::string, std::string>>{
           {"[box]\ndimension = 4\n", "flow.toml:4:13: box.dimension is 4, but must be 2 or 3"},
           {"[box]\ncells = [0, 1, 1]\n", "box.cells is 0 along x, but must be at least 1"},
           {"[box]\ncells = [2000, 2000, 2000]\n", "box.cells makes 2000 x 2000 x 2000 cells"},
           {"[box]\ncells = [1_000_000, 1, 1]\n", "use precision = \"double\""},
           {"[box]\ncell_edge = 0\n", "box.cell_edge is 0, but must be positive"},
           {"[box]\ncell_edge = inf\n", "box.cell_edge is inf, not a finite number"},
           {"[box]\ncell_edge = 1e307\ncells = [100, 1, 1]\n", "the box has no finite size"},
           {"[box]\nboundaries = \"wall\"\n", "box.boundaries must be an array of three strings, not a string"},
           {"[box]\nboundaries = [\"wall\", \"wal\", \"wall\"]\n",
            "cannot be \"wal\"; valid are \"periodic\", \"wall\""},
           {"[box]\ndimension = 2\ncells = [8, 8, 8]\n", "box.cells is 8 along z, but must be 1 in two dimensions"},
           {"[box]\ndimension = 2\n[physics]\nacceleration = [0, 0, 1]\n", "physics.acceleration is 1 along z"},
           {"[box]\ndimension = 2\n[measure]\nprofile = \"z\"\n", "an axis that two dimensions do not have"},
           {"[wall_velocity]\nlower_y = [1, 0, 0]\n",
            "wall_velocity.lower_y is given, but box.boundaries has no walls"},
           {"[box]\nboundaries = [\"wall\", \"wall\", \"wall\"]\n[wall_velocity]\nupper_z = [0, 0, 1]\n",
            "wall_velocity.upper_z is 1 along z, but must be 0 there"},
           {"[wall_velocity]\nuper_y = [1, 0, 0]\n", "did you mean \"upper_y\"?"},
           {"[particles]\ncount = 5\nper_cell = 3\n", "one follows from the other"},
           {"[particles]\nper_cell = 1e-9\n", "particles.per_cell makes no particle at all"},
           {"[particles]\nper_cell = 1e12\n", "fewer than 2^31"},
           {"[particles]\ncount = 2147483647\n[solutes]\ncount = 1\n", "the fluid's included"},
           {"[particles]\nmass = -1\n", "particles.mass is -1, but must be positive"},
           {"[particles]\ntemperature = 0\n", "the thermostat needs a positive one"},
           {"[particles]\ntemperature = 0\nstart = \"shear_wave\"\n[physics]\nthermostat = false\n",
            "particles.amplitude is missing"},
           {"[particles]\namplitude = 1\n", "belongs to start = \"shear_wave\""},
           {"[particles]\nstart = \"shear_wave\"\namplitude = 0\n", "not a wave"},
           {"[particles]\nstart = \"shear_wave\"\n[box]\nboundaries = [\"periodic\", \"periodic\", \"wall\"]\n",
            "periodic along every axis"},
           {"[particles]\nseed = -1\n", "particles.seed is -1, but must not be negative"},
           {"[solutes]\ncount = -1\n", "solutes.count is -1, but must not be negative"},
           {"[solutes]\nmass = 2\n", "solutes.mass is given, but solutes.count is 0"},
           {"[physics]\ntime_step = nan\n", "physics.time_step is nan, not a finite number"},
           {"[physics]\ntime_step = 0\n", "physics.time_step is 0, but must be positive"},
           {"[physics]\nangle = 200\n", "physics.angle is 200, but must lie above 0 and not above 180 degrees"},
           {"[measure]\nevery = 0\n", "measure.every is 0, but must be at least 1"},
           {"[measure]\nprofile = \"y\"\nfrom = 9\nto = 8\n", "must not lie before measure.from (9)"},
           {"[measure]\nprofile = \"y\"\nbins = 0\n", "measure.bins is 0, but must lie between 1 and 65536"},
           {"[measure]\nbins = 5\n", "measure.bins is given, but there is no profile"},
           {"[run]\nsort_every = -1\n", "run.sort_every is -1, but must not be negative"},
           {"[run]\nsums = \"floating\"\ndeterministic = \"run_to_run\"\n", "run.sums is \"floating\""},
           {"[grid]\n", "unknown table [grid]"}}) {
    EXPECT_NE(refused(text).find(words), std::string::npos) << text << refused(text);
  }
}

TEST(srd_scene, the_largest_possible_values_are_taken) {
  EXPECT_EQ(refused("[box]\ncells = [1290, 1290, 1290]\n[particles]\ncount = 2147483647\n"), "nothing");
  EXPECT_EQ(refused("[physics]\nangle = 180\n[particles]\ncount = 1\n"), "nothing");
}

}  // namespace
}  // namespace quadrat::io
