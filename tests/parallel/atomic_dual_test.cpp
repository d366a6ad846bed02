// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/atomic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

namespace {

template <typename T>
class atomic_test : public backend_test {};

using word_types = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(atomic_test, word_types);

/// Every thread draws a ticket.
template <typename T>
struct draw_ticket {
  T* next;
  T* tickets;
  QUADRAT_HD void operator()(std::size_t i) const { tickets[i] = atomic_add(next, 1); }
};

/// Every thread passes on the previous value.
template <typename T>
struct pass_on {
  T* place;
  T* received;
  QUADRAT_HD void operator()(std::size_t i) const { received[i] = atomic_exchange(place, static_cast<T>(i + 1)); }
};

/// Every thread tries to be first at each of a few places.
template <typename T>
struct claim {
  T* places;
  T* received;
  QUADRAT_HD void operator()(std::size_t i) const {
    received[i] = atomic_compare_exchange(places + i % 7, 0, static_cast<T>(i + 1));
  }
};

template <typename T>
struct narrow {
  T* least;
  T* greatest;
  T width;
  QUADRAT_HD void operator()(std::size_t i) const {
    const T value = static_cast<T>((i * 7919u) % width + 10u);
    atomic_min(least, value);
    atomic_max(greatest, value);
  }
};

template <typename T>
struct add_half {
  T* sums;
  QUADRAT_HD void operator()(std::size_t i) const { atomic_add(sums + i % 3, T(0.5)); }
};

TYPED_TEST(atomic_test, add_gives_everyone_another_ticket) {
  const std::size_t size = size_or(100'000, 3000);
  for (const backend_context& context : all_contexts()) {
    auto next = to_device(context, std::vector<TypeParam>{5});
    array<TypeParam, backend_context> tickets(context, size);
    for_each(context, "test tickets", size, draw_ticket<TypeParam>{next.data(), tickets.data()});
    std::vector<TypeParam> drawn = to_host(context, tickets);
    std::sort(drawn.begin(), drawn.end());
    std::vector<TypeParam> expected(size);
    std::iota(expected.begin(), expected.end(), TypeParam{5});
    EXPECT_EQ(drawn, expected);
    EXPECT_EQ(to_host(context, next)[0], size + 5);
  }
}

TYPED_TEST(atomic_test, compare_exchange_lets_one_through) {
  const std::size_t size = size_or(100'000, 3000);
  for (const backend_context& context : all_contexts()) {
    auto places = to_device(context, std::vector<TypeParam>(7, 0));
    array<TypeParam, backend_context> received(context, size);
    for_each(context, "test.claim", size, claim<TypeParam>{places.data(), received.data()});
    const auto owners = to_host(context, places);
    const auto seen = to_host(context, received);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), TypeParam{0}), 7);
    for (std::size_t i = 0; i < size; ++i) {
      const TypeParam owner = owners[i % 7];
      EXPECT_EQ(seen[i], owner == i + 1 ? 0 : owner) << i;
    }
  }
}

TYPED_TEST(atomic_test, exchange_loses_and_doubles_nothing) {
  const std::size_t size = size_or(100'000, 3000);
  for (const backend_context& context : all_contexts()) {
    auto place = to_device(context, std::vector<TypeParam>{0});
    array<TypeParam, backend_context> received(context, size);
    for_each(context, "test exchange", size, pass_on<TypeParam>{place.data(), received.data()});
    std::vector<TypeParam> seen = to_host(context, received);
    seen.push_back(to_host(context, place)[0]);
    std::sort(seen.begin(), seen.end());
    std::vector<TypeParam> expected(size + 1);
    std::iota(expected.begin(), expected.end(), TypeParam{0});
    EXPECT_EQ(seen, expected);
  }
}

TYPED_TEST(atomic_test, min_and_max_end_at_the_extremes) {
  for (const backend_context& context : all_contexts()) {
    auto extremes = to_device(context, std::vector<TypeParam>{static_cast<TypeParam>(~TypeParam{0}), 0});
    const narrow<TypeParam> body{extremes.data(), extremes.data() + 1, 997};
    for_each(context, "test extremes", 5000, body);
    EXPECT_EQ(to_host(context, extremes), (std::vector<TypeParam>{10, 1006}));
  }
}

/// Every thread subtracts or adds: sums are negative in between.
struct add_signed {
  std::int64_t* sum;
  QUADRAT_HD void operator()(std::size_t i) const {
    const auto size = static_cast<std::int64_t>(i) << 20;
    atomic_add(sum, i % 2 == 0 ? -size : size);
  }
};

class signed_atomic_test : public backend_test {};

TEST_F(signed_atomic_test, add_knows_signs) {
  for (const backend_context& context : all_contexts()) {
    auto sum = to_device(context, std::vector<std::int64_t>(1, -7));
    for_each(context, "test sums", 10'001, add_signed{sum.data()});
    EXPECT_EQ(to_host(context, sum)[0], -7 - (std::int64_t{5000} << 20));
  }
}

template <typename T>
class floating_atomic_test : public backend_test {};

using floating_types = testing::Types<float, double>;
TYPED_TEST_SUITE(floating_atomic_test, floating_types);

TYPED_TEST(floating_atomic_test, add_loses_nothing) {
  for (const backend_context& context : all_contexts()) {
    auto sums = to_device(context, std::vector<TypeParam>(3, TypeParam(1)));
    for_each(context, "test sums", 30'000, add_half<TypeParam>{sums.data()});
    EXPECT_EQ(to_host(context, sums), std::vector<TypeParam>(3, TypeParam(5001)));
  }
}

}  // namespace

}  // namespace quadrat::test
