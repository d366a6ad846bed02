// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/granular_scene.hpp"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>

#include "support/errors.hpp"

namespace quadrat::io {
namespace {

constexpr std::array<std::string_view, 3> methods{"auto", "sorted", "linked_loose"};

/// Reads and checks the scene from this text; "ok" or the error message.
std::string verdict(const std::string& text) {
  try {
    auto file = parse_scene<granular_scene>(text, "scene.toml");
    check(file.scene, file.places, methods);
    complete(file.scene, file.places);
    return "ok";
  } catch (const scene_error& failure) {
    return failure.what();
  }
}

const std::string head = "[scene]\nmodel = \"granular\"\n";

TEST(scene, defaults_are_those_of_the_paper) {
  auto file = parse_scene<granular_scene>(head, "examples/tiny.toml");
  check(file.scene, file.places, methods);
  complete(file.scene, file.places);
  const granular_scene& s = file.scene;
  EXPECT_EQ(s.particles.count, 16384);
  EXPECT_EQ(s.particles.radius, 1.0 / 64);
  EXPECT_EQ(s.grid.cells, (int_triple{64, 64, 64}));
  EXPECT_EQ(s.physics.gravity, (triple{0, -3e-4, 0}));
  EXPECT_EQ(s.scene.name, "tiny");
  EXPECT_EQ(s.output.directory, "out/tiny");
}

TEST(scene, reads_every_kind_of_value) {
  const auto file = parse_scene<granular_scene>(head + R"(name = "x"
[box]
lower = [0, 0.5, -1]
[particles]
count = 7
start = "left_half"
[run]
precision = "double"
device = "cpu"
deterministic = "run_to_run"
[collider]
center = [1, 2, 3]
radius = 2
[output]
preview = false
)",
                                                "s.toml");
  EXPECT_EQ(file.scene.scene.name, "x");
  EXPECT_EQ(file.scene.box.lower, (triple{0, 0.5, -1}));
  EXPECT_EQ(file.scene.particles.count, 7);
  EXPECT_EQ(file.scene.particles.start, granular_start_state::left_half);
  EXPECT_EQ(file.scene.run.precision, number_precision::float64);
  EXPECT_EQ(file.scene.run.device, device_choice::cpu);
  EXPECT_EQ(file.scene.run.deterministic, determinism::run_to_run);
  EXPECT_EQ(file.scene.collider.center, (triple{1, 2, 3}));
  EXPECT_EQ(file.scene.collider.radius, 2.0);
  EXPECT_FALSE(file.scene.output.preview);
  EXPECT_EQ(file.places.of("particles.count"), "s.toml:7:9");
  EXPECT_EQ(file.places.of("particles.radius"), "s.toml:6:1");
  EXPECT_EQ(file.places.of("physics.spring"), "s.toml");
}

struct bad_scene {
  std::string name;
  std::string text;
  std::string message;
};

class bad_scenes : public testing::TestWithParam<bad_scene> {};

TEST_P(bad_scenes, is_refused_with_its_place_and_reason) { EXPECT_EQ(verdict(GetParam().text), GetParam().message); }

const bad_scene syntax_and_names[] = {
    {"no_model", "[scene]\nname = \"x\"\n",
     "scene.toml:1:1: the scene does not say its model; add model = \"granular\" to [scene]"},
    {"empty_file", "", "scene.toml: the scene does not say its model; add model = \"granular\" to [scene]"},
    {"unknown_model", "[scene]\nmodel = \"granulr\"\n",
     "scene.toml:2:9: unknown model \"granulr\"; did you mean \"granular\"?"},
    {"model_of_wrong_type", "[scene]\nmodel = 3\n", "scene.toml:2:9: scene.model must be a string, not an integer"},
    {"typo_in_a_key", head + "[particles]\ncuont = 3\n",
     "scene.toml:4:1: unknown key \"cuont\" in [particles]; did you mean \"count\"?"},
    {"other_spelling", head + "[run]\nThreads = 3\n",
     "scene.toml:4:1: unknown key \"Threads\" in [run]; did you mean \"threads\"?"},
    {"key_of_another_table", head + "[physics]\njitter = 0.1\n",
     "scene.toml:4:1: unknown key \"jitter\" in [physics]; it belongs in [particles]"},
    {"nothing_near", head + "[box]\nbarometer = 1\n",
     "scene.toml:4:1: unknown key \"barometer\" in [box]; valid are \"lower\", \"upper\""},
    {"unknown_table", head + "[phisics]\nspring = 1\n",
     "scene.toml:3:2: unknown table [phisics]; did you mean \"physics\"?"},
    {"key_outside_a_table", "steps = 3\n" + head,
     "scene.toml:1:1: the key \"steps\" is outside a table; it belongs in [run]"},
    {"unknown_key_outside", "stepz = 3\n" + head,
     "scene.toml:1:1: unknown key \"stepz\" outside a table; valid are \"scene\", \"box\", \"grid\", \"particles\", "
     "\"physics\", \"collider\", \"run\", \"output\", \"camera\""},
    {"table_that_is_a_value", "box = 3\n" + head, "scene.toml:1:7: box must be a table, [box], not an integer"},
    {"several", head + "[run]\nsteps = \"many\"\nthread = 2\n",
     "scene.toml:4:9: run.steps must be an integer, not a string (and 1 more)"},
};

const bad_scene bad_types[] = {
    {"string_for_integer", head + "[particles]\ncount = \"3\"\n",
     "scene.toml:4:9: particles.count must be an integer, not a string"},
    {"float_for_integer", head + "[particles]\ncount = 1e3\n",
     "scene.toml:4:9: particles.count must be an integer, not a floating-point number"},
    {"boolean_for_number", head + "[physics]\nspring = true\n",
     "scene.toml:4:10: physics.spring must be a number, not true or false"},
    {"number_for_boolean", head + "[output]\npreview = 1\n",
     "scene.toml:4:11: output.preview must be true or false, not an integer"},
    {"number_for_array", head + "[box]\nupper = 2.0\n",
     "scene.toml:4:9: box.upper must be an array of three numbers, not a floating-point number"},
    {"two_components", head + "[box]\nupper = [1, 1]\n",
     "scene.toml:4:9: box.upper must have three components (x, y, z), not 2"},
    {"string_in_array", head + "[box]\nupper = [1, \"1\", 1]\n",
     "scene.toml:4:13: box.upper must be a number, not a string"},
    {"float_in_cells", head + "[grid]\ncells = [4, 4.5, 4]\n",
     "scene.toml:4:13: grid.cells must be an integer, not a floating-point number"},
    {"date", head + "[run]\nsteps = 2020-01-01\n", "scene.toml:4:9: run.steps must be an integer, not a date or time"},
    {"number_for_name", head + "[run]\ndevice = 0\n", "scene.toml:4:10: run.device must be a string, not an integer"},
    {"wrong_name", head + "[run]\ndevice = \"gpu\"\n",
     "scene.toml:4:10: run.device cannot be \"gpu\"; valid are \"auto\", \"cpu\", \"cuda\""},
    {"wrong_level", head + "[run]\ndeterministic = \"yes\"\n",
     "scene.toml:4:17: run.deterministic cannot be \"yes\"; valid are \"none\", \"run_to_run\", \"canonical\""},
    {"wrong_start", head + "[particles]\nstart = \"left-half\"\n",
     "scene.toml:4:9: particles.start cannot be \"left-half\"; valid are \"lattice\", \"left_half\", "
     "\"uniform_random\""},
};

const bad_scene bad_values[] = {
    {"nan", head + "[physics]\nspring = nan\n", "scene.toml:4:10: physics.spring is nan, not a finite number"},
    {"nan_in_array", head + "[box]\nlower = [0, nan, 0]\n", "scene.toml:4:9: box.lower is nan, not a finite number"},
    {"infinite", head + "[particles]\nradius = inf\n", "scene.toml:4:10: particles.radius is inf, not a finite number"},
    {"no_grains", head + "[particles]\ncount = 0\n", "scene.toml:4:9: particles.count is 0, but must be at least 1"},
    {"negative_grains", head + "[particles]\ncount = -5\n",
     "scene.toml:4:9: particles.count is -5, but must be at least 1"},
    {"too_many_grains", head + "[particles]\ncount = 2_147_483_648\n",
     "scene.toml:4:9: particles.count is 2147483648, but one simulation holds fewer than 2^31 (2147483648) grains"},
    {"zero_radius", head + "[particles]\nradius = 0\n", "scene.toml:4:10: particles.radius is 0, but must be positive"},
    {"negative_radius", head + "[particles]\nradius = -0.1\n",
     "scene.toml:4:10: particles.radius is -0.1, but must be positive"},
    {"radius_beyond_the_box", head + "[particles]\nradius = 1.5\n",
     "scene.toml:4:10: particles.radius is 1.5: a grain of that size does not fit the box along x"},
    {"box_upside_down", head + "[box]\nlower = [0, 0, 2]\n",
     "scene.toml:3:1: box.upper is 1 along z, but must lie above box.lower (2)"},
    {"no_cells", head + "[grid]\ncells = [64, 0, 64]\n",
     "scene.toml:4:9: grid.cells is 0 along y, but must be at least 1"},
    {"cells_smaller_than_grains", head + "[grid]\ncells = [64, 64, 65]\n",
     "scene.toml:4:9: grid.cells is 65 along z: cells of edge 0.03076923076923077 are smaller than a grain (2 radius = "
     "0.03125); "
     "at most 64 fit"},
    {"capacity", head + "[grid]\ncapacity = -1\n", "scene.toml:4:12: grid.capacity is -1, but must not be negative"},
    {"too_many_cells",
     head + "[grid]\ncells = [1, 2_000_000_000, 1]\n[particles]\ncount = 1\nradius = 1e-10\n[run]\nprecision = "
            "\"double\"\n",
     "scene.toml:4:9: grid.cells is 2000000000 along y, but at most 1000000000 are possible"},
    {"box_cannot_hold_the_grains", head + "[particles]\ncount = 262_145\n",
     "scene.toml:4:9: particles.count is 262145, but the box holds only 262144 grains on a lattice of spacing 2 radius "
     "(64 x 64 x 64); use fewer, a larger box or a smaller radius"},
    {"half_box_cannot_hold_the_grains", head + "[particles]\ncount = 600_000\nstart = \"left_half\"\n",
     "scene.toml:4:9: particles.count is 600000, but the box holds only 524288 grains, two for each site of a lattice "
     "of spacing 2 radius (64 x 64 x 64); use fewer, a larger box or a smaller radius"},
    {"time_step", head + "[physics]\ntime_step = 0\n", "scene.toml:4:13: physics.time_step is 0, but must be positive"},
    {"spring", head + "[physics]\nspring = -1\n", "scene.toml:4:10: physics.spring is -1, but must not be negative"},
    {"wall", head + "[physics]\nwall_restitution = 0.5\n",
     "scene.toml:4:20: physics.wall_restitution is 0.5, but must lie between -1 and 0 (it multiplies the velocity at a "
     "wall)"},
    {"collider_without_radius", head + "[collider]\ncenter = [0, 0, 0]\n",
     "scene.toml:3:1: collider.radius is missing: a collider needs a center and a radius"},
    {"collider_without_center", head + "[collider]\nradius = 1\n",
     "scene.toml:3:1: collider.center is missing: a collider needs a center and a radius"},
    {"collider_radius", head + "[collider]\ncenter = [0, 0, 0]\nradius = 0\n",
     "scene.toml:5:10: collider.radius is 0, but must be positive"},
    {"steps", head + "[run]\nsteps = -1\n", "scene.toml:4:9: run.steps is -1, but must not be negative"},
    {"method", head + "[run]\nmethod = \"linked_lose\"\n",
     "scene.toml:4:10: run.method cannot be \"linked_lose\"; did you mean \"linked_loose\"?"},
    {"threads", head + "[run]\nthreads = -2\n",
     "scene.toml:4:11: run.threads is -2, but must lie between 0 (all) and 4096"},
    {"frames", head + "[output]\nframe_every = -2\n",
     "scene.toml:4:15: output.frame_every is -2, but must not be negative"},
    {"no_frame_format", head + "[output]\nframe_format = []\n",
     "scene.toml:4:16: output.frame_format is empty; valid are \"vtp\", \"vtu\", \"xyz\""},
    {"unknown_frame_format", head + "[output]\nframe_format = [\"vtp\", \"gsd\"]\n",
     "scene.toml:4:24: output.frame_format cannot be \"gsd\"; valid are \"vtp\", \"vtu\", \"xyz\""},
    {"frame_format_of_wrong_type", head + "[output]\nframe_format = 3\n",
     "scene.toml:4:16: output.frame_format must be a string or an array of strings, not an integer"},
    {"frame_format_twice", head + "[output]\nframe_format = [\"xyz\", \"xyz\"]\n",
     "scene.toml:4:24: output.frame_format names \"xyz\" twice"},
};

std::string name_of_case(const testing::TestParamInfo<bad_scene>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(names, bad_scenes, testing::ValuesIn(syntax_and_names), name_of_case);
INSTANTIATE_TEST_SUITE_P(types, bad_scenes, testing::ValuesIn(bad_types), name_of_case);
INSTANTIATE_TEST_SUITE_P(values, bad_scenes, testing::ValuesIn(bad_values), name_of_case);

TEST(scene, frames_have_one_format_or_several) {
  using formats = std::vector<frame_file_format>;
  const auto read = [](const std::string& text) {
    return parse_scene<granular_scene>(head + text, "scene.toml").scene;
  };
  EXPECT_EQ(read("").output.frame_format, (formats{frame_file_format::vtp}));
  EXPECT_EQ(read("[output]\nframe_format = \"xyz\"\n").output.frame_format, (formats{frame_file_format::xyz}));
  const granular_scene both = read("[output]\nframe_format = [\"xyz\", \"vtu\"]\n");
  EXPECT_EQ(both.output.frame_format, (formats{frame_file_format::xyz, frame_file_format::vtu}));
  EXPECT_NE(to_text(both).find("output.frame_format = [\"xyz\", \"vtu\"]\n"), std::string::npos);
}

TEST(scene, syntax_errors_name_their_place) {
  EXPECT_TRUE(verdict("[scene\nmodel = 1").starts_with("scene.toml:1:7: ")) << verdict("[scene\nmodel = 1");
  EXPECT_TRUE(verdict(head + "[run]\nsteps = 1\nsteps = 2\n").starts_with("scene.toml:5:")) << "duplicate key";
}

TEST(scene, a_value_from_an_option_is_blamed_on_the_option) {
  auto file = parse_scene<granular_scene>(head, "scene.toml");
  file.scene.particles.count = 0;
  file.places.set("particles.count", "--particles");
  try {
    check(file.scene, file.places, methods);
    FAIL();
  } catch (const scene_error& failure) {
    EXPECT_STREQ(failure.what(), "--particles: particles.count is 0, but must be at least 1");
  }
}

TEST(scene, a_missing_file_is_an_io_error) {
  try {
    static_cast<void>(read_scene<granular_scene>("/nowhere/scene.toml"));
    FAIL();
  } catch (const io_error& failure) {
    EXPECT_STREQ(failure.what(), "cannot read /nowhere/scene.toml: No such file or directory");
  }
}

TEST(scene, cells_are_counted_right_in_decimal_numbers) {
  granular_scene scene;
  scene.box.lower = {0, 0, 0};
  scene.box.upper = {0.6, 0.7, 1.5};  // 0.6 / 0.2 rounds to 2.9999999999999996
  scene.particles.radius = 0.1;
  EXPECT_EQ(default_cells(scene), (int_triple{3, 3, 7}));
}

TEST(scene, grains_get_cells_of_their_size_in_any_box) {
  granular_scene scene;
  scene.particles.count = 10;
  scene.particles.radius = 1e-6;
  EXPECT_EQ(default_cells(scene), (int_triple{1'000'000, 1'000'000, 1'000'000}));
  scene.particles.radius = 1e-12;
  EXPECT_EQ(default_cells(scene), (int_triple{1'000'000'000, 1'000'000'000, 1'000'000'000}));
}

TEST(scene, a_name_that_would_leave_the_folder_is_refused) {
  for (const char* name : {"../x", "a/b", ".hidden"}) {
    const std::string text = "[scene]\nmodel = \"granular\"\nname = \"" + std::string(name) + "\"\n";
    EXPECT_NE(verdict(text).find("scene.name is \"" + std::string(name)), std::string::npos) << verdict(text);
  }
}

TEST(scene, a_box_that_float_cannot_resolve_is_refused_in_float_alone) {
  const std::string box = head + "[box]\nlower = [16777216, 0, 0]\nupper = [16777218, 2, 2]\n";
  EXPECT_NE(verdict(box).find("use precision = \"double\""), std::string::npos) << verdict(box);
  EXPECT_EQ(verdict(box + "[particles]\ncount = 50\n[run]\nprecision = \"double\"\n"), "ok");
}

TEST(scene, differences_that_matter_are_named) {
  granular_scene a;
  a.grid.cells = default_cells(a);
  const auto difference = [&](const granular_scene& b) {
    const auto found = first_difference(to_text(a), to_text(b));
    return found ? found->key + ": " + found->stored + " -> " + found->asked : std::string();
  };
  granular_scene b = a;
  b.run.steps = 5;
  b.run.threads = 7;
  b.run.method = "sorted";
  b.run.autotune = false;
  b.run.device = device_choice::cuda;
  b.output.directory = "elsewhere";
  EXPECT_EQ(difference(b), "");
  b.physics.spring = 0.25;
  EXPECT_EQ(difference(b), "physics.spring: 0.5 -> 0.25");
  b.physics.spring = 0.3;  // 0.29999999999999999 in 17 digits, as it is stored
  EXPECT_EQ(difference(b), "physics.spring: 0.5 -> 0.3");
  b = a;
  b.box.upper = {0.3, -0.7, 2};
  EXPECT_EQ(difference(b).substr(difference(b).find("->")), "-> [0.3, -0.7, 2]");
  b = a;
  b.particles.seed = 9007199254740993;  // no double
  EXPECT_NE(difference(b).find("-> 9007199254740993"), std::string::npos) << difference(b);
  b = a;
  b.collider.radius = 1;
  EXPECT_EQ(difference(b), "collider.radius:  -> 1");
  a.run.deterministic = b.run.deterministic = determinism::run_to_run;
  b.collider.radius.reset();
  b.run.method = "sorted";
  EXPECT_EQ(difference(b), "run.method: \"auto\" -> \"sorted\"");
  a.run.deterministic = b.run.deterministic = determinism::canonical;
  EXPECT_EQ(difference(b), "");
  b.run.device = device_choice::cpu;
  EXPECT_EQ(difference(b), "run.device: \"auto\" -> \"cpu\"");
}

TEST(scene, the_text_of_a_scene_is_valid_and_reads_back_as_the_same_scene) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 200; ++i) {
    granular_scene scene;
    scene.scene.model = "granular";
    scene.scene.name = "s";
    scene.physics.spring = std::exp(40 * uniform(random) - 20);
    scene.box.upper = {uniform(random), 1e-7 * uniform(random), 1e9 * uniform(random)};
    scene.particles.seed = static_cast<std::int64_t>(random() >> 1);
    if (i % 2 == 0) scene.collider.center = triple{uniform(random), 0, 0};
    if (i % 3 == 0) scene.grid.cells = int_triple{i, 2, 3};
    const std::string text = to_text(scene);
    // Dotted keys are valid TOML, too.
    EXPECT_EQ(to_text(parse_scene<granular_scene>(text, "t").scene), text);
  }
}

TEST(scene_reader, characters_beyond_ascii_are_possible_in_strings_and_comments_only) {
  const auto complaint = [](const std::string& text) {
    return test::error_of<scene_error>([&] { static_cast<void>(parse_scene<granular_scene>(text, "s.toml")); });
  };
  const std::string start = "[scene]\nmodel = \"granular\"\n";
  for (const char* accepted :
       {"name = \"d\u00fcne\"  # \u00e9\n", "name = 'd\u00fcne'\n", "name = \"\"\"\u00e9 \"quoted\" \u00e9\"\"\"\n",
        "name = \"\\\" \u00e9\"\n", "# it's \u00e9\n"}) {
    EXPECT_EQ(complaint(start + accepted), "no error") << accepted;
  }
  EXPECT_EQ(complaint("\xef\xbb\xbf" + start), "no error");
  const std::string wanted = ": a character beyond ASCII is possible in strings and comments only";
  EXPECT_EQ(complaint(start + "name = \"a\" \u00e9\n"), "s.toml:3:12" + wanted);
  EXPECT_EQ(complaint(start + "name = '\u00e9' \u0416\n"), "s.toml:3:12" + wanted);
  EXPECT_EQ(complaint("\u00a0[scene]\n"), "s.toml:1:1" + wanted);
  EXPECT_EQ(complaint(start + "n\u00e4me = 1\n"), "s.toml:3:2" + wanted);
}

}  // namespace
}  // namespace quadrat::io
