// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "keyed/support.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "support/counting_memory.hpp"
#include "support/random.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

// Reducers that time methods, and reducers that do not.

namespace quadrat::test {

namespace {

class keyed_autotune_test : public backend_test {};

/// For few keys that are used several times several methods take nearly the same time.
[[nodiscard]] key_form used_often(bool autotune) {
  key_form options;
  options.uses = 6;
  options.autotune = autotune;
  return options;
}

constexpr std::size_t tuned_elements = 20'000, tuned_keys = 3;
constexpr std::size_t enough_turns = 60;

/// Keys and values, each element's value a small integer so that sums are exact, and what the sums are.
struct sum_problem {
  sum_problem(const backend_context& context, std::uint64_t seed) : expected(tuned_keys, 0.0f) {
    const auto words = random_words<std::uint32_t>(tuned_elements, seed, tuned_keys);
    std::vector<float> numbers(tuned_elements);
    for (std::size_t i = 0; i < tuned_elements; ++i) {
      numbers[i] = static_cast<float>((i * seed) % 7);
      expected[words[i]] += numbers[i];
    }
    keys = to_device(context, words);
    values = to_device(context, numbers);
  }

  array<std::uint32_t, backend_context> keys;
  array<float, backend_context> values;
  std::vector<float> expected;
};

/// Turns with two sets of keys. The methods that they used.
class keys_by_turns {
 public:
  explicit keys_by_turns(const backend_context& context)
      : context_(context),
        problems_{sum_problem(context, 5), sum_problem(context, 11)},
        results_(context, tuned_keys) {}

  void take(reducer& by_key, std::size_t count, bool check) {
    for (std::size_t k = 0; k < count; ++k) {
      const sum_problem& problem = problems_[k % 2];
      by_key.set_keys(problem.keys.data(), tuned_elements);
      for (int use = 0; use < 6; ++use) {
        by_key.reduce(packed_values<const float>(problem.values.data(), tuned_elements, 1),
                      packed_values(results_.data(), tuned_keys, 1), {key_operation::sum, false});
      }
      methods.insert(by_key.method());
      if (check || k + 1 == count) {
        ASSERT_EQ(to_host(context_, results_), problem.expected) << k << " " << by_key.method();
      }
    }
    by_key.check();
  }

  std::set<std::string_view> methods;

 private:
  backend_context context_;
  sum_problem problems_[2];
  array<float, backend_context> results_;
};

TEST_F(keyed_autotune_test, sums_are_right_while_methods_are_timed_and_the_fastest_stays) {
  const backend_context context = context_at(determinism::none, 1);
  reducer by_key(context, tuned_keys, used_often(true));
  keys_by_turns turns(context);
  turns.take(by_key, enough_turns, true);
  EXPECT_GT(turns.methods.size(), 1u) << by_key.explanation().text();
  EXPECT_EQ(by_key.explanation().changes.size(), 1u);
  turns.methods.clear();
  turns.take(by_key, enough_turns, true);
  EXPECT_EQ(turns.methods.size(), 1u);
}

TEST_F(keyed_autotune_test, without_it_the_method_stays_once_keys_were_sampled_and_equal_keys_allocate_nothing) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  keys_by_turns turns(context);
  reducer by_key(context, tuned_keys, used_often(false));
  turns.take(by_key, 200, true);
  const std::size_t allocations = memory.allocations();
  turns.methods.clear();
  turns.take(by_key, 400, false);
  EXPECT_EQ(turns.methods.size(), 1u);
  EXPECT_EQ(memory.allocations(), allocations);
  EXPECT_TRUE(by_key.explanation().changes.empty());
}

TEST_F(keyed_autotune_test, a_named_method_stays) {
  key_form options = used_often(true);
  options.method = "atomic";
  const backend_context context = context_at(determinism::none, 1);
  reducer by_key(context, tuned_keys, options);
  keys_by_turns turns(context);
  turns.take(by_key, enough_turns, false);
  EXPECT_EQ(turns.methods.size(), 1u);
}

TEST_F(keyed_autotune_test, is_refused_where_runs_must_be_repeatable) {
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    EXPECT_THROW(static_cast<void>(reducer(context_at(level), tuned_keys, used_often(true))), argument_error);
  }
}

TEST_F(keyed_autotune_test, a_memory_limit_holds) {
  const backend_context context;
  key_form options = used_often(true);
  options.most_bytes = 8 << 20;
  reducer by_key(context, tuned_keys, options);
  keys_by_turns turns(context);
  for (std::size_t k = 0; k < enough_turns; ++k) {
    turns.take(by_key, 1, false);
    ASSERT_LE(by_key.bytes(), options.most_bytes);
  }
}

TEST_F(keyed_autotune_test, other_numbers_of_elements_and_none_at_all_come_between) {
  const backend_context context = context_at(determinism::none, 1);
  reducer by_key(context, tuned_keys, used_often(true));
  keys_by_turns turns(context);
  const std::vector<std::uint32_t> few{2, 1, 2};
  const auto few_keys = to_device(context, few);
  const auto ones = to_device(context, std::vector<float>(3, 1.0f));
  array<float, backend_context> results(context, tuned_keys);
  for (std::size_t k = 0; k < 12; ++k) {
    turns.take(by_key, 5, true);
    by_key.set_keys(few_keys.data(), k % 4);
    by_key.reduce(packed_values<const float>(ones.data(), k % 4, 1), packed_values(results.data(), tuned_keys, 1),
                  {key_operation::sum, false});
    std::vector<float> expected(tuned_keys, 0.0f);
    for (std::size_t i = 0; i < k % 4; ++i) expected[few[i]] += 1;
    ASSERT_EQ(to_host(context, results), expected);
  }
}

#if QUADRAT_BACKEND_CUDA
TEST_F(keyed_autotune_test, what_is_captured_keeps_its_method) {
  const backend_context context = context_at(determinism::none, 1);
  reducer by_key(context, tuned_keys, used_often(true));
  keys_by_turns turns(context);
  turns.take(by_key, 6, true);
  const sum_problem problem(context, 23);
  array<float, backend_context> results(context, tuned_keys);
  const auto turn = [&] {
    by_key.set_keys_async(problem.keys.data(), tuned_elements);
    by_key.reduce_async(packed_values<const float>(problem.values.data(), tuned_elements, 1),
                        packed_values(results.data(), tuned_keys, 1), {key_operation::sum, false});
  };
  turn();
  cuda_graph graph;
  graph.capture(context, turn);
  turns.methods.clear();
  turns.take(by_key, enough_turns, false);
  EXPECT_EQ(turns.methods.size(), 1u);
  fill_bytes(context, results.data(), 0xff, results.bytes());
  graph.launch(context);
  EXPECT_EQ(to_host(context, results), problem.expected);
}
#endif

}  // namespace

}  // namespace quadrat::test
