// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/circles_scene.hpp"

#include <gtest/gtest.h>

#include <string>

#include "quadrat/io/granular_scene.hpp"

namespace quadrat::io {
namespace {

/// The scene from this text, read, checked and completed.
circles_scene completed_circles(const std::string& text) {
  auto file = parse_scene<circles_scene>("[scene]\nmodel = \"circles\"\n" + text, "examples/rings.toml");
  check(file.scene, file.places);
  complete(file.scene, file.places);
  return file.scene;
}

TEST(circles_scene, defaults_are_those_of_the_form) {
  const circles_scene sine = completed_circles("");
  EXPECT_EQ(sine.agents.count, 10000);
  EXPECT_EQ(sine.physics.radius, 2.0);
  EXPECT_EQ(sine.physics.force, 0.05);
  EXPECT_FALSE(sine.physics.attraction.has_value());
  // The model chooses where nothing is named; otherwise the rest follows from what is.
  EXPECT_EQ(sine.search.order, "auto");
  EXPECT_EQ(sine.search.cell_list, "auto");
  EXPECT_EQ(sine.search.cells_per_reach, 0);
  const circles_scene named = completed_circles("[search]\ncell_list = \"sorted\"\n");
  EXPECT_EQ(named.search.order, "trimmed");
  EXPECT_EQ(named.search.cells_per_reach, 2);
  EXPECT_EQ(sine.scene.name, "rings");
  EXPECT_EQ(sine.output.directory, "out/rings");
  const circles_scene original = completed_circles("[physics]\nform = \"original\"\n[box]\ndimension = 3\n");
  EXPECT_EQ(original.agents.count, 10000);
  EXPECT_EQ(original.physics.radius, 5.0);
  EXPECT_EQ(original.physics.repulsion, 1e-3);
  EXPECT_FALSE(original.physics.force.has_value());
}

TEST(circles_scene, count_and_density_follow_from_each_other) {
  EXPECT_EQ(completed_circles("[agents]\ndensity = 0.5\n").agents.count, 5000);
  EXPECT_EQ(completed_circles("[agents]\ncount = 2500\n").agents.density, 0.25);
}

TEST(circles_scene, text_tells_scenes_apart) {
  const std::string stored = to_text(completed_circles("[run]\nsteps = 5\ndeterministic = \"run_to_run\"\n"));
  EXPECT_FALSE(
      first_difference(stored, to_text(completed_circles("[run]\nsteps = 9\ndeterministic = \"run_to_run\"\n"))));
  const auto other = first_difference(
      stored, to_text(completed_circles("[run]\ndeterministic = \"run_to_run\"\n[search]\norder = \"hybrid\"\n")));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->key, "search.order");
  EXPECT_EQ(other->stored, "\"auto\"");
  // Without that level any order may continue.
  EXPECT_FALSE(
      first_difference(to_text(completed_circles("")), to_text(completed_circles("[search]\norder = \"hybrid\"\n"))));
  const auto granular = first_difference(stored, to_text(granular_scene{}));
  ASSERT_TRUE(granular);
  EXPECT_EQ(granular->key, "scene.model");
}

TEST(circles_scene, file_of_another_model_is_known) {
  EXPECT_THROW(static_cast<void>(parse_scene<circles_scene>("[scene]\nmodel = \"circels\"\n", "x.toml")), scene_error);
  EXPECT_THROW(static_cast<void>(parse_scene<circles_scene>("[scene]\nname = \"x\"\n", "x.toml")), scene_error);
}

}  // namespace
}  // namespace quadrat::io
