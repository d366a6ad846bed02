// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/choice/choose_method.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "quadrat/core/error.hpp"

namespace quadrat {
namespace {

constexpr std::array all_tasks{method_task::spread, method_task::reduce, method_task::neighbors, method_task::contacts};

TEST(choose_method_of_a_load, is_the_fastest_candidate_on_both_kinds_of_devices) {
  for (const bool cuda : {false, true}) {
    for (const method_task task : all_tasks) {
      for (const double count : {0.0, 1.0, 1e3, 1e6, 1e9}) {
        described_load load;
        load.count = count;
        const explanation found = choose_method(task, load, shipped_profile(cuda));
        ASSERT_FALSE(found.candidates.empty());
        EXPECT_EQ(found.chosen, found.candidates.front().method) << found.what << " " << count;
        EXPECT_TRUE(found.candidates.front().why_not.empty());
      }
    }
  }
}

TEST(choose_method_of_a_load, answers_for_a_gpu_in_builds_without_cuda_too) {
  const described_load load{1e6};
  EXPECT_EQ(choose_method(method_task::spread, load, shipped_profile(true)).chosen, "tiles");
  EXPECT_EQ(choose_method(method_task::neighbors, load, shipped_profile(true)).chosen, "masks");
  EXPECT_EQ(choose_method(method_task::neighbors, described_load{5000}, shipped_profile(true)).chosen, "warps");
  EXPECT_EQ(choose_method(method_task::spread, load, shipped_profile(true), determinism::canonical).chosen,
            "single_mesh");
}

TEST(choose_method_of_a_load, is_that_of_a_context_by_its_profile) {
  cpu_context::options options;
  options.reproducibility = determinism::run_to_run;
  const cpu_context context(options);
  for (const method_task task : all_tasks) {
    const explanation found = choose_method(task, described_load{1e5}, context);
    EXPECT_EQ(found.json(),
              choose_method(task, described_load{1e5}, profile_of(context), determinism::run_to_run, 1).json())
        << "at run_to_run threads do not count";
  }
}

TEST(choose_method_of_a_load, refuses_what_is_no_load_and_names_the_number) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<described_load, std::string>> wrong{
      {{-1}, "n is -1"},
      {{1.5}, "n is 1.5"},
      {{infinity}, "n is inf"},
      {{std::numeric_limits<double>::quiet_NaN()}, "n is nan"},
      {{10, {}}, "cells have 0 axes"},
      {{10, {4, 4, 4, 4}}, "cells have 4 axes"},
      {{10, {4, 0}}, "cells along an axis are 0"},
      {{10, {4}, 9}, "order is 9"},
      {{10, {4}, 6, 0.5}, "uses is 0.5"},
      {{10, {4}, 6, infinity}, "uses is inf"},
      {{10, {4}, 6, 1, -1}, "keys is -1"},
      {{10, {4}, 6, 1, 2147483648.0}, "keys is 2147483648"},
      {{10, {4}, 6, 1, 4, false, infinity}, "contacts of a body are inf"},
  };
  for (const auto& [load, words] : wrong) {
    try {
      static_cast<void>(choose_method(method_task::spread, load, shipped_profile(false)));
      ADD_FAILURE() << words << " was accepted";
    } catch (const argument_error& e) {
      EXPECT_EQ(std::string(e.what()).substr(0, words.size()), words);
    }
  }
  EXPECT_THROW(static_cast<void>(choose_method(method_task::spread, described_load{1}, shipped_profile(false),
                                               determinism::none, -1)),
               argument_error);
}

}  // namespace
}  // namespace quadrat
