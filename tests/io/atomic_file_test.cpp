// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/atomic_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "io/temporary_folder.hpp"
#include "quadrat/core/error.hpp"

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

/// Whether the simulated file system supports files without names; many do not.
enum class naming { unnamed, named };

/// From now on the system refuses to give this process files without names.
void refuse_unnamed_files() {
  constexpr unsigned flag = O_TMPFILE & ~O_DIRECTORY;
  std::array<sock_filter, 6> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flag, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
  errno = 0;
  ASSERT_EQ(::open("/tmp", O_TMPFILE | O_WRONLY, 0600), -1);
  ASSERT_EQ(errno, EOPNOTSUPP);
}

/// Starts a process that ends with status 0 if the body has not failed.
::pid_t start_process(naming how, const std::function<void()>& body) {
  const ::pid_t child = ::fork();
  if (child != 0) return child;
  try {
    if (how == naming::named) refuse_unnamed_files();
    if (!testing::Test::HasFailure()) body();
  } catch (const std::exception& failure) {
    ADD_FAILURE() << failure.what();
  }
  std::fflush(stdout);
  ::_exit(testing::Test::HasFailure() ? 1 : 0);
}

int status_of(::pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

std::vector<std::string> names_in(const temporary_folder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.insert(entry.path().filename().string());
  }
  return {names.begin(), names.end()};
}

::mode_t mode_of(const std::filesystem::path& file) {
  struct stat found {};
  EXPECT_EQ(::stat(file.c_str(), &found), 0);
  return found.st_mode & 07777u;
}

class atomic_file_in_process : public testing::TestWithParam<naming> {
 protected:
  void in_process(const std::function<void()>& body) { EXPECT_EQ(status_of(start_process(GetParam(), body)), 0); }
  temporary_folder folder;
};

INSTANTIATE_TEST_SUITE_P(, atomic_file_in_process, testing::Values(naming::unnamed, naming::named),
                         [](const auto& of) { return of.param == naming::named ? "named" : "unnamed"; });

TEST_P(atomic_file_in_process, is_hidden_until_committed_and_leaves_nothing_else) {
  in_process([&] {
    for (const char* const text : {"first", "second"}) {
      atomic_file file(folder / "a");
      file.write(text);
      for (const std::string& name : names_in(folder)) {
        EXPECT_TRUE(name == "a" || (GetParam() == naming::named && target_of_temporary(name) == "a")) << name;
      }
      file.commit();
      EXPECT_EQ(contents(folder / "a"), text);
      EXPECT_EQ(names_in(folder), std::vector<std::string>{"a"});
    }
    const atomic_file abandoned(folder / "b");
  });
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"a"});
}

TEST_P(atomic_file_in_process, many_writers_of_one_file_all_succeed_and_one_of_them_has_it) {
  std::vector<::pid_t> children;
  for (int writer = 0; writer < 8; ++writer) {
    children.push_back(start_process(GetParam(), [&, writer] {
      for (int round = 0; round < 25; ++round) {
        write_text_file(folder / "a",
                        std::string(100000 + static_cast<std::size_t>(writer), static_cast<char>('a' + writer)));
        const std::string now = contents(folder / "a");
        ASSERT_GE(now.size(), 100000u);
        const auto owner = now.size() - 100000;
        ASSERT_EQ(now, std::string(now.size(), static_cast<char>('a' + owner)));
      }
    }));
  }
  for (const ::pid_t child : children) EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"a"});
}

TEST_P(atomic_file_in_process, keeps_the_permissions_of_the_file_that_it_replaces) {
  for (const ::mode_t mode : {0600u, 0640u, 0666u, 0755u}) {
    put(folder / "a", "old");
    ASSERT_EQ(::chmod((folder / "a").c_str(), mode), 0);
    in_process([&] { write_text_file(folder / "a", "new"); });
    EXPECT_EQ(contents(folder / "a"), "new");
    EXPECT_EQ(mode_of(folder / "a"), mode);
  }
}

TEST_P(atomic_file_in_process, keeps_the_owner_of_the_file_that_it_replaces) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  put(folder / "a", "old");
  ASSERT_EQ(::chown((folder / "a").c_str(), 12345, 54321), 0);
  in_process([&] { write_text_file(folder / "a", "new"); });
  struct stat found {};
  ASSERT_EQ(::stat((folder / "a").c_str(), &found), 0);
  EXPECT_EQ(found.st_uid, 12345u);
  EXPECT_EQ(found.st_gid, 54321u);
}

TEST_P(atomic_file_in_process, new_files_follow_the_umask) {
  in_process([&] {
    ::umask(027);
    write_text_file(folder / "a", "new");
    EXPECT_EQ(mode_of(folder / "a"), 0640u);
  });
}

TEST_P(atomic_file_in_process, a_link_stays_and_what_it_leads_to_is_replaced_or_created) {
  const auto inner = folder.path() / "inner";
  std::filesystem::create_directory(inner);
  put(inner / "file", "old");
  std::filesystem::create_symlink("inner/second", folder / "link");
  std::filesystem::create_symlink("file", inner / "second");
  std::filesystem::create_symlink(inner / "missing", folder / "dangling");
  in_process([&] {
    write_text_file(folder / "link", "new");
    write_text_file(folder / "dangling", "made");
  });
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(inner / "second"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "dangling"));
  EXPECT_EQ(contents(inner / "file"), "new");
  EXPECT_EQ(contents(inner / "missing"), "made");
  EXPECT_EQ(folder.entries(), 3u);
}

