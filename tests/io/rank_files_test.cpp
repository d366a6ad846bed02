// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/rank_files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>

#include "io/checkpoint_hdf5.hpp"
#include "io/temporary_folder.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "quadrat/distributed/key_reducer.hpp"
#include "support/errors.hpp"

namespace quadrat::io {

namespace {

using test::error_of;
using test::expect_words;

[[nodiscard]] std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) result.push_back(entry.path().filename());
  std::sort(result.begin(), result.end());
  return result;
}

/// Particles [first, end) of many.
[[nodiscard]] particle_frame numbered_particles(std::uint64_t first, std::uint64_t end) {
  particle_frame frame;
  frame.time = 0.75;
  frame.first_id = first;
  frame.fields = {{"charge", {}}};
  for (std::uint64_t i = first; i < end; ++i) {
    const float x = static_cast<float>(i);
    frame.positions.push_back({x / 7, x / 3, -x});
    frame.velocities.push_back({x, 1, 2});
    frame.radii.push_back(0.5f + x);
    frame.fields[0].values.push_back(x / 9);
  }
  return frame;
}
[[nodiscard]] particle_frame share_of_frame(const communicator& ranks, std::uint64_t count) {
  const key_share own = keys_of_rank(count, ranks.rank(), ranks.size());
  return numbered_particles(own.first, own.end);
}

/// Arrays of the particles [first, end).
[[nodiscard]] checkpoint numbered_rows(std::uint64_t first, std::uint64_t end) {
  checkpoint rows;
  std::vector<float> positions;
  std::vector<double> weights;
  for (std::uint64_t i = first; i < end; ++i) {
    for (int axis = 0; axis < 3; ++axis) positions.push_back(static_cast<float>(i) + 0.1f * static_cast<float>(axis));
    weights.push_back(1.0 / static_cast<double>(i + 1));
  }
  rows.add<float>("positions", positions, 3);
  rows.add<double>("weights", weights);
  return rows;
}
[[nodiscard]] checkpoint rest_of_ranks(std::uint64_t particles) {
  checkpoint rest;
  rest.step = 77;
  rest.particles = particles;
  rest.parameters = "radius = 0.5\n";
  rest.add<std::uint64_t>("steps", std::vector<std::uint64_t>{1, 2, 3});
  rest.add<std::uint32_t>("nothing", {});
  return rest;
}
[[nodiscard]] checkpoint checkpoint_of_all(std::uint64_t particles) {
  checkpoint all = rest_of_ranks(particles);
  const checkpoint rows = numbered_rows(0, particles);
  all.arrays.insert(all.arrays.begin(), rows.arrays.begin(), rows.arrays.end());
  return all;
}
void write_share(communicator& ranks, const std::filesystem::path& file, std::uint64_t particles,
                 checkpoint_format format = checkpoint_format::automatic) {
  const key_share own = keys_of_rank(particles, ranks.rank(), ranks.size());
  write_checkpoint(ranks, file, numbered_rows(own.first, own.end),
                   ranks.rank() == 0 ? rest_of_ranks(particles) : checkpoint(), format);
}
void expect_same(const checkpoint& found, const checkpoint& expected) {
  EXPECT_EQ(found.step, expected.step);
  EXPECT_EQ(found.particles, expected.particles);
  EXPECT_EQ(found.precision_bytes, expected.precision_bytes);
  EXPECT_EQ(found.parameters, expected.parameters);
  EXPECT_EQ(found.arrays.size(), expected.arrays.size());
  for (const checkpoint_array& one : expected.arrays) {
    const auto same = std::ranges::find(found.arrays, one.name, &checkpoint_array::name);
    ASSERT_NE(same, found.arrays.end()) << one.name;
    EXPECT_EQ(same->type, one.type);
    EXPECT_EQ(same->components, one.components);
    EXPECT_EQ(same->bytes, one.bytes);
  }
}

