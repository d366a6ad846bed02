// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/keyed/peers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/parallel/cuda_launch.hpp"
#include "support/backend.hpp"
#include "support/composition.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

constexpr unsigned warps = 3;
constexpr unsigned threads = 32 * warps;

/// Peer masks of each thread: by vote, by match, by hash (twice, since tables are reused).
template <typename Key>
__global__ void find_peers_kernel(const Key* keys, std::uint32_t* patterns) {
  __shared__ peer_table tables[warps];
  const unsigned i = threadIdx.x;
  const Key key = keys[i];
  patterns[i] = find_peers_by_vote(key);
  patterns[threads + i] = find_peers_by_match(key);
  if constexpr (std::is_integral_v<Key>) {
    patterns[2 * threads + i] = find_peers_by_hash(key, tables[i / 32]);
    patterns[3 * threads + i] = find_peers_by_hash(key, tables[i / 32]);
  }
}

/// The final value of each thread: by the tree, by switched places.
__global__ void join_peers_kernel(const std::uint32_t* keys, const std::uint64_t* values, std::uint64_t* joined) {
  __shared__ std::uint32_t places[warps][32];
  const unsigned i = threadIdx.x;
  const std::uint32_t peers = find_peers_by_match(keys[i]);
  std::uint64_t by_tree = values[i], switched = values[i];
  join_peers_by_tree(peers, by_tree, composition{});
  join_peers_switched(peers, switched, composition{}, places[i / 32]);
  joined[i] = by_tree;
  joined[threads + i] = switched;
}

template <typename Key>
[[nodiscard]] std::vector<std::uint32_t> expected_patterns(const std::vector<Key>& keys) {
  std::vector<std::uint32_t> patterns(threads);
  for (unsigned i = 0; i < threads; ++i) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (keys[i / 32 * 32 + lane] == keys[i]) patterns[i] |= 1u << lane;
    }
  }
  return patterns;
}

class peers_test : public backend_test {};

template <typename Key>
void expect_patterns(const std::vector<Key>& keys) {
  const cuda_context context;
  constexpr unsigned ways = std::is_integral_v<Key> ? 4 : 2;
  const auto stored = to_device(context, keys);
  array<std::uint32_t, cuda_context> patterns(context, std::size_t{ways} * threads);
  const cuda_launch launch(context, "find_peers");
  find_peers_kernel<<<1, threads, 0, context.stream()>>>(stored.data(), patterns.data());
  launch.check();
  const auto wanted = expected_patterns(keys);
  const auto found = to_host(context, patterns);
  for (unsigned i = 0; i < ways * threads; ++i) {
    EXPECT_EQ(found[i], wanted[i % threads]) << "thread " << i % threads << ", way " << i / threads;
  }
}

constexpr std::uint64_t bounds[] = {1, 2, 5, 40, 0};  ///< of random keys; 0: all words

TEST_F(peers_test, are_the_lanes_of_the_warp_with_the_same_key_whatever_its_type) {
  for (const std::uint64_t bound : bounds) {
    SCOPED_TRACE(bound);
    expect_patterns(random_words<std::uint32_t>(threads, bound + 1, bound));
    expect_patterns(random_words<std::int32_t>(threads, bound + 2, bound));
    const auto words = random_words<std::int64_t>(threads, bound + 3, bound);
    expect_patterns(words);
    expect_patterns(std::vector<double>(words.begin(), words.end()));
  }
  // Keys that share a slot of the hash table, and keys that differ only in their upper words.
  std::vector<std::int64_t> alike(threads);
  for (unsigned i = 0; i < threads; ++i) alike[i] = static_cast<std::int64_t>(i % 7) << 40;
  expect_patterns(alike);
}

TEST_F(peers_test, are_joined_in_the_order_of_lanes) {
  const cuda_context context;
  for (const std::uint64_t bound : bounds) {
    SCOPED_TRACE(bound);
    const auto keys = random_words<std::uint32_t>(threads, bound + 4, bound);
    const auto values = random_words<std::uint64_t>(threads, bound + 5);
    const auto stored_keys = to_device(context, keys);
    const auto stored_values = to_device(context, values);
    array<std::uint64_t, cuda_context> joined(context, 2 * threads);
    const cuda_launch launch(context, "join_peers");
    join_peers_kernel<<<1, threads, 0, context.stream()>>>(stored_keys.data(), stored_values.data(), joined.data());
    launch.check();
    const auto found = to_host(context, joined);
    const auto patterns = expected_patterns(keys);
    for (unsigned i = 0; i < threads; ++i) {
      const std::uint32_t peers = patterns[i];
      if ((peers & ((1u << i % 32) - 1)) != 0) continue;  // the lowest has the result
      std::uint64_t wanted = values[i];
      for (unsigned lane = i % 32 + 1; lane < 32; ++lane) {
        if ((peers >> lane & 1u) != 0) wanted = composition{}(wanted, values[i / 32 * 32 + lane]);
      }
      EXPECT_EQ(found[i], wanted) << "thread " << i << ", tree";
      EXPECT_EQ(found[threads + i], wanted) << "thread " << i << ", switched";
    }
  }
}

}  // namespace

}  // namespace quadrat::test
