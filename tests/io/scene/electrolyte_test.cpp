// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/electrolyte_scene.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace quadrat::io {
namespace {

electrolyte_scene completed_electrolyte(const std::string& text) {
  auto file = parse_scene<electrolyte_scene>("[scene]\nmodel = \"electrolyte\"\n" + text, "examples/salt.toml");
  check(file.scene, file.places);
  complete(file.scene, file.places);
  return file.scene;
}

std::string complaint_about(const std::string& text) {
  try {
    static_cast<void>(completed_electrolyte(text));
  } catch (const scene_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(electrolyte_scene, what_is_left_out_follows_from_the_rest) {
  const electrolyte_scene scene = completed_electrolyte("");
  ASSERT_EQ(scene.ions.species.size(), 2u);
  EXPECT_EQ(scene.ions.species[0].count, 500);
  EXPECT_EQ(scene.ions.species[1].charge, -1);
  EXPECT_EQ(scene.scene.name, "salt");
  EXPECT_EQ(scene.output.directory, "out/salt");
}

TEST(electrolyte_scene, options_are_those_of_the_file) {
  const electrolyte_options options = options_of(completed_electrolyte(
      "[box]\nsize = [9, 10, 11]\n[ions]\nspecies = [{count = 10, charge = 2, mass = 3, diameter = 1.5},"
      "{count = 20, charge = -1}]\ntemperature = 2\nseed = 7\n[electrostatics]\ncoulomb_constant = 3\n"
      "accuracy = 1e-5\nmethod = \"spme\"\nbackground = true\n[physics]\ndynamics = \"verlet\"\ntime_step = 0.1\n"
      "friction = 4\nequilibration = 12\nrepulsion = 5\n"));
  EXPECT_EQ(options.box, (vec<double, 3>{9, 10, 11}));
  ASSERT_EQ(options.species.size(), 2u);
  EXPECT_EQ(options.species[0].count, 10u);
  EXPECT_EQ(options.species[0].mass, 3);
  EXPECT_EQ(options.species[0].diameter, 1.5);
  EXPECT_EQ(options.species[1].charge, -1);
  EXPECT_EQ(options.species[1].mass, 1);
  EXPECT_EQ(options.temperature, 2);
  EXPECT_EQ(options.seed, 7u);
  EXPECT_EQ(options.coulomb_constant, 3);
  EXPECT_EQ(options.accuracy, 1e-5);
  EXPECT_EQ(options.method, "spme");
  EXPECT_TRUE(options.background);
  EXPECT_EQ(options.dynamics, electrolyte_dynamics::verlet);
  EXPECT_EQ(options.time_step, 0.1);
  EXPECT_EQ(options.friction, 4);
  EXPECT_EQ(options.equilibration, 12u);
  EXPECT_EQ(options.repulsion, 5);
}

TEST(electrolyte_scene, text_tells_scenes_apart) {
  const std::string one = to_text(completed_electrolyte(""));
  EXPECT_FALSE(first_difference(one, one));
  EXPECT_FALSE(first_difference(one, to_text(completed_electrolyte("[run]\nsteps = 3\n[output]\nframe_every = 4\n"))));
  const std::string kinds = "[ions]\nspecies = [{count = 500, charge = 1}, {count = 500, charge = -1, mass = 2}]\n";
  const auto other = first_difference(one, to_text(completed_electrolyte(kinds)));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->key, "ions.species");
  EXPECT_NE(other->asked.find("mass = 2"), std::string::npos);
}

TEST(electrolyte_scene, impossible_values_are_named_with_their_place) {
  EXPECT_NE(complaint_about("[ions]\nspecies = []\n").find("examples/salt.toml:4:11: ions.species is empty"),
            std::string::npos);
  EXPECT_NE(complaint_about("[ions]\nspecies = 3\n").find("an array of kinds of ions"), std::string::npos);
  EXPECT_NE(
      complaint_about("[ions]\nspecies = [{count = 1, charge = 1}, {count = 1, charge = 1}]\n").find("add up to 2"),
      std::string::npos);
  EXPECT_NE(complaint_about("[physics]\ntime_step = nan\n").find("physics.time_step is nan"), std::string::npos);
}

}  // namespace
}  // namespace quadrat::io
