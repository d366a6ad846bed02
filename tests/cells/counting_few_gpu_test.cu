// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "cells/counting_few.hpp"
#include "quadrat/cells/keys.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/fault.hpp"
#include "reference/buckets.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

namespace {

/// All builds of a test use the same words, so that each must leave them as the next one needs them.
class counting_few : public backend_test {
 protected:
  void SetUp() override {
    backend_test::SetUp();
    if (IsSkipped()) return;
    words_ = array<std::uint32_t, cuda_context>(context_.emplace(), detail::few_words(detail::few_most_buckets));
    fill_bytes(*context_, words_.data(), 0, words_.bytes());
  }

  void expect_right(const std::vector<std::uint32_t>& keys, std::uint32_t bucket_count) {
    const cuda_context& context = *context_;
    const std::size_t count = keys.size();
    ASSERT_TRUE(detail::counts_few(count, bucket_count));
    const auto given = to_device(context, keys);
    fault_state<cuda_context> faults(context);
    array<std::uint32_t, cuda_context> key_words(context, count), ranks(context, count);
    // One word more, which must stay as it is.
    array<std::uint32_t, cuda_context> offsets(context, bucket_count + 2);
    fill_bytes(context, offsets.data(), 0xff, offsets.bytes());
    detail::count_few(context,
                      {words_.data(), key_words.data(), ranks.data(), offsets.data(), static_cast<std::uint32_t>(count),
                       bucket_count},
                      given_keys{given.data(), bucket_count, faults.flag()});
    EXPECT_EQ(to_host(context, key_words), keys);
    compare(to_host(context, offsets), to_host(context, ranks), keys, bucket_count);
    const auto words = to_host(context, words_);
    EXPECT_EQ(std::ranges::count(words, 0u), static_cast<std::ptrdiff_t>(words.size()));
  }

  [[nodiscard]] static std::vector<std::uint32_t> random_keys(std::size_t count, std::uint32_t bucket_count,
                                                              std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::vector<std::uint32_t> keys(count);
    for (auto& key : keys) key = static_cast<std::uint32_t>(generator() % bucket_count);
    return keys;
  }

 private:
  static void compare(const std::vector<std::uint32_t>& offsets, const std::vector<std::uint32_t>& ranks,
                      const std::vector<std::uint32_t>& keys, std::uint32_t bucket_count) {
    const auto expected = reference::buckets(keys, bucket_count);
    std::uint32_t before = 0;
    for (std::uint32_t bucket = 0; bucket < bucket_count; ++bucket) {
      ASSERT_EQ(offsets[bucket], before) << "bucket " << bucket;
      std::vector<bool> taken(expected[bucket].size(), false);
      for (const std::uint32_t element : expected[bucket]) {
        ASSERT_LT(ranks[element], taken.size()) << "element " << element;
        ASSERT_FALSE(taken[ranks[element]]) << "element " << element;
        taken[ranks[element]] = true;
      }
      before += static_cast<std::uint32_t>(expected[bucket].size());
    }
    EXPECT_EQ(offsets[bucket_count], before);
    EXPECT_EQ(offsets[bucket_count + 1], 0xffffffffu);
  }

  std::optional<cuda_context> context_;
  array<std::uint32_t, cuda_context> words_;
};

TEST_F(counting_few, agrees_with_the_reference_for_every_shape) {
  std::uint64_t seed = 1;
  for (const std::size_t count : {std::size_t{1}, std::size_t{511}, std::size_t{512}, std::size_t{513},
                                  std::size_t{21'952}, size_or(199'999, 9000)}) {
    for (const std::uint32_t buckets : {1u, 2u, 127u, 128u, 2047u, 2048u, 2049u, 17'576u, 32'768u, 5u}) {
      SCOPED_TRACE(testing::Message() << count << " elements in " << buckets << " buckets");
      expect_right(random_keys(count, buckets, ++seed), buckets);
    }
  }
}

TEST_F(counting_few, all_in_one_bucket_are_ranked) {
  for (const std::uint32_t bucket : {0u, 77u, 9999u}) {
    expect_right(std::vector<std::uint32_t>(size_or(50'000, 3000), bucket), 10'000);
  }
}

}  // namespace

}  // namespace quadrat::test
