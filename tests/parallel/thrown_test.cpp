// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "quadrat/keyed/reduce_with.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"

// On CPUs, exceptions that a caller's functor throws in any thread are passed on by the loop.

namespace quadrat::test {

namespace {

struct refused_index : std::runtime_error {
  explicit refused_index(std::size_t i) : std::runtime_error("index " + std::to_string(i)), index(i) {}
  std::size_t index;
};

[[nodiscard]] cpu_context threads_of(int threads) {
  cpu_context::options chosen;
  chosen.threads = threads;
  return cpu_context(chosen);
}

/// The index of the exception that is passed on; `count` if there is none.
template <typename Work>
[[nodiscard]] std::size_t thrown_by(std::size_t count, const Work& work) {
  try {
    work();
  } catch (const refused_index& error) {
    return error.index;
  }
  return count;
}

constexpr std::size_t loop_length = 10'000;

TEST(thrown, for_each_throws_the_exception_of_the_least_index_that_threw) {
  for (const int threads : {1, 2, 3, 7}) {
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}, loop_length / 2, loop_length - 1}) {
      for (const std::size_t step : {std::size_t{1}, std::size_t{977}, loop_length}) {
        const auto thrown = thrown_by(loop_length, [&] {
          for_each(threads_of(threads), "test", loop_length, [&](std::size_t i) {
            if (i >= first && (i - first) % step == 0) throw refused_index(i);
          });
        });
        EXPECT_EQ(thrown, first) << threads << " threads, every " << step;
      }
    }
  }
}

TEST(thrown, every_index_before_the_one_that_threw_has_been_visited_and_none_twice) {
  for (const int threads : {1, 2, 5}) {
    std::vector<int> visits(loop_length, 0);
    const std::size_t bad = loop_length - 100;
    const auto thrown = thrown_by(loop_length, [&] {
      for_each(threads_of(threads), "test", loop_length, [&](std::size_t i) {
        ++visits[i];
        if (i == bad) throw refused_index(i);
      });
    });
    EXPECT_EQ(thrown, bad);
    for (std::size_t i = 0; i < loop_length; ++i) ASSERT_EQ(visits[i], i <= bad ? 1 : 0) << i;
  }
}

TEST(thrown, a_short_loop_throws_too) {
  for (const std::size_t count : {1u, 2u, 2047u, 2048u, 2049u}) {
    const auto thrown = thrown_by(
        count, [&] { for_each(threads_of(2), "test", count, [&](std::size_t i) { throw refused_index(i); }); });
    EXPECT_EQ(thrown, 0u) << count;
  }
}

TEST(thrown, a_loop_in_a_loop_throws) {
  const auto thrown = thrown_by(loop_length, [&] {
    for_each(threads_of(2), "outer", loop_length, [&](std::size_t i) {
      if (i != 9000) return;
      for_each(threads_of(2), "inner", loop_length, [&](std::size_t j) {
        if (j >= 8000) throw refused_index(j);
      });
    });
  });
  EXPECT_EQ(thrown, 8000u);
}

TEST(thrown, any_type_comes_out_and_the_next_loop_is_whole) {
  const cpu_context context = threads_of(3);
  const auto pointer = std::make_shared<int>(4);
  try {
    for_each(context, "test", loop_length, [&](std::size_t i) {
      if (i % 2 == 1) throw std::shared_ptr<int>(pointer);
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::shared_ptr<int>& caught) {
    EXPECT_EQ(*caught, 4);
  }
  EXPECT_EQ(pointer.use_count(), 1) << "an exception of another thread is still alive";
  std::atomic<std::size_t> visited{0};
  for_each(context, "test", loop_length, [&](std::size_t) { ++visited; });
  EXPECT_EQ(visited, loop_length);
}

TEST(thrown, reduce_throws_the_exception_of_the_least_index_that_threw) {
  for (const int threads : {1, 2, 3}) {
    const cpu_context context = threads_of(threads);
    workspace<cpu_context> scratch;
    for (const std::size_t count : {std::size_t{1}, std::size_t{1500}, std::size_t{100'000}}) {
      const auto thrown = thrown_by(count, [&] {
        static_cast<void>(reduce_sum(
            context, "test", count,
            [&](std::size_t i) {
              if (i >= count / 3) throw refused_index(i);
              return 1.0;
            },
            scratch));
      });
      EXPECT_EQ(thrown, count / 3);
      EXPECT_EQ(reduce_sum(
                    context, "test", count, [](std::size_t) { return 1.0; }, scratch),
                static_cast<double>(count));
    }
  }
}

/// Refuses to join a negative number.
struct strict_plus {
  double operator()(double a, double b) const {
    if (a < 0 || b < 0) throw std::domain_error("negative");
    return a + b;
  }
};

TEST(thrown, a_functor_reducer_throws_what_its_functor_throws_and_can_be_used_again) {
  const cpu_context context = threads_of(3);
  functor_reducer<cpu_context> reduction(context);
  const std::size_t count = 70'000;
  std::vector<std::uint32_t> keys(count);
  std::vector<double> values(count, 1.0), sums(7);
  for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<std::uint32_t>(i % 7);
  const auto reduce = [&] {
    reduction.reduce_any_order(keys.data(), values.data(), count, sums.data(), 7, strict_plus{}, 0.0);
  };
  values[count / 2] = -1;
  EXPECT_THROW(reduce(), std::domain_error);
  values[count / 2] = 1;
  reduce();
  reduction.check();
  double total = 0;
  for (const double sum : sums) total += sum;
  EXPECT_EQ(total, static_cast<double>(count));
}

}  // namespace

}  // namespace quadrat::test
