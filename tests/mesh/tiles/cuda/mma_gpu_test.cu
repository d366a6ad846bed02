// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cuda/mma.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/parallel/cuda_launch.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

namespace {

enum class way { tensor_cores, shuffles };

/// left: 16 x 8, right: 8 x 8, sums: 16 x 8, by rows.
template <typename T, way Way>
__global__ void product_kernel(const T* left, const T* right, T* sums) {
  const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  const int rows[2] = {g, g + 8}, columns[2] = {2 * t, 2 * t + 1};
  T sum[4];
  for (int c = 0; c < 4; ++c) sum[c] = sums[rows[c / 2] * 8 + columns[c % 2]];
  const T a[4] = {left[g * 8 + t], left[(g + 8) * 8 + t], left[g * 8 + t + 4], left[(g + 8) * 8 + t + 4]};
  const T b[2] = {right[t * 8 + g], right[(t + 4) * 8 + g]};
  if constexpr (Way == way::shuffles) {
    detail::add_by_shuffles(sum, sum, a, b);
  } else {
    using mma = detail::tile_mma<T>;
    typename mma::part left_parts[4], right_parts[2];
    for (int k = 0; k < 4; ++k) left_parts[k] = mma::whole_part(a[k]);
    for (int k = 0; k < 2; ++k) right_parts[k] = mma::right_part(b[k]);
    mma::add(sum, left_parts, right_parts);
  }
  for (int c = 0; c < 4; ++c) sums[rows[c / 2] * 8 + columns[c % 2]] = sum[c];
}

template <typename T>
class tile_mma : public backend_test {};
using numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(tile_mma, numbers);

template <typename T, way Way>
void expect_product() {
  const cuda_context context;
  std::vector<T> left, right, sums;
  for (int i = 0; i < 128; ++i) left.push_back(static_cast<T>(std::sin(1.0 + i)));
  for (int i = 0; i < 64; ++i) right.push_back(static_cast<T>(std::cos(2.0 + 3 * i)));
  for (int i = 0; i < 128; ++i) sums.push_back(static_cast<T>(std::sin(5.0 * i)));
  const auto a = to_device(context, left), b = to_device(context, right);
  auto c = to_device(context, sums);
  const cuda_launch launch(context, "product");
  product_kernel<T, Way><<<1, 32, 0, context.stream()>>>(a.data(), b.data(), c.data());
  launch.check();
  const auto found = to_host(context, c);
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      double expected = sums[static_cast<std::size_t>(row * 8 + column)];
      for (int k = 0; k < 8; ++k) {
        expected +=
            double{left[static_cast<std::size_t>(row * 8 + k)]} * right[static_cast<std::size_t>(k * 8 + column)];
      }
      EXPECT_NEAR(found[static_cast<std::size_t>(row * 8 + column)], expected, sizeof(T) == 4 ? 4e-6 : 1e-14)
          << row << ", " << column;
    }
  }
}

TYPED_TEST(tile_mma, is_the_product_of_matrices) { expect_product<TypeParam, way::tensor_cores>(); }
TYPED_TEST(tile_mma, is_the_product_of_matrices_without_tensor_cores) { expect_product<TypeParam, way::shuffles>(); }

}  // namespace

}  // namespace quadrat::test