TEST_P(atomic_file_in_process, killed_at_any_moment_leaves_a_whole_file) {
  const std::string letters = "abcdefgh";
  write_text_file(folder / "a", std::string(300000, 'a'));
  for (int round = 0; round < 20; ++round) {
    const ::pid_t child = start_process(GetParam(), [&] {
      for (std::size_t i = 0;; ++i) write_text_file(folder / "a", std::string(300000, letters[i % letters.size()]));
    });
    ::usleep(static_cast<useconds_t>(1500 + 700 * round));
    ::kill(child, SIGKILL);
    status_of(child);
    const std::string left = contents(folder / "a");
    ASSERT_EQ(left.size(), 300000u);
    ASSERT_EQ(left, std::string(300000, left[0]));
    for (const std::string& name : names_in(folder))
      EXPECT_TRUE(name == "a" || target_of_temporary(name) == "a") << name;
  }
}

TEST_P(atomic_file_in_process, a_file_size_limit_is_an_error_like_a_full_disk) {
  put(folder / "a", "old");
  in_process([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const ::rlimit limit{100000, 100000};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_EQ(failure_of_writing(folder / "a", 300000), "cannot write " + (folder / "a").string() + ": File too large");
  });
  EXPECT_EQ(contents(folder / "a"), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST_P(atomic_file_in_process, a_process_that_ends_removes_the_files_of_its_open_writers) {
  in_process([&] {
    atomic_file first(folder / "a");
    atomic_file second(folder / "b");
    first.write(std::string(100000, 'x'));
    std::thread ends([] {
      remove_temporary_files();
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    });
    for (int i = 0;; ++i) write_text_file(folder / ("c" + std::to_string(i % 3)), "whole");
  });
  for (const std::string& name : names_in(folder)) EXPECT_EQ(name.substr(0, 1), "c");
}

TEST(atomic_file, a_loop_of_links_is_refused) {
  const temporary_folder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  EXPECT_EQ(failure_of_writing(folder / "a", 1),
            "cannot write " + (folder / "a").string() + ": Too many levels of symbolic links");
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(atomic_file, a_file_that_may_not_be_written_is_not_replaced) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs the right to become somebody else";
  const temporary_folder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  put(folder / "a", "old");
  EXPECT_EQ(status_of(start_process(naming::unnamed,
                                    [&] {
                                      ASSERT_EQ(::setuid(65534), 0);
                                      EXPECT_EQ(failure_of_writing(folder / "a", 1),
                                                "cannot write " + (folder / "a").string() + ": Permission denied");
                                    })),
            0);
  EXPECT_EQ(contents(folder / "a"), "old");
}

TEST(atomic_file, a_named_pipe_gets_the_bytes_and_stays) {
  const temporary_folder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const ::pid_t child = start_process(naming::unnamed, [&] { write_text_file(folder / "pipe", "through"); });
  EXPECT_EQ(contents(folder / "pipe"), "through");
  EXPECT_EQ(status_of(child), 0);
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(atomic_file, standard_output_is_written_where_it_stands) {
  const temporary_folder folder;
  put(folder / "log", "before ");
  EXPECT_EQ(status_of(start_process(naming::unnamed,
                                    [&] {
                                      const int log = ::open((folder / "log").c_str(), O_WRONLY | O_APPEND);
                                      ASSERT_EQ(::dup2(log, STDOUT_FILENO), STDOUT_FILENO);
                                      write_text_file("/dev/stdout", "one ");
                                      write_text_file("/dev/fd/" + std::to_string(log), "two ");
                                      write_text_file("/proc/self/fd/1", "three");
                                    })),
            0);
  EXPECT_EQ(contents(folder / "log"), "before one two three");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(atomic_file, devices_and_closed_pipes_say_what_they_refuse) {
  EXPECT_EQ(failure_of_writing("/dev/null", 100000), "no error");
  EXPECT_EQ(failure_of_writing("/dev/full", 1), "cannot write /dev/full: No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  const auto old = std::signal(SIGPIPE, SIG_IGN);
  const std::string file = "/dev/fd/" + std::to_string(ends[1]);
  EXPECT_EQ(failure_of_writing(file, 1), "cannot write " + file + ": Broken pipe");
  std::signal(SIGPIPE, old);
  ::close(ends[1]);
  EXPECT_EQ(failure_of_writing(file, 1), "cannot write " + file + ": Bad file descriptor");
}

TEST(atomic_file, long_names_get_temporary_files_too) {
  const temporary_folder folder;
  const std::string name(255, 'n');
  for (const auto how : {naming::unnamed, naming::named}) {
    EXPECT_EQ(status_of(start_process(how, [&] { write_text_file(folder / name, "x"); })), 0);
  }
  EXPECT_EQ(names_in(folder), std::vector<std::string>{name});
}

TEST(atomic_file, names_of_temporary_files_say_the_target) {
  EXPECT_EQ(target_of_temporary(".a.csv.0123456789abcdef.tmp"), "a.csv");
  for (const char* const other : {".a.csv.0123456789abcdeg.tmp", ".a.csv.0123456789abcde.tmp", "a.0123456789abcdef.tmp",
                                  ".a.csv.0123456789abcdef.tmp1", ".a.csv0123456789abcdef.tmp", ".0123456789abcdef.tmp",
                                  "..0123456789abcdef.tmp", ".a.csv.tmp", ".tmp", ""}) {
    EXPECT_EQ(target_of_temporary(other), "") << other;
  }
}

}  // namespace
}  // namespace quadrat::io
