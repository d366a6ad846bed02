// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models/granular/support.hpp"
#include "quadrat/models/granular.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

namespace {

template <typename T>
class granular_fused : public backend_test {
 protected:
  /// Compares velocities and positions after some steps of random grains, by fused and by counting, to rounding.
  static void expect_agreement(std::size_t count, determinism level) {
    const points start = scattered(count, 17 + count);
    const points velocities = random_velocities(count, 18 + count, 0.01);
    const cuda_context context = make_context(level);
    granular<cuda_context, T> fused(context, with_method({}, "fused"), start, velocities);
    granular<cuda_context, T> counting(context, with_method({}, "counting"), start, velocities);
    fused.advance(3);
    counting.advance(3);
    expect_near(fused.velocities(), counting.velocities());
    expect_near(fused.positions(), counting.positions());
  }

 private:
  static void expect_near(const std::vector<vec<T, 3>>& a, const std::vector<vec<T, 3>>& b) {
    ASSERT_EQ(a.size(), b.size());
    const T tolerance = 2000 * std::numeric_limits<T>::epsilon();
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (int axis = 0; axis < 3; ++axis) ASSERT_NEAR(a[i][axis], b[i][axis], tolerance) << "grain " << i;
    }
  }
};

using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(granular_fused, precisions);

TYPED_TEST(granular_fused, is_the_default_where_it_is_reproducible_enough) {
  EXPECT_EQ(granular_default_method(make_context(determinism::none)), "fused");
  EXPECT_EQ(granular_default_method(make_context(determinism::run_to_run)), "fused");
  EXPECT_EQ(granular_default_method(make_context(determinism::canonical)), "counting");
}

TYPED_TEST(granular_fused, agrees_with_a_cell_list) {
  for (const std::size_t count : {1, 2, 33, 257, 3000}) {
    this->expect_agreement(count, determinism::none);
    this->expect_agreement(count, determinism::run_to_run);
  }
}

/// From 300,000 grains on, the engine uses one thread per grain instead of two.
TYPED_TEST(granular_fused, agrees_with_a_cell_list_for_many_grains) {
  if (small_sizes()) GTEST_SKIP() << "too long when every access is checked";
  this->expect_agreement(310'001, determinism::none);
  this->expect_agreement(310'001, determinism::run_to_run);
}

}  // namespace

}  // namespace quadrat::test
