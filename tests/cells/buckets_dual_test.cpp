// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/buckets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "cells/every_list.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "reference/buckets.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// Buckets over keys, without geometry, and the hash table with chaining.

namespace quadrat::test {

namespace {

template <typename View>
struct write_bucket {
  View view;
  const std::uint32_t* offsets;
  std::uint32_t* elements;
  std::uint32_t* counts;
  QUADRAT_HD void operator()(std::size_t bucket) const {
    std::uint32_t count = 0;
    const std::uint32_t room = offsets[bucket + 1] - offsets[bucket];
    view.for_each_in(static_cast<cell_id>(bucket), [&](particle_id element) {
      if (count < room) elements[offsets[bucket] + count] = element;
      ++count;
    });
    counts[bucket] = count;
  }
};

/// Compares with the reference; with a determinism level also the order.
template <typename View>
void expect_buckets(const backend_context& context, const View& view,
                    const std::vector<std::vector<std::uint32_t>>& expected, bool ordered) {
  std::vector<std::uint32_t> offsets{0};
  for (const auto& bucket : expected) offsets.push_back(offsets.back() + static_cast<std::uint32_t>(bucket.size()));
  const auto stored = to_device(context, offsets);
  array<std::uint32_t, backend_context> elements(context, offsets.back()), counts(context, expected.size());
  for_each(context, "write", expected.size(), write_bucket<View>{view, stored.data(), elements.data(), counts.data()});
  auto got = to_host(context, elements);
  const auto sizes = to_host(context, counts);
  for (std::size_t bucket = 0; bucket < expected.size(); ++bucket) {
    ASSERT_EQ(sizes[bucket], expected[bucket].size());
    const auto first = got.begin() + offsets[bucket];
    const auto last = got.begin() + offsets[bucket + 1];
    if (!ordered) std::sort(first, last);
    ASSERT_TRUE(std::equal(first, last, expected[bucket].begin()));
  }
}

template <typename Buckets>
[[nodiscard]] Buckets with_room_for(std::size_t count) {
  if constexpr (std::is_constructible_v<Buckets, std::uint32_t>) {
    return Buckets(static_cast<std::uint32_t>(count) + 1);
  } else {
    return Buckets();
  }
}

}  // namespace

template <typename Buckets>
class buckets_test : public backend_test {};
using every_kind = testing::Types<linked_buckets<backend_context>, counting_buckets<backend_context>,
                                  sorted_buckets<backend_context>, fixed_buckets<backend_context, column_major_layout>,
                                  fixed_buckets<backend_context, row_major_layout>>;
TYPED_TEST_SUITE(buckets_test, every_kind);

TYPED_TEST(buckets_test, hold_the_elements_of_their_keys) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    const backend_context context = context_at(level);
    for (const std::size_t count : {0, 1, 2, 33, 1000, 5000}) {
      for (const std::size_t bucket_count : {1, 2, 7, 256, 257, 70'000}) {
        const auto keys = random_words<std::uint32_t>(count, count + bucket_count, bucket_count);
        const auto stored = to_device(context, keys);
        keyed_buckets<backend_context, TypeParam> buckets(context, with_room_for<TypeParam>(count));
        buckets.build(stored.data(), count, bucket_count);
        expect_buckets(context, buckets.view(), reference::buckets(keys, bucket_count), level != determinism::none);
      }
    }
  }
}

TYPED_TEST(buckets_test, name_the_first_key_out_of_range) {
  const backend_context context;
  std::vector<std::uint32_t> keys(100, 4);
  keys[70] = 10;
  keys[31] = 0xffffffffu;
  const auto stored = to_device(context, keys);
  keyed_buckets<backend_context, TypeParam> buckets(context, with_room_for<TypeParam>(100));
  EXPECT_THROW(static_cast<void>(buckets.view()), argument_error);
  const std::string text = error_of<data_error>([&] { buckets.build(stored.data(), 100, 10); });
  EXPECT_EQ(text, "key 31 is 4294967295; keys must be below the number of buckets, which is 10");
  EXPECT_THROW(static_cast<void>(buckets.view()), argument_error);
  buckets.build_async(stored.data(), 100, 10);
  for (int call = 0; call < 2; ++call) EXPECT_EQ(error_of<data_error>([&] { buckets.check(); }), text);
  buckets.build_async(stored.data(), 31, 10);
  EXPECT_NO_THROW(buckets.check());
  expect_words(error_of<argument_error>([&] { buckets.build_async(stored.data(), 31, 11); }), {"in 11", "reserve(31"});
}

