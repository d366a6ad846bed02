// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/friction_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "io/temporary_folder.hpp"
#include "support/errors.hpp"

namespace quadrat::io {
namespace {

const std::string granular_head = "[scene]\nmodel = \"granular\"\n";

/// The scene from this text, read, checked and completed.
friction_scene completed_friction(const std::string& text) {
  auto file = parse_scene<friction_scene>(granular_head + text, "examples/silo.toml");
  check(file.scene, file.places);
  complete(file.scene, file.places);
  return file.scene;
}

std::string refusal_of(const std::string& text) {
  return test::error_of<scene_error>([&] { static_cast<void>(completed_friction(text)); });
}

TEST(friction_scene, defaults_are_completed) {
  const friction_scene hertz = completed_friction("[physics]\nlaw = \"hertz\"\n");
  EXPECT_EQ(hertz.scene.name, "silo");
  EXPECT_EQ(hertz.output.directory, "out/silo");
  EXPECT_EQ(hertz.particles.smallest_radius, 0.005);
  EXPECT_EQ(hertz.particles.upper, hertz.box.upper);
  EXPECT_EQ(hertz.physics.young_modulus, granular_material{}.young_modulus);
  EXPECT_FALSE(hertz.physics.normal_spring.has_value());
  EXPECT_DOUBLE_EQ(hertz.physics.time_step.value(), longest_granular_time_step(options_of(hertz), 0.005) / 10);
  const friction_scene linear = completed_friction("[physics]\nlaw = \"linear\"\nnormal_spring = 500\n");
  EXPECT_EQ(linear.physics.normal_spring, 500.0);
  EXPECT_EQ(linear.physics.tangential_spring, granular_material{}.tangential_spring);
  EXPECT_FALSE(linear.physics.young_modulus.has_value());
  EXPECT_EQ(options_of(linear).stiffness, contact_stiffness::linear);
  EXPECT_EQ(options_of(linear).damping, contact_damping::exact);
  const friction_scene formula = completed_friction("[physics]\nlaw = \"hertz\"\ndamping = \"formula\"\n");
  EXPECT_EQ(options_of(formula).damping, contact_damping::formula);
}

const std::string plate =
    "[[box.walls]]\npoint = [0, 0.1, 0]\nnormal = [0, 1, 0]\nopening = { center = [0.1, 0, 0.1], radius = 0.02 }\n"
    "[[box.walls]]\npoint = [-0.1, 0, 0]\nnormal = [1, 1, 0]\n";

TEST(friction_scene, walls_stand_beside_the_faces_of_the_box) {
  const friction_scene scene = completed_friction(plate);
  ASSERT_EQ(scene.box.walls.size(), 2u);
  const granular_friction_options options = options_of(scene);
  ASSERT_EQ(options.walls.size(), 8u);
  EXPECT_EQ(options.walls[6].point, (triple{0, 0.1, 0}));
  ASSERT_TRUE(options.walls[6].opening);
  EXPECT_EQ(options.walls[6].opening->center, (triple{0.1, 0, 0.1}));
  EXPECT_EQ(options.walls[6].opening->radius, 0.02);
  EXPECT_EQ(options.walls[7].normal, (triple{1, 1, 0}));
  EXPECT_FALSE(options.walls[7].opening);
}

TEST(friction_scene, mistakes_in_walls_are_named_with_their_place) {
  EXPECT_EQ(refusal_of("[box]\nwalls = 3\n"),
            "examples/silo.toml:4:9: box.walls must be an array of walls, not an integer");
  EXPECT_EQ(refusal_of("[box]\nwalls = [ 3 ]\n"), "examples/silo.toml:4:11: box.walls must be a table, not an integer");
  EXPECT_EQ(refusal_of("[[box.walls]]\npoint = [0, 0, 0]\nnormal = [0, 1]\n"),
            "examples/silo.toml:5:10: box.walls.normal must have three components (x, y, z), not 2");
  EXPECT_EQ(refusal_of("[[box.walls]]\npoint = [0, 0, 0]\nnormal = [0, 1, 0]\nopenning = {}\n"),
            "examples/silo.toml:6:1: unknown key \"openning\" in box.walls; did you mean \"opening\"?");
  EXPECT_EQ(refusal_of("[[box.walls]]\nnormal = [0, 1, 0]\n"),
            "examples/silo.toml:3:1: box.walls lacks the key \"point\"");
  EXPECT_EQ(refusal_of("[[box.walls]]\npoint = [0, 0, 0]\nnormal = [0, 1, 0]\nopening = { radius = 1 }\n"),
            "examples/silo.toml:6:11: box.walls.opening lacks the key \"center\"");
  EXPECT_NE(refusal_of("[[box.walls]]\npoint = [0, 0, 0]\nnormal = [0, 0, 0]\n").find("number 1, whose normal"),
            std::string::npos);
  EXPECT_NE(refusal_of("[particles]\nradius = 0.03\ncount = 8\n" + plate).find("opening of radius 0.02"),
            std::string::npos);
}

TEST(friction_scene, grains_that_would_start_in_a_wall_are_named) {
  const std::string solid = "[[box.walls]]\npoint = [0.1, 0, 0]\nnormal = [3, 0, 0]\n";
  EXPECT_TRUE(
      refusal_of(plate + solid)
          .starts_with(
              "examples/silo.toml:3:1: box.walls has a wall, number 3, in which grain 0 would start, at [0.005"))
      << refusal_of(plate + solid);
  EXPECT_EQ(refusal_of(plate + solid + "[particles]\nlower = [0.1, 0, 0]\ncount = 500\n"), "no error");
  const std::string low = "[[box.walls]]\npoint = [0, 0.005, 0]\nnormal = [0, 1, 0]\n";
  const std::string opening = "opening = { center = [0.1, 0, 0.1], radius = 0.02 }\n";
  EXPECT_NE(refusal_of(low + opening).find("number 1, in which grain 0 would start"), std::string::npos);
  EXPECT_EQ(refusal_of(low + opening + "[particles]\ncount = 1\nlower = [0.094, 0, 0.094]\n"), "no error");
}

TEST(friction_scene, keys_of_another_law_say_so) {
  EXPECT_EQ(refusal_of("[physics]\nlaw = \"linear\"\nyoung_modulus = 1e7\n"),
            "examples/silo.toml:5:17: physics.young_modulus belongs to the law \"hertz\"; \"linear\" has "
            "physics.normal_spring");
  EXPECT_EQ(refusal_of("[physics]\nnormal_spring = 10\n"),
            "examples/silo.toml:4:17: physics.normal_spring belongs to the law \"linear\"; \"hertz\" has "
            "physics.young_modulus");
  EXPECT_EQ(refusal_of("[physics]\nspring = 0.5\n"),
            "examples/silo.toml:4:1: the key \"spring\" in [physics] belongs to scenes with law = \"springs\" in "
            "[physics]");
  EXPECT_EQ(refusal_of("[collider]\nradius = 0.5\n"),
            "examples/silo.toml:3:2: [collider] belongs to scenes with law = \"springs\" in [physics]");
  const auto springs = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(parse_scene<granular_scene>(granular_head + text, "x.toml"));
    } catch (const scene_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(springs("[physics]\nfriction = 0.5\n"),
            "x.toml:4:1: the key \"friction\" in [physics] belongs to scenes with law = \"hertz\" or \"linear\" in "
            "[physics]");
  EXPECT_EQ(springs("[physics]\nlaw = \"hooke\"\n"),
            "x.toml:4:7: physics.law cannot be \"hooke\"; valid are \"springs\", \"hertz\", \"linear\"");
}

TEST(friction_scene, impossible_values_are_refused) {
  const auto expect = [](const std::string& text, const std::string& words) {
    EXPECT_NE(refusal_of(text).find(words), std::string::npos) << refusal_of(text);
  };
  expect("[particles]\ncount = 0\n", "particles.count is 0, but must be at least 1");
  expect("[particles]\ncount = 20000\n", "particles.count is 20000, but the region");
  expect("[particles]\nradius = -1\n", "particles.radius is -1, but must be positive");
  expect("[particles]\nsmallest_radius = 0.006\n", "particles.smallest_radius is 0.006");
  expect("[particles]\nupper = [0.2, 0.3, 0.2]\n", "particles.upper is 0.3 along y, outside the box");
  expect("[box]\nupper = [0.2, -0.3, 0.2]\n", "box.upper is -0.3 along y");
  expect("[physics]\nrestitution = 0\n", "physics.restitution is 0");
  expect("[physics]\ndamping = \"exakt\"\n", "\"exact\"");
  expect("[physics]\npoisson_ratio = 0.7\n", "physics.poisson_ratio is 0.7");
  expect("[physics]\nfriction = -1\n", "physics.friction is -1");
  expect("[physics]\ndensity = inf\n", "physics.density is inf, not a finite number");
  expect("[physics]\nyoung_modulus = 0\n", "physics.young_modulus is 0, but must be positive");
  expect("[physics]\ntime_step = 0.01\n", "physics.time_step is 0.01, but must be positive, and at most");
  expect("[run]\nsteps = -1\n", "run.steps is -1");
  expect("[camera]\nspeed = -1\n", "camera.speed is -1");
}

const std::string two_materials =
    "[[physics.materials]]\nname = \"glass\"\n"
    "[[physics.materials]]\nname = \"steel\"\ndensity = 7800\nfriction = 0.18\n"
    "[[physics.material_pairs]]\nbetween = [\"steel\", \"glass\"]\nrestitution = 0.4\n";

TEST(friction_scene, materials_have_the_values_of_physics_unless_they_have_their_own) {
  const friction_scene scene = completed_friction(
      "[physics]\nfriction = 0.4\nyoung_modulus = 1e7\nrolling = \"sds\"\nrolling_damping = 0.3\ncohesion = 100\n" +
      two_materials + "[box]\nmaterial = \"steel\"\n" + "[[box.walls]]\npoint = [0, 0, 0]\nnormal = [1, 1, 0]\n" +
      "[[box.walls]]\npoint = [0, 0, 0]\nnormal = [0, 1, 1]\nmaterial = \"steel\"\n" +
      "[particles]\nmaterial = [\"glass\", \"steel\", \"steel\"]\ncount = 900\nlower = [0.05, 0, 0]\n");
  const granular_friction_options options = options_of(scene);
  EXPECT_EQ(options.rolling, rolling_resistance::sds);
  EXPECT_EQ(options.material.friction, 0.4);
  EXPECT_EQ(options.material.rolling_damping, 0.3);
  EXPECT_EQ(options.material.cohesion, 100);
  ASSERT_EQ(options.further_materials.size(), 1u);
  EXPECT_EQ(options.further_materials[0].friction, 0.18);
  EXPECT_EQ(options.further_materials[0].density, 7800);
  EXPECT_EQ(options.further_materials[0].young_modulus, 1e7);
  ASSERT_EQ(options.material_pairs.size(), 1u);
  EXPECT_EQ(options.material_pairs[0].first, 1u);
  EXPECT_EQ(options.material_pairs[0].second, 0u);
  EXPECT_EQ(options.material_pairs[0].restitution, 0.4);
  EXPECT_FALSE(options.material_pairs[0].friction);
  EXPECT_EQ(options.walls[0].material, 1u);
  EXPECT_EQ(options.walls[6].material, 0u);
  EXPECT_EQ(options.walls[7].material, 1u);
  const auto drawn = filled_region(fill_of(scene)).materials;
  ASSERT_EQ(drawn.size(), 900u);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(drawn, 1u)), 600, 60);
}

