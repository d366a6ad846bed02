// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/checkpoint.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <random>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include "support/errors.hpp"

namespace quadrat::io {
namespace {

checkpoint example(std::size_t particles = 100) {
  std::vector<float> positions(3 * particles);
  std::vector<double> history(particles);
  std::vector<std::uint32_t> ids(particles);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = 0.5f * static_cast<float>(i);
  for (std::size_t i = 0; i < particles; ++i) ids[i] = static_cast<std::uint32_t>(particles - i);
  checkpoint state;
  state.step = 1234567890123;
  state.particles = particles;
  state.precision_bytes = 4;
  state.parameters = "particles.count = 100\n";
  state.add<float>("positions", positions, 3);
  state.add<double>("history", history);
  state.add<std::uint32_t>("ids", ids);
  state.add<std::uint8_t>("empty", {});
  return state;
}

std::string checkpoint_error(const std::filesystem::path& file) {
  return test::error_of<io_error>([&] { static_cast<void>(read_checkpoint(file)); });
}

TEST(checkpoint, reads_back_what_was_written) {
  const temporary_folder folder;
  const checkpoint written = example();
  write_checkpoint(folder / "c", written);
  const checkpoint read = read_checkpoint(folder / "c");
  EXPECT_EQ(read.step, written.step);
  EXPECT_EQ(read.particles, written.particles);
  EXPECT_EQ(read.precision_bytes, 4u);
  EXPECT_EQ(read.parameters, written.parameters);
  ASSERT_EQ(read.arrays.size(), 4u);
  EXPECT_EQ(read.arrays[0].components, 3u);
  EXPECT_EQ(read.get<float>("positions"), written.get<float>("positions"));
  EXPECT_EQ(read.get<double>("history"), written.get<double>("history"));
  EXPECT_EQ(read.get<std::uint32_t>("ids"), written.get<std::uint32_t>("ids"));
  EXPECT_TRUE(read.get<std::uint8_t>("empty").empty());
  EXPECT_TRUE(read.has("ids"));
  EXPECT_FALSE(read.has("id"));
}

TEST(checkpoint, random_contents_survive) {
  const temporary_folder folder;
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    checkpoint state;
    state.step = random();
    state.particles = random();
    state.parameters = std::string(random() % 300, 'p');
    for (std::uint64_t a = random() % 5; a > 0; --a) {
      std::vector<std::uint64_t> values(random() % 10000);
      for (auto& value : values) value = random();
      state.add<std::uint64_t>(std::string(random() % 20, static_cast<char>('a' + a)), values, random() % 4);
    }
    write_checkpoint(folder / "c", state);
    const checkpoint read = read_checkpoint(folder / "c");
    ASSERT_EQ(read.step, state.step);
    ASSERT_EQ(read.parameters, state.parameters);
    ASSERT_EQ(read.arrays.size(), state.arrays.size());
    for (std::size_t i = 0; i < read.arrays.size(); ++i) {
      ASSERT_EQ(read.arrays[i].name, state.arrays[i].name);
      ASSERT_EQ(read.arrays[i].components, state.arrays[i].components);
      ASSERT_EQ(read.arrays[i].bytes, state.arrays[i].bytes);
    }
  }
}

TEST(checkpoint, asking_for_what_is_not_there_is_an_error) {
  const checkpoint state = example();
  EXPECT_THROW(static_cast<void>(state.get<float>("velocities")), io_error);
  EXPECT_THROW(static_cast<void>(state.get<double>("positions")), io_error);
}

TEST(checkpoint, a_missing_file_is_named) {
  EXPECT_EQ(checkpoint_error("/nowhere/c"), "cannot read /nowhere/c: No such file or directory");
}

TEST(checkpoint, each_kind_of_damage_is_told_apart) {
  const temporary_folder folder;
  const std::filesystem::path file = folder / "c";
  write_checkpoint(file, example());
  const std::string good = contents(file);
  const auto with = [&](std::size_t at, char value) {
    std::string bytes = good;
    bytes[at] = value;
    put(file, bytes);
    return checkpoint_error(file).substr(file.string().size() + 2);
  };
  EXPECT_EQ(with(0, 'X'), "not a Quadrat checkpoint (it does not begin with \"QUADRATC\")");
  EXPECT_EQ(with(8, 9), "checkpoint format version 9, but this program reads versions 1 and 2");
  EXPECT_EQ(with(12, 1), "written on a machine of another byte order, or damaged");
  EXPECT_TRUE(with(200, 99).starts_with("damaged: its checksum is ")) << with(200, 99);
  EXPECT_TRUE(with(good.size() - 1, good.back() ^ 1).starts_with("damaged: its checksum is "));
  put(file, good.substr(0, 40));
  EXPECT_EQ(checkpoint_error(file), file.string() + ": truncated: 40 bytes, but a checkpoint has at least 68");
  put(file, good.substr(0, good.size() - 1));
  EXPECT_EQ(checkpoint_error(file), file.string() + ": truncated: " + std::to_string(good.size() - 1) + " bytes, but " +
                                        std::to_string(good.size()) + " were written");
  put(file, good + "x");
  EXPECT_EQ(checkpoint_error(file), file.string() + ": damaged: " + std::to_string(good.size() + 1) + " bytes, but " +
                                        std::to_string(good.size()) + " were written");
}

TEST(checkpoint, every_flipped_byte_and_every_cut_is_noticed) {
  const temporary_folder folder;
  const std::filesystem::path file = folder / "c";
  write_checkpoint(file, example(5));
  const std::string good = contents(file);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    put(file, bytes);
    EXPECT_THROW(static_cast<void>(read_checkpoint(file)), io_error) << "byte " << i;
    put(file, good.substr(0, i));
    EXPECT_THROW(static_cast<void>(read_checkpoint(file)), io_error) << "cut at " << i;
  }
}

TEST(checkpoint, a_full_disk_leaves_the_older_checkpoint) {
  const temporary_folder folder;
  if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=512k") != 0) GTEST_SKIP() << "needs the right to mount";
  write_checkpoint(folder / "c", example(1000));
  std::string failure;
  try {
    write_checkpoint(folder / "c", example(100000));
  } catch (const io_error& e) {
    failure = e.what();
  }
  const std::uint64_t left = read_checkpoint(folder / "c").particles;
  const std::size_t entries = folder.entries();
  ::umount(folder.path().c_str());
  EXPECT_EQ(failure, "cannot write " + (folder / "c").string() + ": No space left on device");
  EXPECT_EQ(left, 1000u);
  EXPECT_EQ(entries, 1u);
}

}  // namespace
}  // namespace quadrat::io