[[nodiscard]] std::vector<checkpoint_format> formats() {
  if (hdf5_is_there()) return {checkpoint_format::own, checkpoint_format::hdf5};
  return {checkpoint_format::own};
}

class rank_files_test : public testing::TestWithParam<int> {
 protected:
  temporary_folder folder;
};
INSTANTIATE_TEST_SUITE_P(ranks, rank_files_test, testing::Values(1, 2, 3, 8));

TEST_P(rank_files_test, a_checkpoint_has_the_bytes_of_one_rank) {
  for (const std::uint64_t particles : {0u, 1u, 5u, 1000u}) {
    write_checkpoint(folder / "one", checkpoint_of_all(particles));
    run_ranks(GetParam(), [&](communicator& ranks) { write_share(ranks, folder / "several", particles); });
    EXPECT_EQ(contents(folder / "several"), contents(folder / "one")) << particles;
    EXPECT_EQ(files_in(folder.path()), (std::vector<std::string>{"one", "several"}));
  }
}

TEST_P(rank_files_test, an_hdf5_checkpoint_is_that_of_one_rank) {
  if (!hdf5_is_there()) GTEST_SKIP() << "no HDF5 in this build";
  for (const std::uint64_t particles : {0u, 1u, 5u, 1000u}) {
    run_ranks(GetParam(),
              [&](communicator& ranks) { write_share(ranks, folder / "several", particles, checkpoint_format::hdf5); });
    expect_same(read_checkpoint(folder / "several"), checkpoint_of_all(particles));
    EXPECT_EQ(contents(folder / "several").substr(512, 4), "\x89HDF");
    EXPECT_EQ(files_in(folder.path()), (std::vector<std::string>{"several"}));
  }
  // Parameters may need more room than the least in front of the HDF5 file.
  checkpoint rest = rest_of_ranks(0);
  rest.parameters = std::string(5000, 'x');
  run_ranks(GetParam(), [&](communicator& ranks) {
    write_checkpoint(ranks, folder / "long", checkpoint(), rest, checkpoint_format::hdf5);
  });
  expect_same(read_checkpoint(folder / "long"), rest);
}

TEST_P(rank_files_test, without_hdf5_its_checkpoints_are_refused) {
  if (hdf5_is_there()) GTEST_SKIP() << "HDF5 is in this build";
  run_ranks(GetParam(), [&](communicator& ranks) {
    expect_words(error_of<io_error>([&] { write_share(ranks, folder / "c", 5, checkpoint_format::hdf5); }),
                 {"cannot write", "HDF5"});
  });
  EXPECT_TRUE(files_in(folder.path()).empty());
}

void check_shares(int count, const std::filesystem::path& file, std::uint64_t particles) {
  run_ranks(count, [&](communicator& ranks) {
    constexpr std::string_view by_row[] = {"weights", "positions", "steps"};
    const checkpoint_share share = read_checkpoint(ranks, file, by_row);
    const key_share own = keys_of_rank(particles, ranks.rank(), ranks.size());
    const checkpoint expected = numbered_rows(own.first, own.end);
    EXPECT_EQ(share.rows.get<float>("positions"), expected.get<float>("positions"));
    EXPECT_EQ(share.rows.get<double>("weights"), expected.get<double>("weights"));
    EXPECT_EQ(share.rest.step, 77u);
    EXPECT_EQ(share.rest.particles, particles);
    EXPECT_EQ(share.rest.parameters, "radius = 0.5\n");
    // Not one for each particle, unless there is one: three numbers for it.
    const bool divides = particles == 1;
    EXPECT_EQ(share.rest.has("steps"), ranks.rank() == 0 && !divides);
    EXPECT_EQ(share.rest.has("nothing"), ranks.rank() == 0);
  });
}

TEST_P(rank_files_test, each_rank_reads_its_rows_of_a_checkpoint) {
  for (const std::uint64_t particles : {0u, 1u, 5u, 1000u}) {
    write_checkpoint(folder / "one", checkpoint_of_all(particles));
    check_shares(GetParam(), folder / "one", particles);
    if (!hdf5_is_there()) continue;
    run_ranks(3, [&](communicator& ranks) { write_share(ranks, folder / "h", particles, checkpoint_format::hdf5); });
    check_shares(GetParam(), folder / "h", particles);
  }
}