TEST(friction_scene, a_material_without_a_list_has_no_number) {
  const friction_scene scene = completed_friction("[physics]\nfriction = 0.4\n");
  EXPECT_TRUE(options_of(scene).further_materials.empty());
  EXPECT_TRUE(filled_region(fill_of(scene)).materials.empty());
  EXPECT_EQ(to_text(scene).find("material"), std::string::npos) << "as in checkpoints without materials";
}

TEST(friction_scene, mistakes_in_materials_are_named_with_their_place) {
  EXPECT_EQ(refusal_of("[[physics.materials]]\ndensity = 3\n"),
            "examples/silo.toml:3:1: physics.materials lacks the key \"name\"");
  EXPECT_EQ(refusal_of("[[physics.materials]]\nname = \"a\"\nfricton = 3\n"),
            "examples/silo.toml:5:1: unknown key \"fricton\" in physics.materials; did you mean \"friction\"?");
  EXPECT_EQ(refusal_of("[[materials]]\nname = \"a\"\n"),
            "examples/silo.toml:3:3: the key \"materials\" is outside a table; it belongs in [physics]");
  EXPECT_EQ(
      refusal_of(two_materials + "[box]\nmaterial = \"steal\"\n"),
      "examples/silo.toml:13:12: box.material names the material \"steal\", which physics.materials lacks; did you "
      "mean \"steel\"?");
  const auto expect = [](const std::string& text, const std::string& words) {
    EXPECT_NE(refusal_of(text).find(words), std::string::npos) << refusal_of(text);
  };
  expect("[particles]\nmaterial = \"glass\"\n",
         "particles.material names the material \"glass\", but physics.materials");
  expect("[particles]\nmaterial = []\n", "particles.material is empty");
  expect("[physics]\nmaterials = []\n", "physics.materials is empty");
  expect(two_materials + "[[box.walls]]\npoint = [0, 0, 0]\nnormal = [0, 1, 0]\nmaterial = \"wood\"\n",
         "box.walls names the material \"wood\"");
  expect("[[physics.materials]]\nname = \"a\"\n[[physics.materials]]\nname = \"a\"\n", "has two materials \"a\"");
  expect("[[physics.materials]]\nname = \"\"\n", "number 1, whose name is empty");
  expect("[[physics.materials]]\nname = \"a\"\ndensity = -1\n",
         "physics.materials has \"a\" with a density that is -1, but must be positive");
  expect("[[physics.materials]]\nname = \"a\"\nfriction = nan\n", "with a friction that is nan, not a finite number");
  expect("[[physics.materials]]\nname = \"a\"\nnormal_spring = 1\n",
         "with a normal_spring that belongs to the law \"linear\"; \"hertz\" has physics.young_modulus");
  expect("[physics]\nrolling_damping = 0.1\n", "physics.rolling_damping belongs to physics.rolling = \"sds\"");
  expect("[physics]\nrolling = \"epsd\"\n", "physics.rolling cannot be \"epsd\"; valid are \"constant\", \"sds\"");
  expect("[physics]\ncohesion = -1\n", "physics.cohesion is -1, but must not be negative");
  expect(two_materials + "[[physics.material_pairs]]\nbetween = \"glass\"\n", "number 2, between 1 materials");
  expect(two_materials + "[[physics.material_pairs]]\nbetween = [\"glass\", \"steel\"]\n",
         "the pair of \"glass\" and \"steel\" twice");
  expect(two_materials + "[[physics.material_pairs]]\nbetween = [\"glass\", \"glass\"]\nrestitution = 2\n",
         "has \"glass\" and \"glass\" with a restitution that is 2, but must lie above 0");
}

