// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/sort.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "quadrat/core/error.hpp"
#include "reference/parallel.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

template <typename Key>
class sort_pairs_test : public backend_test {};

using key_types = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(sort_pairs_test, key_types);

template <typename Key>
struct pair_columns {
  std::vector<Key> keys;
  std::vector<std::uint32_t> values;
  bool operator==(const pair_columns&) const = default;
};

template <typename Key>
pair_columns<Key> sorted_by_reference(pair_columns<Key> pairs, int key_bits) {
  reference::sort_pairs(pairs.keys, pairs.values, key_bits);
  return pairs;
}

template <typename Key>
pair_columns<Key> sorted_between_buffers(const backend_context& context, const pair_columns<Key>& pairs, int key_bits,
                                         workspace<backend_context>& scratch, sort_values source = sort_values::given) {
  auto keys = to_device(context, pairs.keys);
  auto values = to_device(context, pairs.values);
  array<Key, backend_context> other_keys(context, keys.size());
  array<std::uint32_t, backend_context> other_values(context, values.size());
  const sort_buffers<Key> buffers{{keys.data(), other_keys.data()}, {values.data(), other_values.data()}};
  const int current = sort_pairs(context, buffers, keys.size(), key_bits, scratch, source);
  EXPECT_TRUE(current == 0 || current == 1);
  return {to_host(context, buffers.keys[current], keys.size()),
          to_host(context, buffers.values[current], values.size())};
}

template <typename Key>
pair_columns<Key> sorted_in_place(const backend_context& context, const pair_columns<Key>& pairs, int key_bits,
                                  workspace<backend_context>& scratch, sort_values source = sort_values::given) {
  auto keys = to_device(context, pairs.keys);
  auto values = to_device(context, pairs.values);
  sort_pairs(context, keys.data(), values.data(), keys.size(), key_bits, scratch, source);
  return {to_host(context, keys), to_host(context, values)};
}

template <typename Key>
pair_columns<Key> random_pairs(std::size_t size, std::uint64_t seed, std::uint64_t key_bound = 0) {
  return {random_words<Key>(size, seed, key_bound), random_words<std::uint32_t>(size, seed + 1)};
}

TYPED_TEST(sort_pairs_test, agrees_with_a_stable_sort_for_every_size) {
  for (const backend_context& context : all_contexts()) {
    workspace<backend_context> scratch;
    for (const std::size_t size : interesting_sizes()) {
      const auto pairs = random_pairs<TypeParam>(size, size, 1 << 18);
      const auto expected = sorted_by_reference(pairs, 18);
      EXPECT_EQ(sorted_between_buffers(context, pairs, 18, scratch), expected) << "size " << size;
      EXPECT_EQ(sorted_in_place(context, pairs, 18, scratch), expected) << "size " << size;
    }
  }
}

TYPED_TEST(sort_pairs_test, looks_at_the_lowest_bits_only) {
  constexpr int most = static_cast<int>(8 * sizeof(TypeParam));
  const auto pairs = random_pairs<TypeParam>(size_or(20'000, 1000), 7);
  for (const backend_context& context : all_contexts()) {
    workspace<backend_context> scratch;
    for (const int bits : {0, 1, 3, 7, 8, 9, 10, 11, 12, 17, 18, 19, 22, 23, 25, 27, 31, 32, 33, 45, 63, 64}) {
      if (bits > most) continue;
      const auto expected = sorted_by_reference(pairs, bits);
      EXPECT_EQ(sorted_between_buffers(context, pairs, bits, scratch), expected) << bits << " bits";
      EXPECT_EQ(sorted_in_place(context, pairs, bits, scratch), expected) << bits << " bits";
    }
  }
}

TYPED_TEST(sort_pairs_test, keeps_the_order_of_equal_keys) {
  const std::size_t size = size_or(100'000, 2000);
  pair_columns<TypeParam> pairs{std::vector<TypeParam>(size, TypeParam{5}), std::vector<std::uint32_t>(size)};
  std::iota(pairs.values.begin(), pairs.values.end(), 0u);
  for (const backend_context& context : all_contexts()) {
    workspace<backend_context> scratch;
    EXPECT_EQ(sorted_between_buffers(context, pairs, 20, scratch), pairs);
    EXPECT_EQ(sorted_in_place(context, pairs, 20, scratch), pairs);
  }
}

TYPED_TEST(sort_pairs_test, makes_up_the_index_as_value) {
  for (const backend_context& context : all_contexts()) {
    workspace<backend_context> scratch;
    for (const int bits : {0, 5, 18}) {
      const auto pairs = random_pairs<TypeParam>(size_or(50'000, 2000), 3);
      auto expected = pairs;
      std::iota(expected.values.begin(), expected.values.end(), 0u);
      expected = sorted_by_reference(expected, bits);
      EXPECT_EQ(sorted_between_buffers(context, pairs, bits, scratch, sort_values::index), expected);
      EXPECT_EQ(sorted_in_place(context, pairs, bits, scratch, sort_values::index), expected);
    }
  }
}

TYPED_TEST(sort_pairs_test, allocates_nothing_when_repeated) {
  const backend_context context;
  workspace<backend_context> scratch;
  const auto pairs = random_pairs<TypeParam>(size_or(100'000, 5000), 11);
  const auto first = sorted_in_place(context, pairs, 24, scratch);
  const std::size_t held = scratch.bytes();
  EXPECT_EQ(sorted_in_place(context, pairs, 24, scratch), first);
  EXPECT_EQ(scratch.bytes(), held);
}

TYPED_TEST(sort_pairs_test, refuses_impossible_arguments) {
  const backend_context context;
  workspace<backend_context> scratch;
  TypeParam* keys = nullptr;
  EXPECT_THROW(sort_pairs(context, keys, nullptr, 0, -1, scratch), argument_error);
  EXPECT_THROW(sort_pairs(context, keys, nullptr, 0, 8 * static_cast<int>(sizeof(TypeParam)) + 1, scratch),
               argument_error);
  EXPECT_THROW(sort_pairs(context, keys, nullptr, std::size_t{1} << 31, 8, scratch), argument_error);
}

TEST(key_bits_for, is_the_least_number_of_bits_that_tells_all_keys_apart) {
  EXPECT_EQ(key_bits_for(0), 0);
  EXPECT_EQ(key_bits_for(1), 0);
  EXPECT_EQ(key_bits_for(2), 1);
  EXPECT_EQ(key_bits_for(3), 2);
  EXPECT_EQ(key_bits_for(262'144), 18);
  EXPECT_EQ(key_bits_for(262'145), 19);
  EXPECT_EQ(key_bits_for(std::uint64_t{1} << 63), 63);
  EXPECT_EQ(key_bits_for(~std::uint64_t{0}), 64);
}

}  // namespace

}  // namespace quadrat::test