TEST_P(rank_files_test, damage_anywhere_is_found_by_all_ranks) {
  for (const checkpoint_format format : formats()) {
    run_ranks(2, [&](communicator& ranks) { write_share(ranks, folder / "sound", 20, format); });
    const std::string bytes = contents(folder / "sound");
    const auto error_with = [&](const std::string& damaged) {
      put(folder / "damaged", damaged);
      std::string words;
      run_ranks(GetParam(), [&](communicator& ranks) {
        constexpr std::string_view by_row[] = {"positions"};
        const std::string mine =
            error_of<io_error>([&] { static_cast<void>(read_checkpoint(ranks, folder / "damaged", by_row)); });
        if (ranks.rank() == 0) words = mine;
      });
      return words;
    };
    for (std::size_t place = 64; place < bytes.size(); place += format == checkpoint_format::own ? 37 : 371) {
      std::string damaged = bytes;
      damaged[place] = static_cast<char>(damaged[place] ^ 4);
      expect_words(error_with(damaged), {"damaged", "checksum"});
    }
    expect_words(error_with(bytes.substr(0, bytes.size() - 1)), {"truncated"});
    expect_words(error_with(bytes + "x"), {"damaged"});
    expect_words(error_with("QUAD"), {"truncated"});
    expect_words(error_with(bytes.substr(0, bytes.size() / 2)), {"truncated"});
    expect_words(error_with(std::string(200, 'x')), {"not a Quadrat checkpoint"});
  }
  run_ranks(GetParam(), [&](communicator& ranks) {
    expect_words(error_of<io_error>([&] { static_cast<void>(read_checkpoint(ranks, folder / "none", {})); }),
                 {"none", "No such file"});
  });
}

TEST_P(rank_files_test, xyz_has_the_bytes_of_one_rank) {
  for (const std::uint64_t count : {0u, 1u, 7u, 3000u}) {
    write_xyz(folder / "one.xyz", numbered_particles(0, count));
    run_ranks(GetParam(),
              [&](communicator& ranks) { write_xyz(ranks, folder / "all.xyz", share_of_frame(ranks, count)); });
    EXPECT_EQ(contents(folder / "all.xyz"), contents(folder / "one.xyz"));
  }
}

TEST_P(rank_files_test, pieces_are_joined_by_a_file_that_lists_those_with_particles) {
  for (const char* const kind : {"vtp", "vtu"}) {
    const auto file = folder / ("frame." + ("p" + std::string(kind)));
    run_ranks(GetParam(), [&](communicator& ranks) { write_pieces(ranks, file, share_of_frame(ranks, 5)); });
    const std::string joined = contents(file);
    std::uint64_t particles = 0;
    for (int rank = 0; rank < GetParam(); ++rank) {
      const key_share own = keys_of_rank(5, rank, GetParam());
      const std::string piece = message("frame_", rank, ".", kind);
      const bool listed = joined.find("<Piece Source=\"" + piece + "\"/>") != std::string::npos;
      EXPECT_EQ(listed, own.end > own.first) << piece;
      EXPECT_EQ(std::filesystem::exists(folder / piece), listed);
      EXPECT_EQ(file_of_piece(piece), listed || own.end == own.first ? "frame.p" + std::string(kind) : "");
      if (!listed) continue;
      // As one rank writes these particles.
      const particle_frame mine = numbered_particles(own.first, own.end);
      std::string(kind) == "vtp" ? write_vtp(folder / "expected", mine) : write_vtu(folder / "expected", mine);
      EXPECT_EQ(contents(folder / piece), contents(folder / "expected"));
      particles += mine.positions.size();
    }
    EXPECT_EQ(particles, 5u);
    for (const char* const word : {"PPointData", "\"velocity\"", "\"radius\"", "\"charge\"", "\"id\"", "PPoints",
                                   "\"TimeValue\"", "0.75", "\"BoxLower\""}) {
      EXPECT_NE(joined.find(word), std::string::npos) << word;
    }
  }
}

