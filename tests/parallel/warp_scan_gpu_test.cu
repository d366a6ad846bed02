// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/warp_scan.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "parallel/block_scan.cuh"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/cuda_launch.hpp"
#include "reference/parallel.hpp"
#include "support/backend.hpp"
#include "support/composition.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

__global__ void inclusive_sum_kernel(const std::uint32_t* values, std::uint32_t* sums) {
  sums[threadIdx.x] = detail::warp_inclusive_sum(values[threadIdx.x], threadIdx.x % 32);
}

__global__ void block_sum_kernel(const std::uint32_t* values, std::uint32_t* sums) {
  __shared__ std::uint32_t warp_sums[32];
  sums[threadIdx.x] = detail::block_exclusive_sum(values[threadIdx.x], warp_sums);
}

/// Two values per lane: the given one, and the map that adds the lane's number.
__global__ void segmented_scan_kernel(const std::uint32_t* heads, const std::uint64_t* values, std::uint64_t* joined,
                                      std::uint64_t* lanes) {
  const unsigned i = threadIdx.x;
  const int lane = static_cast<int>(i % 32);
  std::uint64_t own[2] = {values[i], std::uint64_t{1} << 32 | i % 32};
  detail::warp_segmented_scan(detail::lanes_since_head(heads[i / 32], lane), own, composition{});
  joined[i] = own[0];
  lanes[i] = own[1];
}

class warp_scan : public backend_test {};

TEST_F(warp_scan, sums_up_to_each_lane_are_those_of_its_warp) {
  const cuda_context context;
  constexpr unsigned threads = 96;
  const auto values = random_words<std::uint32_t>(threads, 1);
  const auto stored = to_device(context, values);
  array<std::uint32_t, cuda_context> sums(context, threads);
  const cuda_launch launch(context, "inclusive_sum");
  inclusive_sum_kernel<<<1, threads, 0, context.stream()>>>(stored.data(), sums.data());
  launch.check();
  const auto found = to_host(context, sums);
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < threads; ++i) {
    sum = (i % 32 == 0 ? 0 : sum) + values[i];
    EXPECT_EQ(found[i], sum) << "thread " << i;
  }
}

TEST_F(warp_scan, sums_before_each_thread_are_those_of_its_block) {
  const cuda_context context;
  for (const unsigned threads : {32u, 96u, 512u, 1024u}) {
    const auto values = random_words<std::uint32_t>(threads, threads);
    const auto stored = to_device(context, values);
    array<std::uint32_t, cuda_context> sums(context, threads);
    const cuda_launch launch(context, "block_sum");
    block_sum_kernel<<<1, threads, 0, context.stream()>>>(stored.data(), sums.data());
    launch.check();
    auto wanted = reference::exclusive_scan_with_total<std::uint32_t>(values);
    wanted.pop_back();
    EXPECT_EQ(to_host(context, sums), wanted) << threads;
  }
}

TEST_F(warp_scan, values_are_joined_within_their_segment_in_the_order_of_lanes) {
  const cuda_context context;
  // One segment; one per lane; two; and random ones.
  std::vector<std::uint32_t> heads{1, ~0u, 1u << 31 | 1};
  for (const std::uint32_t word : random_words<std::uint32_t>(29, 2)) heads.push_back(word | 1);
  const auto threads = static_cast<unsigned>(32 * heads.size());
  const auto values = random_words<std::uint64_t>(threads, 3);
  const auto stored_heads = to_device(context, heads);
  const auto stored_values = to_device(context, values);
  array<std::uint64_t, cuda_context> joined(context, threads);
  array<std::uint64_t, cuda_context> lanes(context, threads);
  const cuda_launch launch(context, "segmented_scan");
  segmented_scan_kernel<<<1, threads, 0, context.stream()>>>(stored_heads.data(), stored_values.data(), joined.data(),
                                                             lanes.data());
  launch.check();
  const auto found = to_host(context, joined);
  const auto found_lanes = to_host(context, lanes);
  std::uint64_t wanted = 0, lane_sum = 0;
  for (unsigned i = 0; i < threads; ++i) {
    const bool head = (heads[i / 32] >> i % 32 & 1) != 0;
    wanted = head ? values[i] : composition{}(wanted, values[i]);
    lane_sum = (head ? 0 : lane_sum) + i % 32;
    EXPECT_EQ(found[i], wanted) << "thread " << i;
    EXPECT_EQ(found_lanes[i], std::uint64_t{1} << 32 | lane_sum) << "thread " << i;
  }
}

}  // namespace

}  // namespace quadrat::test
