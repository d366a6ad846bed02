// SPDX-License-Identifier: BSD-3-Clause
#include "core/suggestion.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/core/method_list.hpp"

namespace quadrat::detail {
namespace {

constexpr std::array<std::string_view, 4> names{"sum", "minimum", "maximum", "key_count"};

TEST(edit_distance, counts_letters_to_insert_remove_replace_and_swap) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("abc", "abcd"), 1u);
  EXPECT_EQ(edit_distance("abc", "axc"), 1u);
  EXPECT_EQ(edit_distance("abcd", "abdc"), 1u) << "neighbors that are swapped count once";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("Key-Count", "key_count"), 0u);
}

TEST(nearest, is_a_name_that_can_have_been_meant) {
  EXPECT_EQ(nearest("minmum", names), "minimum");
  EXPECT_EQ(nearest("MAXIMUM", names), "maximum");
  EXPECT_EQ(nearest("smu", names), "sum");
  EXPECT_EQ(nearest("median_of_all", names), "");
  EXPECT_EQ(nearest("max", names), "maximum") << "a name may be cut short";
  EXPECT_EQ(nearest("key", names), "key_count");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("sum", {}), "");
}

TEST(nearest_first, has_all_names_and_keeps_the_order_of_equally_near_ones) {
  EXPECT_EQ(nearest_first("maximm", names), (std::vector<std::string_view>{"maximum", "minimum", "sum", "key_count"}));
  constexpr std::array<std::string_view, 3> equal{"ax", "bx", "cx"};
  EXPECT_EQ(nearest_first("dx", equal), (std::vector<std::string_view>{"ax", "bx", "cx"}));
}

TEST(suggestion, is_the_nearest_name_or_all_that_are_valid) {
  EXPECT_EQ(suggestion("minmum", names), "did you mean \"minimum\"?");
  EXPECT_EQ(suggestion("median_of_all", names), "valid are \"sum\", \"minimum\", \"maximum\", \"key_count\"");
}

TEST(throw_unknown_method, folds_letters_as_every_suggestion_does) {
  try {
    throw_unknown_method("sum", "MINIMUM", names);
  } catch (const argument_error& refusal) {
    EXPECT_STREQ(refusal.what(), "unknown sum \"MINIMUM\"; valid, nearest first: minimum, maximum, sum, key_count");
  }
}

}  // namespace
}  // namespace quadrat::detail
