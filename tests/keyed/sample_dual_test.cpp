// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "core/backend.hpp"
#include "quadrat/core/array.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

using detail::key_sample;
using detail::key_sample_layout;

class key_sample_test : public backend_test {
 protected:
  template <typename Key>
  std::vector<std::uint32_t> read(const std::vector<Key>& keys, std::uint32_t key_count) {
    const auto on_device = to_device(context_, keys);
    const detail::key_source source{on_device.data(), keys.size(), key_count, sizeof(Key) == 8, {}};
    return detail::read_key_sample(context_, source, key_sample_layout(source.count), scratch_);
  }
  template <typename Key>
  key_sample sample(const std::vector<Key>& keys, std::uint32_t key_count) {
    return summarize(key_sample_layout(keys.size()), read(keys, key_count));
  }

  backend_context context_;
  workspace<backend_context> scratch_;
};

/// Ten elements per key, in order.
[[nodiscard]] std::vector<std::uint32_t> ten_of_each_key(std::size_t count) {
  std::vector<std::uint32_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<std::uint32_t>(i / 10);
  return keys;
}

TEST_F(key_sample_test, takes_elements_that_exist_each_once_from_begin_to_end) {
  for (const std::size_t count : {1u, 31u, 33u, 4095u, 4096u, 4097u, 8191u, 100'003u}) {
    const key_sample_layout layout(count);
    std::set<std::size_t> elements;
    for (std::size_t s = 0; s < layout.taken; ++s) elements.insert(layout.element(s));
    EXPECT_LE(layout.taken, 4096u);
    EXPECT_LT(*elements.rbegin(), count);
    EXPECT_EQ(*elements.begin(), 0u);
    EXPECT_GE(*elements.rbegin() + 600, count);
    if (count <= 4096 || count > 16 * 4096) {
      EXPECT_EQ(elements.size(), layout.taken) << count;
    }
  }
}

TEST_F(key_sample_test, reads_keys_of_both_widths_where_the_layout_says) {
  const std::vector<std::uint64_t> wide = random_words<std::uint64_t>(50'000, 5, 1'000'000);
  const std::vector<std::uint32_t> narrow(wide.begin(), wide.end());
  const key_sample_layout layout(wide.size());
  std::vector<std::uint32_t> expected(layout.taken);
  for (std::size_t s = 0; s < layout.taken; ++s) expected[s] = narrow[layout.element(s)];
  EXPECT_EQ(read(wide, 1'000'000), expected);
  EXPECT_EQ(read(narrow, 1'000'000), expected);
}

TEST_F(key_sample_test, sees_order) {
  const key_sample seen = sample(ten_of_each_key(1'000'000), 100'000);
  EXPECT_EQ(seen.seen, 4096);
  EXPECT_NEAR(seen.same, 0.9, 0.01);
  EXPECT_EQ(seen.descending, 0);
  EXPECT_NEAR(seen.warp_keys, 4.1, 0.1);
  EXPECT_NEAR(seen.warp_sectors, 1.4, 0.3);
  EXPECT_NEAR(seen.block_keys, 410, 130);
  EXPECT_NEAR(seen.block_span, 365, 50);
  EXPECT_GT(seen.span, 99'000);
  EXPECT_EQ(seen.commonest, 0);
}

TEST_F(key_sample_test, sees_disorder) {
  const key_sample seen = sample(random_words<std::uint32_t>(1'000'000, 1, 1'000'000), 1'000'000);
  EXPECT_LT(seen.same, 0.01);
  EXPECT_NEAR(seen.descending, 0.5, 0.05);
  EXPECT_NEAR(seen.warp_keys, 32, 0.1);
  EXPECT_NEAR(seen.warp_sectors, 32, 0.1);
  EXPECT_GT(seen.block_keys, 3900);
  EXPECT_LT(seen.commonest, 0.001);
}

TEST_F(key_sample_test, estimates_the_keys_of_a_block_from_a_part_of_it) {
  for (const std::uint32_t keys : {10u, 300u, 3000u}) {
    const key_sample seen = sample(random_words<std::uint32_t>(1'000'000, 2, keys), keys);
    const double in_block = keys * -std::expm1(4096 * std::log1p(-1.0 / keys));
    EXPECT_NEAR(seen.block_keys, in_block, 0.1 * in_block) << keys;
  }
}

TEST_F(key_sample_test, sees_one_key) {
  for (const std::size_t count : {1u, 100u, 5000u, 1'000'000u}) {
    const key_sample seen = sample(std::vector<std::uint32_t>(count, 7), 10);
    EXPECT_EQ(seen.same, count > 1 ? 1 : 0);
    EXPECT_NEAR(seen.block_keys, 1, 1e-9);
    EXPECT_EQ(seen.span, 1);
    EXPECT_EQ(seen.commonest, 1) << count;
  }
}

TEST_F(key_sample_test, sees_a_crowd_among_many) {
  auto keys = random_words<std::uint32_t>(500'000, 3, 1'000'000);
  for (std::size_t i = 0; i < keys.size(); i += 4) keys[i] = 12345;
  EXPECT_NEAR(sample(keys, 1'000'000).commonest, 0.25, 0.03);
}

TEST_F(key_sample_test, counts_all_of_fewer_elements_than_a_block) {
  const std::vector<std::uint32_t> keys{4, 4, 4, 9, 9, 4, 0};
  const key_sample seen = sample(keys, 10);
  EXPECT_EQ(seen.seen, 7);
  EXPECT_NEAR(seen.same, 3.0 / 6, 1e-12);
  EXPECT_NEAR(seen.descending, 2.0 / 6, 1e-12);
  EXPECT_EQ(seen.block_keys, 3);
  EXPECT_EQ(seen.span, 10);
  EXPECT_NEAR(seen.commonest, 4.0 / 7, 1e-12);
}

TEST_F(key_sample_test, nothing_to_see) {
  EXPECT_EQ(sample(std::vector<std::uint32_t>{}, 10).seen, 0);
  const key_sample bad = sample(std::vector<std::int32_t>(100, -1), 10);
  EXPECT_EQ(bad.seen, 0);
  EXPECT_EQ(bad.warp_keys, 1);
}

TEST_F(key_sample_test, leaves_out_keys_out_of_range) {
  std::vector<std::int64_t> keys(64, 3);
  keys[0] = -5;
  keys[10] = std::int64_t{1} << 40;
  keys[63] = 4;
  const key_sample seen = sample(keys, 4);
  EXPECT_EQ(seen.seen, 61);
  EXPECT_EQ(seen.same, 1);
  EXPECT_EQ(seen.span, 1);
  EXPECT_EQ(seen.commonest, 1);
}

}  // namespace

}  // namespace quadrat::test
