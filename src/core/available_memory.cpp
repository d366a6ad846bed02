// SPDX-License-Identifier: BSD-3-Clause
#include "core/available_memory.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace quadrat::detail {
namespace {

constexpr std::size_t unknown = ~std::size_t{0};

/// The beginning of a small file; empty if it cannot be read.
class small_text {
 public:
  explicit small_text(const char* file) noexcept {
    const int descriptor = ::open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    // The kernel returns its generated files in one read of up to a page.
    const ::ssize_t length = ::read(descriptor, text_, sizeof(text_) - 1);
    if (length > 0) text_[length] = '\0';
    ::close(descriptor);
  }

  /// The number right after `name`; without a name, the number at the start of the text.
  [[nodiscard]] std::size_t number(const char* name = "") const noexcept {
    const char* const found = std::strstr(text_, name);
    if (found == nullptr) return unknown;
    const char* const begin = found + std::strlen(name);
    char* end = nullptr;
    const unsigned long long value = std::strtoull(begin, &end, 10);
    return end == begin ? unknown : static_cast<std::size_t>(value);  // unlimited: the text is "max"
  }
  [[nodiscard]] const char* text() const noexcept { return text_; }

 private:
  char text_[4096] = {};
};

std::size_t or_nothing(std::size_t number) { return number == unknown ? 0 : number; }
std::size_t difference(std::size_t whole, std::size_t part) { return whole > part ? whole - part : 0; }

/// The names of files and fields of one version of control groups.
struct group_files {
  const char* line;  ///< a line of /proc/self/cgroup contains this and ends with the group's path
  const char* root;
  const char *limit, *usage;
  const char *inactive, *active;  ///< file pages, which the kernel can reclaim
};
constexpr group_files versions[] = {
    {"0::", "/sys/fs/cgroup", "memory.max", "memory.current", "\ninactive_file ", "\nactive_file "},
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "\ntotal_inactive_file ",
     "\ntotal_active_file "}};

std::size_t number_in_group(const group_files& version, const char* path, const char* file, const char* name = "") {
  char whole[1280];
  std::snprintf(whole, sizeof whole, "%s%s/%s", version.root, path, file);
  return small_text(whole).number(name);
}

std::size_t left_in_group(const group_files& version, const char* path) {
  const std::size_t limit = number_in_group(version, path, version.limit);
  if (limit == unknown) return unknown;
  const std::size_t files = or_nothing(number_in_group(version, path, "memory.stat", version.inactive)) +
                            or_nothing(number_in_group(version, path, "memory.stat", version.active));
  return difference(limit, difference(or_nothing(number_in_group(version, path, version.usage)), files));
}

/// The least memory left in the group of this process and its ancestors.
std::size_t left_in_groups() {
  std::size_t least = unknown;
  const small_text groups("/proc/self/cgroup");
  for (const group_files& version : versions) {
    const char* const found = std::strstr(groups.text(), version.line);
    if (found == nullptr) continue;
    char path[1024] = {};
    const char* const begin = found + std::strlen(version.line);
    std::memcpy(path, begin, std::min(std::strcspn(begin, "\n"), sizeof(path) - 1));
    for (;;) {
      least = std::min(least, left_in_group(version, path));
      char* const slash = std::strrchr(path, '/');
      if (slash == nullptr) break;
      *slash = '\0';
    }
  }
  return least;
}

/// The memory left of a limit on what the process may map.
std::size_t left_of_limit(int resource, const char* used_name) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return unknown;
  return difference(limit.rlim_cur, 1024 * or_nothing(small_text("/proc/self/status").number(used_name)));
}

std::size_t read_available() {
  const small_text machine("/proc/meminfo");
  const std::size_t swap = 1024 * or_nothing(machine.number("SwapFree:"));
  const auto with_swap = [&](std::size_t bytes) { return bytes > unknown - swap ? unknown : bytes + swap; };
  const std::size_t kilobytes = machine.number("MemAvailable:");
  const std::size_t in_machine = kilobytes == unknown ? unknown : with_swap(1024 * kilobytes);
  return std::min({in_machine, with_swap(left_in_groups()), left_of_limit(RLIMIT_AS, "VmSize:"),
                   left_of_limit(RLIMIT_DATA, "VmData:")});
}

}  // namespace

std::size_t available_host_memory() noexcept {
  // Reading the kernel's files takes as long as a small call of the library.
  using clock = std::chrono::steady_clock;
  thread_local std::size_t available = 0;
  thread_local clock::time_point old{};
  const clock::time_point now = clock::now();
  if (now >= old) {
    available = read_available();
    old = now + std::chrono::milliseconds(10);
  }
  return available;
}

}  // namespace quadrat::detail
