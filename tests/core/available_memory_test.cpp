// SPDX-License-Identifier: BSD-3-Clause
#include "core/available_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>

#include "core/memory_check.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

constexpr std::size_t gibibyte = std::size_t{1} << 30;

std::size_t bytes_of_status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (std::size_t kilobytes = 0; word == name && file >> kilobytes) return 1024 * kilobytes;
  }
  return 0;
}

/// Lowers the soft limit on address space for a scope.
class address_space_limit {
 public:
  explicit address_space_limit(std::size_t bytes) : lowered_(bytes) {
    getrlimit(RLIMIT_AS, &before_);
    const rlimit lowered{bytes, before_.rlim_max};
    setrlimit(RLIMIT_AS, &lowered);
  }
  ~address_space_limit() { setrlimit(RLIMIT_AS, &before_); }
  address_space_limit(const address_space_limit&) = delete;
  address_space_limit& operator=(const address_space_limit&) = delete;

  [[nodiscard]] bool holds() const {
    rlimit now{};
    getrlimit(RLIMIT_AS, &now);
    return now.rlim_cur == lowered_;
  }

 private:
  rlim_t lowered_;
  rlimit before_{};
};

class memory_of_resource final : public memory_resource {
 public:
  explicit memory_of_resource(std::size_t free) : free_(free) {}
  void* allocate(std::size_t, cuda_stream) override { return nullptr; }
  void deallocate(void*, std::size_t, cuda_stream) noexcept override {}
  std::size_t available_bytes() const override { return free_; }

 private:
  std::size_t free_;
};

TEST(available_memory, is_some_and_no_more_than_the_machine_has) {
  const std::size_t bytes = detail::available_host_memory();
  EXPECT_GT(bytes, std::size_t{1} << 20);
  EXPECT_LT(bytes, std::size_t{1} << 48);
  EXPECT_EQ(bytes / gibibyte / 4, host_memory().available_bytes() / gibibyte / 4);
}

/// What is said once an earlier answer is too old.
std::size_t available_now() {
  std::this_thread::sleep_for(std::chrono::milliseconds(11));
  return detail::available_host_memory();
}

TEST(available_memory, stays_within_the_limit_of_address_space) {
  const std::size_t mapped = bytes_of_status("VmSize:");
  ASSERT_GT(mapped, 0u);
  const address_space_limit limit(mapped + gibibyte);
  if (!limit.holds()) GTEST_SKIP() << "QEMU ignores limits of address space";
  // The stream that read the mapped size may have released pages since.
  EXPECT_LE(available_now(), gibibyte + (std::size_t{1} << 20));
  EXPECT_GT(available_now(), gibibyte / 2);
  const address_space_limit nothing(mapped / 2);
  EXPECT_EQ(available_now(), 0u);
}

TEST(require_memory, refuses_what_is_more_than_held_and_free_together) {
  const memory_of_resource memory(3 * gibibyte);
  EXPECT_NO_THROW(detail::require_memory(memory, "it", 4 * gibibyte, gibibyte, ""));
  const std::string text = error_of<argument_error>(
      [&] { detail::require_memory(memory, "a list of 7 pairs", 5 * gibibyte, gibibyte, "No."); });
  expect_words(text, {"a list of 7 pairs needs 5368709120 bytes (5.37 GB)", "4294967296 (4.29 GB) are free. No."});
}

TEST(require_memory, does_not_refuse_little) {
  EXPECT_NO_THROW(detail::require_memory(memory_of_resource(0), "it", 1 << 20, 0, ""));
}

}  // namespace

}  // namespace quadrat::test
