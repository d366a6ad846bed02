// SPDX-License-Identifier: BSD-3-Clause
#include "models/srd/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/srd/collision.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "support/backend.hpp"

// The moments of the random distributions.

namespace quadrat::test {

namespace {

/// Sums of powers.
struct moments {
  double value[4];

  friend QUADRAT_HD moments operator+(const moments& a, const moments& b) {
    moments sum{};
    for (int k = 0; k < 4; ++k) sum.value[k] = a.value[k] + b.value[k];
    return sum;
  }
};

[[nodiscard]] QUADRAT_HD moments powers_of(double x) { return {{x, x * x, x * x * x, x * x * x * x}}; }

[[nodiscard]] QUADRAT_HD detail::srd_draws draws_of(std::size_t i) { return {77, 5, static_cast<std::uint32_t>(i)}; }

template <typename T>
struct gamma_draw {
  T shape;
  QUADRAT_HD moments operator()(std::size_t i) const {
    return powers_of(static_cast<double>(detail::srd_gamma(draws_of(i), detail::srd_use::scale, shape)));
  }
};

template <typename T>
struct normal_draw {
  int component;
  QUADRAT_HD moments operator()(std::size_t i) const {
    const philox_block words = draws_of(i).words(detail::srd_use::velocity, 0);
    return powers_of(static_cast<double>(detail::srd_normal<T, 3>(words)[component]));
  }
};

template <typename T>
struct axis_draw {
  int component;
  QUADRAT_HD moments operator()(std::size_t i) const {
    detail::srd_turn<T, 3> turn{};
    turn.draw(draws_of(i));
    return powers_of(static_cast<double>(turn.axis[component]));
  }
};

template <typename T>
class srd_random_of : public backend_test {
 protected:
  static constexpr std::size_t count = 400'000;

  /// Means of the powers.
  template <typename Draw>
  [[nodiscard]] moments mean(const Draw& draw) {
    moments result = reduce_sum(context, "test.moments", count, draw, scratch);
    for (double& value : result.value) value /= static_cast<double>(count);
    return result;
  }

  backend_context context;
  workspace<backend_context> scratch;
};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(srd_random_of, precisions);

TYPED_TEST(srd_random_of, draws_gamma_numbers_of_any_shape) {
  for (const double shape : {0.3, 1.0, 1.5, 13.5, 200.0}) {
    const moments found = this->mean(gamma_draw<TypeParam>{static_cast<TypeParam>(shape)});
    const double mean = found.value[0];
    const double variance = found.value[1] - mean * mean;
    const double third = found.value[2] - 3 * mean * found.value[1] + 2 * mean * mean * mean;
    // Five standard errors of the mean.
    EXPECT_NEAR(mean / shape, 1, 5 / std::sqrt(shape * 400e3)) << shape;
    EXPECT_NEAR(variance / shape, 1, 5 * std::sqrt((2 + 6 / shape) / 400e3)) << shape;
    EXPECT_NEAR(third / std::pow(variance, 1.5), 2 / std::sqrt(shape), 0.1 * (1 + 1 / shape)) << shape;
  }
}

TYPED_TEST(srd_random_of, draws_normal_numbers) {
  for (int component = 0; component < 3; ++component) {
    const moments found = this->mean(normal_draw<TypeParam>{component});
    EXPECT_NEAR(found.value[0], 0, 0.008) << component;
    EXPECT_NEAR(found.value[1], 1, 0.012) << component;
    EXPECT_NEAR(found.value[2], 0, 0.035) << component;
    EXPECT_NEAR(found.value[3], 3, 0.09) << component;
  }
}

TYPED_TEST(srd_random_of, draws_axes_evenly_from_the_sphere) {
  for (int component = 0; component < 3; ++component) {
    const moments found = this->mean(axis_draw<TypeParam>{component});
    EXPECT_NEAR(found.value[0], 0, 0.005) << component;
    EXPECT_NEAR(found.value[1], 1.0 / 3, 0.003) << component;
    EXPECT_NEAR(found.value[3], 1.0 / 5, 0.003) << component;
  }
}

}  // namespace

}  // namespace quadrat::test