TYPED_TEST(buckets_test, refuse_impossible_arguments) {
  const backend_context context;
  keyed_buckets<backend_context, TypeParam> buckets(context);
  const auto keys = to_device(context, std::vector<std::uint32_t>{0, 1, 2});
  EXPECT_THROW(buckets.build(keys.data(), 3, 0), argument_error);
  EXPECT_THROW(buckets.build(keys.data(), 3, std::size_t{1} << 31), argument_error);
  EXPECT_THROW(buckets.build(keys.data(), std::size_t{1} << 31, 3), argument_error);
  EXPECT_THROW(buckets.build(nullptr, 3, 3), argument_error);
  EXPECT_NO_THROW(buckets.build(nullptr, 0, 3));
  EXPECT_GT(buckets.bytes(), 0u);
}

namespace {

template <typename View>
struct look_up {
  View view;
  const std::uint64_t* queries;
  std::size_t most;
  std::uint32_t* found;
  std::uint32_t* counts;
  QUADRAT_HD void operator()(std::size_t query) const {
    std::uint32_t count = 0;
    view.for_each_with_key(queries[query], [&](particle_id element) {
      if (count < most) found[query * most + count] = element;
      ++count;
    });
    counts[query] = count;
  }
};

/// Finds the elements of each queried key and compares with the standard library's table.
template <typename Table>
void expect_finds(const backend_context& context, const Table& table, const std::vector<std::uint64_t>& keys,
                  const std::vector<std::uint64_t>& queries) {
  std::unordered_multimap<std::uint64_t, std::uint32_t> expected;
  for (std::size_t i = 0; i < keys.size(); ++i) expected.emplace(keys[i], static_cast<std::uint32_t>(i));
  std::size_t most = 1;
  for (const std::uint64_t key : queries) most = std::max(most, expected.count(key));
  const auto stored = to_device(context, queries);
  array<std::uint32_t, backend_context> found(context, most * queries.size()), counts(context, queries.size());
  for_each(context, "look up", queries.size(),
           look_up<typename Table::view_type>{table.view(), stored.data(), most, found.data(), counts.data()});
  const auto elements = to_host(context, found);
  const auto sizes = to_host(context, counts);
  for (std::size_t query = 0; query < queries.size(); ++query) {
    std::vector<std::uint32_t> wanted;
    const auto [first, last] = expected.equal_range(queries[query]);
    for (auto it = first; it != last; ++it) wanted.push_back(it->second);
    std::ranges::sort(wanted);
    ASSERT_EQ(sizes[query], wanted.size());
    const auto row = elements.begin() + static_cast<std::ptrdiff_t>(query * most);
    std::vector<std::uint32_t> got(row, row + static_cast<std::ptrdiff_t>(wanted.size()));
    std::ranges::sort(got);
    ASSERT_EQ(got, wanted);
  }
}

}  // namespace

TYPED_TEST(buckets_test, find_by_any_key_through_a_hash) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    const backend_context context = context_at(level);
    for (const std::size_t count : {0, 1, 100, 3000}) {
      for (const std::size_t bucket_count : {0, 1, 13, 1024}) {
        // Each key about three times, far apart in value.
        auto keys = random_words<std::uint64_t>(count, count + 1, count / 3 + 1);
        for (auto& key : keys) key = key * 0x123456789abcdefu + 1;
        auto queries = keys;
        queries.insert(queries.end(), {0, 1, 2, ~std::uint64_t{0}});
        const auto stored = to_device(context, keys);
        hash_table<backend_context, TypeParam> table(context, with_room_for<TypeParam>(count));
        table.build(stored.data(), count, bucket_count);
        EXPECT_EQ(table.bucket_count(), bucket_count != 0 ? bucket_count : std::max<std::size_t>(count, 1));
        expect_finds(context, table, keys, queries);
      }
    }
  }
}

using hash_test = backend_test;

TEST_F(hash_test, spreads_keys_that_follow_each_other) {
  const hashed_keys keys{nullptr, 1000};
  std::vector<int> load(1000, 0);
  for (std::uint64_t key = 0; key < 20'000; ++key) ++load[keys.bucket_of(key)];
  EXPECT_GT(*std::ranges::min_element(load), 3);
  EXPECT_LT(*std::ranges::max_element(load), 45);
}

TEST_F(hash_test, reports_an_overflow_of_fixed_buckets) {
  const backend_context context;
  using kind = fixed_buckets<backend_context, column_major_layout>;
  const auto keys = to_device(context, std::vector<std::uint64_t>(9, 123));
  hash_table<backend_context, kind> table(context, kind(2));
  try {
    table.build(keys.data(), 9, 5);
    FAIL() << "no overflow was reported";
  } catch (const overflow_error& caught) {
    EXPECT_EQ(caught.needed(), 9u);
  }
  EXPECT_THROW(static_cast<void>(table.view()), argument_error);
  table.build_async(keys.data(), 9, 5);
  for (int call = 0; call < 2; ++call) EXPECT_THROW(table.check(), overflow_error);
  table.build_async(keys.data(), 2, 5);
  EXPECT_NO_THROW(table.check());
}

}  // namespace quadrat::test