TEST_P(rank_files_test, no_particles_are_one_empty_piece) {
  run_ranks(GetParam(), [&](communicator& ranks) { write_pieces(ranks, folder / "f.pvtp", numbered_particles(0, 0)); });
  EXPECT_EQ(files_in(folder.path()), (std::vector<std::string>{"f.pvtp", "f_0.vtp"}));
}

/// A limit on the size of files stands for a full disk: it is met by the last rank first.
TEST_P(rank_files_test, where_a_disk_is_full_the_older_file_stays) {
  write_checkpoint(folder / "c", checkpoint_of_all(10));
  write_xyz(folder / "x.xyz", numbered_particles(0, 10));
  const std::string before = contents(folder / "c"), xyz_before = contents(folder / "x.xyz");
  ::rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const ::rlimit small{20000, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::vector<std::string> words(3 * static_cast<std::size_t>(GetParam()));
  run_ranks(GetParam(), [&](communicator& ranks) {
    const auto self = 3 * static_cast<std::size_t>(ranks.rank());
    words[self] = error_of<io_error>([&] { write_xyz(ranks, folder / "x.xyz", share_of_frame(ranks, 1000)); });
    for (std::size_t k = 0; k < 2; ++k) {
      words[self + 1 + k] =
          error_of<io_error>([&] { write_share(ranks, folder / "c", 1000, formats()[k % formats().size()]); });
    }
  });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  for (const std::string& one : words) expect_words(one, {"cannot write", "File too large"});
  EXPECT_EQ(contents(folder / "c"), before);
  EXPECT_EQ(contents(folder / "x.xyz"), xyz_before);
  EXPECT_EQ(files_in(folder.path()), (std::vector<std::string>{"c", "x.xyz"}));
}

TEST_P(rank_files_test, ranks_must_write_the_same_arrays) {
  if (GetParam() == 1) GTEST_SKIP() << "one rank";
  run_ranks(GetParam(), [&](communicator& ranks) {
    checkpoint rows;
    rows.add<float>(ranks.rank() == 1 ? "velocities" : "positions", std::vector<float>{1, 2, 3}, 3);
    expect_words(error_of<argument_error>([&] { write_checkpoint(ranks, folder / "c", rows, rest_of_ranks(1)); }),
                 {"different arrays"});
  });
  EXPECT_TRUE(files_in(folder.path()).empty());
}

TEST_P(rank_files_test, pieces_on_another_disk_are_missed) {
  if (GetParam() == 1) GTEST_SKIP() << "one rank";
  const temporary_folder elsewhere;
  run_ranks(GetParam(), [&](communicator& ranks) {
    const auto file = (ranks.rank() == 1 ? elsewhere : folder) / "f.pvtp";
    expect_words(error_of<io_error>([&] { write_pieces(ranks, file, share_of_frame(ranks, 100)); }),
                 {"f_1.vtp", "the same file system"});
  });
  EXPECT_FALSE(std::filesystem::exists(folder / "f.pvtp"));
}

TEST(file_of_piece_test, frames_of_one_rank_are_no_pieces) {
  EXPECT_EQ(file_of_piece("frame_00000100.vtp"), "");
  EXPECT_EQ(file_of_piece("frame_00000100.pvtp"), "");
  EXPECT_EQ(file_of_piece("frame_00000100_12.vtp"), "frame_00000100.pvtp");
  EXPECT_EQ(file_of_piece("frame_00000100_0.vtu"), "frame_00000100.pvtu");
  EXPECT_EQ(file_of_piece("frame_00000100_01.vtu"), "");
  EXPECT_EQ(file_of_piece("_.vtp"), "");
  EXPECT_EQ(file_of_piece(""), "");
}

}  // namespace

}  // namespace quadrat::io
