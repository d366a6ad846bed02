// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/particle_frame.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "io/temporary_folder.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/frames.hpp"

namespace quadrat::io {
namespace {

particle_frame two_ions() {
  particle_frame frame;
  frame.time = 0.1;
  frame.positions = {{0.5f, -1, 1e-8f}, {1, 2, 3}};
  frame.velocities = {{0, 0, 0.25f}, {-1, 0, 0}};
  frame.radii = {0.5f, 2};
  frame.fields = {{"charge", {1, -1}}};
  frame.lower = {-1, -2, 0};
  frame.upper = {1, 2, 4};
  frame.periodic = {true, true, false};
  return frame;
}

TEST(particle_frame, is_written_as_extended_xyz) {
  const temporary_folder folder;
  write_xyz(folder / "a.xyz", two_ions());
  EXPECT_EQ(contents(folder / "a.xyz"),
            "2\n"
            "Lattice=\"2 0 0 0 4 0 0 0 4\" Origin=\"-1 -2 0\" pbc=\"T T F\" "
            "Properties=species:S:1:pos:R:3:velo:R:3:radius:R:1:charge:R:1:id:I:1 Time=0.1\n"
            "X 0.5 -1 1e-08 0 0 0.25 0.5 1 0\n"
            "X 1 2 3 -1 0 0 2 -1 1\n");
}

TEST(particle_frame, reads_back_with_all_digits_box_and_charges) {
  const temporary_folder folder;
  particle_frame frame;
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int i = 0; i < 5000; ++i) frame.positions.push_back({uniform(random), uniform(random), uniform(random)});
  frame.fields = {{"charge", std::vector<float>(5000, 0.1f)}};
  frame.lower = {-1.0 / 3, 0, 0};
  frame.periodic = {true, false, true};
  write_xyz(folder / "a.xyz", frame);
  std::size_t frames = 0;
  for_each_frame(folder / "a.xyz", {.charges = true}, [&](const file_frame& read) {
    ++frames;
    ASSERT_EQ(read.positions.size(), frame.positions.size());
    for (std::size_t i = 0; i < frame.positions.size(); ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        ASSERT_EQ(static_cast<float>(read.positions[i][axis]), frame.positions[i][axis]);
      }
      ASSERT_EQ(static_cast<float>(read.charges[i]), 0.1f);
    }
    EXPECT_EQ(read.origin, frame.lower);
    EXPECT_EQ((*read.lattice)[0], (vec<double, 3>{1 - frame.lower[0], 0, 0}));
    EXPECT_EQ(read.periodic, frame.periodic);
  });
  EXPECT_EQ(frames, 1u);
}

TEST(particle_frame, may_be_empty) {
  const temporary_folder folder;
  write_xyz(folder / "a.xyz", {});
  EXPECT_TRUE(read_first_frame(folder / "a.xyz").positions.empty());
}

TEST(particle_frame, of_unequal_lengths_or_with_a_name_that_is_taken_is_refused) {
  const auto refused = [](const char* part, auto&& change) {
    particle_frame frame = two_ions();
    change(frame);
    for (const auto write : {write_vtp, write_vtu, write_xyz}) {
      try {
        write("never.vtp", frame);
        ADD_FAILURE() << part;
      } catch (const argument_error& error) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      }
    }
    EXPECT_FALSE(std::filesystem::exists("never.vtp"));
  };
  refused("2 positions and 1 values of velocity", [](particle_frame& f) { f.velocities.pop_back(); });
  refused("2 positions and 3 values of radius", [](particle_frame& f) { f.radii.push_back(1); });
  refused("2 positions and 0 values of charge", [](particle_frame& f) { f.fields[0].values.clear(); });
  for (const char* const name : {"", "id", "a b", "a:b", "\"", "radius"}) {
    refused("a field cannot be called", [&](particle_frame& f) { f.fields[0].name = name; });
  }
}

}  // namespace
}  // namespace quadrat::io
