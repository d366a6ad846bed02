// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/context.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <thread>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::test {

namespace {

cpu_context context_with(int threads) {
  cpu_context::options chosen;
  chosen.threads = threads;
  return cpu_context(chosen);
}

TEST(cpu_context, takes_the_number_of_threads_it_is_given) {
  EXPECT_EQ(context_with(3).threads(), 3);
  EXPECT_EQ(context_with(0).threads(), omp_get_max_threads());
  EXPECT_EQ(cpu_context().threads(), omp_get_max_threads());
}

TEST(cpu_context, refuses_impossible_numbers_of_threads) {
  EXPECT_THROW(context_with(-1), argument_error);
  EXPECT_THROW(context_with(cpu_context::most_threads + 1), argument_error);
  try {
    context_with(-7);
    FAIL() << "-7 threads were accepted";
  } catch (const argument_error& refusal) {
    EXPECT_STREQ(refusal.what(), "the number of threads is -7; it must be positive, or 0 for OpenMP's choice");
  }
}

TEST(cpu_context, keeps_what_it_was_made_with) {
  cpu_context::options chosen;
  chosen.reproducibility = determinism::canonical;
  const cpu_context context(chosen);
  EXPECT_EQ(context.reproducibility(), determinism::canonical);
  EXPECT_EQ(&context.memory(), &host_memory());
  EXPECT_EQ(cpu_context().reproducibility(), determinism::none);
}

TEST(cpu_context, gives_its_threads_to_the_work) {
  const cpu_context context = context_with(3);
  std::vector<int> worker(30'000, -1);
  for_each(context, "test", worker.size(), [&](std::size_t i) { worker[i] = omp_get_thread_num(); });
  for (const int thread : worker) {
    ASSERT_GE(thread, 0);
    ASSERT_LT(thread, 3);
  }
}

TEST(cpu_context, serves_two_host_threads_each_with_its_own) {
  constexpr std::size_t count = 50'000;
  std::vector<std::size_t> sums(2, 0);
  const auto work = [&](std::size_t which) {
    const cpu_context context = context_with(2 + static_cast<int>(which));
    std::vector<std::size_t> squares(count);
    for (int repetition = 0; repetition < 50; ++repetition) {
      for_each(context, "test", count, [&](std::size_t i) { squares[i] = i * i + which; });
    }
    for (const std::size_t square : squares) sums[which] += square;
  };
  std::thread first(work, 0);
  std::thread second(work, 1);
  first.join();
  second.join();
  EXPECT_EQ(sums[1], sums[0] + count);
}

TEST(cuda_context, says_so_where_there_is_no_device) {
  if (!cuda_devices().empty()) GTEST_SKIP() << "this machine has one";
  EXPECT_THROW(cuda_context{}, backend_error);
}

TEST(cuda_context, refuses_devices_that_do_not_exist) {
  if (cuda_devices().empty()) GTEST_SKIP() << "no CUDA device";
  cuda_context::options chosen;
  for (const int device : {-1, static_cast<int>(cuda_devices().size())}) {
    chosen.device = device;
    EXPECT_THROW(cuda_context{chosen}, argument_error);
  }
}

TEST(cuda_context, shares_its_stream_with_its_copies_and_with_nobody_else) {
  if (cuda_devices().empty()) GTEST_SKIP() << "no CUDA device";
  const cuda_context context;
  const cuda_context copy = context;
  const cuda_context other;
  EXPECT_EQ(context.stream(), copy.stream());
  EXPECT_NE(context.stream(), other.stream());
  EXPECT_GT(context.multiprocessors(), 0);
  EXPECT_EQ(context.device(), 0);
}

TEST(cuda_context, copies_and_fills_memory_of_its_device_whichever_is_current) {
  if (cuda_devices().size() < 2) GTEST_SKIP() << "there are no two CUDA devices";
  const std::vector<int> given{1, 2, 3};
  const cuda_context first({.device = 0}), second({.device = 1});
  for (const cuda_context* const context : {&first, &second, &first}) {
    auto there = to_device(*context, given);
    const cuda_context* const another = context == &first ? &second : &first;
    another->activate();
    EXPECT_EQ(to_host(*context, there), given);
    another->activate();
    fill_bytes(*context, there.data(), 0, there.bytes());
    another->activate();
    copy_bytes(*context, given.data(), there.data(), sizeof(int));
    EXPECT_EQ(to_host(*context, there), (std::vector<int>{1, 0, 0}));
  }
}

TEST(cuda_devices, describes_each_device) {
  for (const device_description& device : cuda_devices()) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.memory_bytes, 0u);
    EXPECT_GT(device.multiprocessors, 0);
    EXPECT_GE(device.compute_capability, 50);
  }
}

}  // namespace

}  // namespace quadrat::test
