// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "quadrat/core/error.hpp"
#include "temporary_folder.hpp"

namespace quadrat::io {
namespace {

TEST(atomic_file, is_invisible_until_committed) {
  const temporary_folder folder;
  atomic_file file(folder / "a.txt");
  file.write("hello ");
  file.write("world");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.txt"));
  file.commit();
  EXPECT_EQ(contents(folder / "a.txt"), "hello world");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(atomic_file, replaces_the_older_file_only_on_commit) {
  const temporary_folder folder;
  put(folder / "a.txt", "old");
  {
    atomic_file file(folder / "a.txt");
    file.write(std::string(1000000, 'x'));
    EXPECT_EQ(contents(folder / "a.txt"), "old");
  }
  EXPECT_EQ(contents(folder / "a.txt"), "old");
  EXPECT_EQ(folder.entries(), 1u) << "the temporary file must be gone";
  write_text_file(folder / "a.txt", "new");
  EXPECT_EQ(contents(folder / "a.txt"), "new");
}

TEST(atomic_file, keeps_the_order_of_small_and_large_writes) {
  const temporary_folder folder;
  std::string expected;
  atomic_file file(folder / "a");
  for (const std::size_t size : {1u, 65535u, 1u, 65536u, 65537u, 3u, 200000u, 0u, 7u}) {
    const std::string part(size, static_cast<char>('a' + size % 26));
    file.write(part);
    expected += part;
  }
  file.commit();
  EXPECT_EQ(contents(folder / "a"), expected);
}

TEST(atomic_file, creates_missing_folders) {
  const temporary_folder folder;
  write_text_file(folder.path() / "b" / "c" / "a.txt", "x");
  EXPECT_EQ(contents(folder.path() / "b" / "c" / "a.txt"), "x");
}

std::string failure_of_writing(const std::filesystem::path& file, std::size_t bytes) {
  try {
    write_text_file(file, std::string(bytes, 'x'));
    return "no error";
  } catch (const io_error& failure) {
    return failure.what();
  }
}

TEST(atomic_file, says_what_could_not_be_created) {
  const temporary_folder folder;
  put(folder / "file", "x");
  EXPECT_EQ(failure_of_writing(folder.path() / "file" / "a", 1),
            "cannot create the folder " + (folder / "file").string() + ": Not a directory");
  std::filesystem::create_directory(folder / "d");
  EXPECT_EQ(failure_of_writing(folder / "d", 1), "cannot write " + (folder / "d").string() + ": Is a directory");
  EXPECT_EQ(folder.entries(), 2u) << "the temporary file must be gone";
}

TEST(atomic_file, leaves_the_older_file_when_the_disk_is_full) {
  const temporary_folder folder;
  if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=256k") != 0) GTEST_SKIP() << "needs the right to mount";
  write_text_file(folder / "a", "old");
  const std::string message = failure_of_writing(folder / "a", 1 << 20);
  const std::string left = contents(folder / "a");
  const std::size_t entries = folder.entries();
  ::umount(folder.path().c_str());
  EXPECT_EQ(message, "cannot write " + (folder / "a").string() + ": No space left on device");
  EXPECT_EQ(left, "old");
  EXPECT_EQ(entries, 1u) << "the temporary file must be gone";
}

TEST(atomic_file, killed_at_any_moment_leaves_a_whole_file) {
  const temporary_folder folder;
  const std::string sizes = "abcdefgh";
  write_text_file(folder / "a", std::string(300000, 'a'));
  for (int round = 0; round < 20; ++round) {
    const ::pid_t child = ::fork();
    if (child == 0) {
      for (std::size_t i = 0;; ++i) write_text_file(folder / "a", std::string(300000, sizes[i % sizes.size()]));
    }
    ::usleep(static_cast<useconds_t>(1500 + 700 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::string left = contents(folder / "a");
    ASSERT_EQ(left.size(), 300000u);
    ASSERT_EQ(left, std::string(300000, left[0]));
  }
}

}  // namespace
}  // namespace quadrat::io
