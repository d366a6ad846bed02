// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "cells/counting_partition_keys.hpp"
#include "quadrat/cells/keys.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/fault.hpp"
#include "reference/buckets.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

namespace {

class counting_partition : public backend_test {
 protected:
  /// Compares offsets and elements from two levels with the reference, twice with the same control words.
  void expect_right(const std::vector<std::uint32_t>& keys, std::uint32_t bucket_count) {
    const cuda_context context;
    const std::size_t count = keys.size();
    const auto given = to_device(context, keys);
    fault_state<cuda_context> faults(context);
    array<std::uint32_t, cuda_context> control(context, detail::counting_control_words);
    fill_bytes(context, control.data(), 0, control.bytes());
    array<std::uint32_t, cuda_context> key_words(context, count);
    array<std::uint16_t, cuda_context> low_keys(context, count);
    array<particle_id, cuda_context> grouped(context, count);
    array<std::uint32_t, cuda_context> offsets(context, bucket_count + 1);
    array<particle_id, cuda_context> elements(context, count);
    const detail::partition_buffers buffers{reinterpret_cast<detail::counting_control*>(control.data()),
                                            key_words.data(),
                                            low_keys.data(),
                                            grouped.data(),
                                            offsets.data(),
                                            elements.data(),
                                            static_cast<std::uint32_t>(count),
                                            bucket_count,
                                            detail::partition_shift(bucket_count),
                                            detail::partition_words(context)};
    for (int round = 0; round < 2; ++round) {
      fill_bytes(context, offsets.data(), 0xff, offsets.bytes());
      fill_bytes(context, elements.data(), 0xff, elements.bytes());
      detail::partition(context, buffers, given_keys{given.data(), bucket_count, faults.flag()});
      compare(to_host(context, offsets), to_host(context, elements), keys, bucket_count);
    }
    EXPECT_EQ(faults.read(context).kind, fault_kind::none);
  }

 private:
  static void compare(const std::vector<std::uint32_t>& offsets, std::vector<particle_id> elements,
                      const std::vector<std::uint32_t>& keys, std::uint32_t bucket_count) {
    ASSERT_EQ(offsets.front(), 0u);
    ASSERT_EQ(offsets.back(), keys.size());
    const auto expected = reference::buckets(keys, bucket_count);
    for (std::uint32_t bucket = 0; bucket < bucket_count; ++bucket) {
      ASSERT_EQ(offsets[bucket + 1] - offsets[bucket], expected[bucket].size()) << "bucket " << bucket;
      const auto first = elements.begin() + offsets[bucket];
      const auto last = elements.begin() + offsets[bucket + 1];
      std::sort(first, last);
      ASSERT_TRUE(std::equal(first, last, expected[bucket].begin())) << "bucket " << bucket;
    }
  }
};

std::vector<std::uint32_t> random_keys(std::size_t count, std::uint32_t bucket_count, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<std::uint32_t> keys(count);
  for (auto& key : keys) key = static_cast<std::uint32_t>(generator() % bucket_count);
  return keys;
}

TEST_F(counting_partition, agrees_with_the_reference_for_every_shape) {
  std::uint64_t seed = 1;
  for (const std::size_t count :
       {std::size_t{1}, std::size_t{511}, std::size_t{4096}, std::size_t{4097}, size_or(300'001, 9000)}) {
    for (const std::uint32_t buckets : {1u, 2u, 511u, 512u, 513u, 5000u, 262'144u, 2'097'152u}) {
      if (small_sizes() && buckets > 5000) continue;
      expect_right(random_keys(count, buckets, ++seed), buckets);
    }
  }
}

TEST_F(counting_partition, range_that_holds_far_more_than_its_share_is_placed_in_parts) {
  // Crowds in a few buckets, in one part of them, at both ends of a range, and in ranges without one between.
  for (const auto& [first, width] : {std::pair{1000u, 5u}, {1024u, 512u}, {0u, 3u}, {510u, 4u}, {100'000u, 30'000u}}) {
    std::vector<std::uint32_t> keys = random_keys(size_or(200'000, 6000), 262'144, 7);
    for (std::size_t i = 0; i < keys.size() / 2; ++i) keys[2 * i] = first + keys[2 * i] % width;
    expect_right(keys, 262'144);
    for (auto& key : keys) key = first + key % width;
    expect_right(keys, 262'144);
  }
}

TEST_F(counting_partition, all_in_one_bucket_is_one_range) {
  for (const std::uint32_t bucket : {0u, 77u, 9999u}) {
    expect_right(std::vector<std::uint32_t>(size_or(250'000, 5000), bucket), 10'000);
  }
}

TEST_F(counting_partition, shared_memory_for_millions_of_elements_is_to_be_had) {
  if (small_sizes()) GTEST_SKIP() << "too long when every access is checked";
  expect_right(random_keys(5'000'000, 262'144, 9), 262'144);
  expect_right(random_keys(40'000'000, 4096, 10), 4096);
  const std::uint32_t words = detail::partition_words(cuda_context());
  const std::uint32_t buckets = detail::partition_pays(16'000'000, 8'000'000, words) ? 8'000'000 : 4'000'000;
  expect_right(random_keys(16'000'000, buckets, 11), buckets);
}

}  // namespace

}  // namespace quadrat::test
