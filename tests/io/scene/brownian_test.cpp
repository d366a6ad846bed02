// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "quadrat/io/brownian_scene.hpp"

namespace quadrat::io {
namespace {

/// The scene from this text, read, checked and completed.
brownian_scene completed_brownian(const std::string& text) {
  auto file = parse_scene<brownian_scene>("[scene]\nmodel = \"brownian\"\n" + text, "examples/spheres.toml");
  check(file.scene, file.places);
  complete(file.scene, file.places);
  return file.scene;
}

/// The message with which the scene from this text is refused.
std::string refused_brownian(const std::string& text) {
  try {
    static_cast<void>(completed_brownian(text));
  } catch (const scene_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(brownian_scene, what_is_left_out_follows_from_the_rest) {
  const brownian_scene scene = completed_brownian("");
  EXPECT_EQ(scene.particles.count, 1000);
  EXPECT_NEAR(*scene.particles.volume_fraction, 0.1, 1e-12);
  EXPECT_NEAR((*scene.box.size)[1], std::cbrt(4 * std::numbers::pi / 3 * 1000 / 0.1), 1e-9);
  EXPECT_FALSE(scene.physics.repulsion_range);
  EXPECT_EQ(scene.scene.name, "spheres");
  const brownian_scene other =
      completed_brownian("[box]\nsize = [10, 20, 30]\n[particles]\nradius = 1.5\n[physics]\nrepulsion = 3\n");
  EXPECT_NEAR(*other.particles.volume_fraction, 4 * std::numbers::pi / 3 * 3.375 / 6, 1e-12);
  EXPECT_EQ(other.physics.repulsion_range, 3.0);
}

TEST(brownian_scene, options_are_those_of_the_file) {
  const brownian_scene scene = completed_brownian(
      "[box]\nsize = [20, 25, 30]\n"
      "[particles]\ncount = 9\nradius = 1.5\nstart = \"chains\"\nchain_length = 3\nseed = 7\n"
      "[fluid]\nviscosity = 2\ntemperature = 3\n"
      "[physics]\ntime_step = 0.25\nscheme = \"midpoint\"\nforce = [1, 2, 3]\nrepulsion = 4\nrepulsion_range = 5\n"
      "spring = 6\nspring_length = 7\n"
      "[hydrodynamics]\nmethod = \"krylov\"\naccuracy = 1e-2\n");
  const brownian_options o = options_of(scene);
  EXPECT_EQ(o.box, (vec<double, 3>{20, 25, 30}));
  EXPECT_EQ(o.radius, 1.5);
  EXPECT_EQ(o.viscosity, 2.0);
  EXPECT_EQ(o.temperature, 3.0);
  EXPECT_EQ(o.time_step, 0.25);
  EXPECT_EQ(o.scheme, brownian_scheme::midpoint);
  EXPECT_EQ(o.method, "krylov");
  EXPECT_EQ(o.accuracy, 1e-2);
  EXPECT_EQ(o.force, (vec<double, 3>{1, 2, 3}));
  EXPECT_EQ(o.repulsion, 4.0);
  EXPECT_EQ(o.repulsion_range, 5.0);
  EXPECT_EQ(o.spring, 6.0);
  EXPECT_EQ(o.spring_length, 7.0);
  EXPECT_EQ(o.seed, 7u);
  EXPECT_EQ(o.bonds.size(), 6u);
  EXPECT_EQ(positions_of(scene).size(), 9u);
}

TEST(brownian_scene, impossible_values_are_named_with_their_place) {
  for (const auto& [text, words] : std::initializer_list<std::pair<std::string, std::string>>{
           {"[box]\nsize = [0, 1, 1]\n", "spheres.toml:4:8: box.size makes an edge of the box 0"},
           {"[box]\nsize = [1, inf, 1]\n", "box.size is inf, not a finite number"},
           {"[box]\nsize = [10, 1.5, 10]\n", "at least as wide as a sphere, 2 radius (2)"},
           {"[box]\nsize = [10, 10, 20_000]\n", "at most 1000 times as long as wide"},
           {"[box]\nsize = [1e6, 1e6, 1e6]\n", "use precision = \"double\""},
           {"[box]\nsize = [9, 9, 9]\n[particles]\nvolume_fraction = 0.1\n", "one follows from the other"},
           {"[particles]\nvolume_fraction = 0\n", "particles.volume_fraction is 0, but must be positive"},
           {"[particles]\ncount = 0\n", "particles.count is 0, but must be at least 1"},
           {"[particles]\ncount = 3_000_000_000\n", "fewer than 2^31"},
           {"[particles]\nradius = -1\n", "particles.radius is -1, but must be positive"},
           {"[particles]\nseed = -1\n", "particles.seed is -1"},
           {"[particles]\nchain_length = 5\n", "particles.chain_length belongs to start = \"chains\""},
           {"[particles]\nstart = \"chains\"\n", "needs chains of 2 spheres and more"},
           {"[particles]\nstart = \"chains\"\nchain_length = 4\n", "physics.spring is 0, but chains need springs"},
           {"[particles]\nstart = \"chain\"\n", "particles.start cannot be \"chain\""},
           {"[fluid]\nviscosity = 0\n", "fluid.viscosity is 0, but must be positive"},
           {"[fluid]\ntemperature = -1\n", "fluid.temperature is -1, but must not be negative"},
           {"[physics]\ntime_step = 0\n", "physics.time_step is 0, but must be positive"},
           {"[physics]\ntime_step = nan\n", "physics.time_step is nan, not a finite number"},
           {"[physics]\ntime_step = 1e-11\n", "physics.time_step is 1e-11, in which spheres move by"},
           {"[physics]\nscheme = \"euler\"\n", "physics.scheme cannot be \"euler\""},
           {"[physics]\nspring = 2\n", "physics.spring belongs to start = \"chains\""},
           {"[physics]\nrepulsion_range = 2\n", "is given, but physics.repulsion is 0"},
           {"[physics]\nrepulsion = 2\nrepulsion_range = 40\n", "reaches 40 far, but half of the box is only"},
           {"[hydrodynamics]\nmethod = \"spilt\"\n",
            "hydrodynamics.method cannot be \"spilt\"; did you mean \"split\"?"},
           {"[hydrodynamics]\naccuracy = 0\n", "hydrodynamics.accuracy is 0, but must lie above 0"},
           {"[hydrodynamics]\naccuracy = 0.5\n", "must lie above 0 and not above 0.1"},
           {"[run]\ndeterministic = \"canonical\"\n", "cannot be \"canonical\" with this model"},
           {"[camera]\ndisplacement = -1\n", "camera.displacement is -1"},
       }) {
    EXPECT_NE(refused_brownian(text).find(words), std::string::npos) << text << refused_brownian(text);
  }
}

TEST(brownian_scene, text_tells_scenes_apart) {
  const std::string stored = to_text(completed_brownian(""));
  EXPECT_FALSE(first_difference(stored, to_text(completed_brownian("[camera]\ndisplacement = 2\n"))));
  const auto method = first_difference(stored, to_text(completed_brownian("[hydrodynamics]\nmethod = \"free\"\n")));
  ASSERT_TRUE(method);
  EXPECT_EQ(method->key, "hydrodynamics.method");
  const auto count = first_difference(stored, to_text(completed_brownian("[particles]\ncount = 8\n")));
  ASSERT_TRUE(count);
  EXPECT_EQ(count->key, "box.size");
}

}  // namespace
}  // namespace quadrat::io
