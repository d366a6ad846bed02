// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/warp_reduce.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel/atomic_row.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/cuda_launch.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

/// By each lane: the sum of words, of words of 64 bits, the largest, all bits, and the largest by shuffles.
__global__ void reduce_kernel(const std::uint32_t* values, std::uint64_t* results) {
  const std::uint32_t own = values[threadIdx.x];
  std::uint64_t* const mine = results + 5 * threadIdx.x;
  mine[0] = detail::warp_sum(own);
  mine[1] = detail::warp_sum(std::uint64_t{own});
  mine[2] = detail::warp_max(own);
  mine[3] = detail::warp_or(own);
  mine[4] = detail::join_lanes(own, [](std::uint32_t a, std::uint32_t b) { return a < b ? b : a; });
}

template <int N>
__global__ void add_rows_kernel(float* sums) {
  float value[N];
  for (int k = 0; k < N; ++k) value[k] = static_cast<float>(k + 1);
  detail::atomic_add_row<N>(sums + N * (threadIdx.x % 2), value);
}

class warp_reduce : public backend_test {};

TEST_F(warp_reduce, every_lane_has_the_result_of_all) {
  const cuda_context context;
  const auto values = random_words<std::uint32_t>(32, 3);
  const auto stored = to_device(context, values);
  array<std::uint64_t, cuda_context> results(context, std::size_t{5} * 32);
  const cuda_launch launch(context, "warp_reduce");
  reduce_kernel<<<1, 32, 0, context.stream()>>>(stored.data(), results.data());
  launch.check();
  std::uint64_t sum = 0;
  std::uint32_t most = 0, all = 0;
  for (const std::uint32_t value : values) sum += value, most = std::max(most, value), all |= value;
  const auto found = to_host(context, results);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::vector<std::uint64_t> own(found.begin() + static_cast<std::ptrdiff_t>(5 * lane),
                                         found.begin() + static_cast<std::ptrdiff_t>(5 * lane + 5));
    EXPECT_EQ(own, (std::vector<std::uint64_t>{static_cast<std::uint32_t>(sum), sum, most, all, most})) << lane;
  }
}

template <int N>
void expect_rows() {
  const cuda_context context;
  array<float, cuda_context> sums(context, std::size_t{2} * N);
  fill_bytes(context, sums.data(), 0, sums.bytes());
  const cuda_launch launch(context, "add_rows");
  add_rows_kernel<N><<<2, 64, 0, context.stream()>>>(sums.data());
  launch.check();
  const auto found = to_host(context, sums);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], 64 * static_cast<float>(i % N + 1)) << i;
}

TEST_F(warp_reduce, rows_of_floats_are_added_by_all_threads) {
  expect_rows<2>();
  expect_rows<4>();
}

}  // namespace

}  // namespace quadrat::test