TEST(friction_scene, text_tells_scenes_apart) {
  const std::string stored = to_text(completed_friction(plate));
  EXPECT_FALSE(first_difference(stored, to_text(completed_friction("[run]\nsteps = 9\n" + plate))));
  const auto walls = first_difference(stored, to_text(completed_friction("")));
  ASSERT_TRUE(walls);
  EXPECT_EQ(walls->key, "box.walls");
  EXPECT_EQ(walls->asked, "[]");
  const auto material = first_difference(stored, to_text(completed_friction("[physics]\nfriction = 0.25\n" + plate)));
  ASSERT_TRUE(material);
  EXPECT_EQ(material->key, "physics.friction");
  EXPECT_EQ(material->asked, "0.25");
  const auto pair = first_difference(to_text(completed_friction(two_materials)),
                                     to_text(completed_friction(two_materials + "friction = 0.2\n")));
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->key, "physics.material_pairs");
  EXPECT_EQ(pair->asked, "[{between = [\"steel\", \"glass\"], restitution = 0.4, friction = 0.2}]");
  const auto law = first_difference(stored, to_text(granular_scene{}));
  ASSERT_TRUE(law);
  EXPECT_EQ(law->key, "scene.model");
  granular_scene springs;
  springs.scene.model = "granular";
  EXPECT_EQ(first_difference(stored, to_text(springs)).value().key, "physics.law");
}

TEST(friction_scene, the_law_decides_how_a_file_is_read) {
  const temporary_folder folder;
  const auto kind = [&](const std::string& text) {
    std::ofstream(folder / "scene.toml") << text;
    return kind_of_scene(folder / "scene.toml");
  };
  EXPECT_EQ(kind(granular_head), "granular");
  EXPECT_EQ(kind(granular_head + "[physics]\nlaw = \"springs\"\n"), "granular");
  EXPECT_EQ(kind(granular_head + "[physics]\nlaw = \"linear\"\n"), "friction");
  EXPECT_EQ(kind("[scene]\nmodel = \"circles\"\n"), "circles");
  EXPECT_THROW(static_cast<void>(kind("[scene]\nmodel = \"granlar\"\n[physics]\nlaw = \"hertz\"\n")), scene_error);
  EXPECT_THROW(static_cast<void>(kind("[physics]\nlaw = \"hertz\"\n")), scene_error);
}

}  // namespace
}  // namespace quadrat::io
