// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/carry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <string_view>
#include <vector>

#include "cells/every_list.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/array.hpp"
#include "support/backend.hpp"

// Particle data carried into cell order, and links in the caller's own records.

namespace quadrat::test {

namespace {

template <std::size_t Words, std::size_t Alignment>
struct alignas(Alignment) numbered {
  std::uint32_t word[Words];
};

/// An array of records whose words identify the particle, and the destination array.
template <std::size_t Words, std::size_t Alignment>
class carried {
 public:
  using record = numbered<Words, Alignment>;

  carried(const backend_context& context, std::size_t count) : to_(context, count) {
    std::vector<record> records(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t word = 0; word < Words; ++word)
        records[i].word[word] = static_cast<std::uint32_t>(10 * i + word);
    }
    from_ = to_device(context, records);
  }
  [[nodiscard]] carried_array pair() { return carry(from_.data(), to_.data()); }
  void expect_order(const backend_context& context, const std::vector<particle_id>& order) const {
    const auto records = to_host(context, to_);
    for (std::size_t slot = 0; slot < order.size(); ++slot) {
      for (std::size_t word = 0; word < Words; ++word) ASSERT_EQ(records[slot].word[word], 10 * order[slot] + word);
    }
  }

 private:
  array<record, backend_context> from_;
  array<record, backend_context> to_;
};

[[nodiscard]] scene<float, 3> random_scene(std::size_t count) {
  scene<float, 3> it{};
  it.space = make_grid(make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {false, false, false}), {5, 6, 7});
  it.cutoff = 0.125f;
  std::mt19937_64 random(5);
  it.points.resize(count);
  for (auto& point : it.points) {
    for (int axis = 0; axis < 3; ++axis) point[axis] = random_unit<float>(random);
  }
  return it;
}

template <typename View>
struct read_slot {
  View view;
  particle_id* order;
  QUADRAT_HD void operator()(std::size_t slot) const { order[slot] = view.particle(static_cast<std::uint32_t>(slot)); }
};

template <typename Method>
void check_carry(determinism level) {
  const backend_context context = context_at(level);
  const scene<float, 3> it = random_scene(size_or(5000, 500));
  const std::size_t n = it.points.size();
  const auto stored = to_device(context, it.points);
  carried<1, 4> scalars(context, n);
  carried<2, 8> doubles(context, n);
  carried<3, 4> triples(context, n);
  carried<4, 16> quadruples(context, n);
  carried<6, 8> double_triples(context, n);
  carried<8, 16> double_quadruples(context, n);
  const carried_array arrays[] = {scalars.pair(),    doubles.pair(),        triples.pair(),
                                  quadruples.pair(), double_triples.pair(), double_quadruples.pair()};
  auto list = make_list<Method>(context, it);
  list.build_and_carry(points_of(stored.data(), n), arrays);
  array<particle_id, backend_context> slots(context, n);
  for_each(context, "slots", n, read_slot<typename decltype(list)::view_type>{list.view(), slots.data()});
  const std::vector<particle_id> order = to_host(context, slots);
  ASSERT_TRUE(std::ranges::is_permutation(order, std::views::iota(particle_id{0}, static_cast<particle_id>(n))));
  scalars.expect_order(context, order);
  doubles.expect_order(context, order);
  triples.expect_order(context, order);
  quadruples.expect_order(context, order);
  double_triples.expect_order(context, order);
  double_quadruples.expect_order(context, order);
}

}  // namespace

using carry_test = backend_test;

TEST_F(carry_test, puts_records_of_all_sizes_into_cell_order) {
  std::vector<std::string_view> carrying;
  cell_list_methods::for_each([&](auto method) {
    using list_type = typename decltype(method)::template type<backend_context, float, 3>;
    if constexpr (contiguous_cells<typename list_type::view_type>) {
      SCOPED_TRACE(method.name);
      carrying.push_back(method.name);
      check_carry<decltype(method)>(determinism::none);
      check_carry<decltype(method)>(determinism::run_to_run);
    }
  });
  EXPECT_GE(carrying.size(), 6u);
}

TEST_F(carry_test, refuses_what_cannot_be_carried) {
  const backend_context context;
  const scene<float, 3> it = random_scene(10);
  const auto stored = to_device(context, it.points);
  const auto points = points_of(stored.data(), it.points.size());
  array<vec<float, 3>, backend_context> other(context, 11);
  auto list = make_list<cell_methods::sorted>(context, it);
  const auto refused = [&](const carried_array& one) {
    EXPECT_THROW(list.build_and_carry(points, std::span(&one, 1)), argument_error);
  };
  refused({stored.data(), nullptr, 12});
  refused({nullptr, other.data(), 12});
  refused({stored.data(), other.data(), 7});
  refused({stored.data(), other.data(), 0});
  refused({stored.data(), other.data()->component + 1, 16});
  refused({other.data(), other.data(), 12});
  const std::vector<carried_array> many(9, carry(stored.data(), other.data()));
  EXPECT_THROW(list.build_and_carry(points, many), argument_error);
  EXPECT_NO_THROW(list.build_and_carry(points, {}));
}

using packed_test = backend_test;

TEST_F(packed_test, links_the_records_of_the_caller) {
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    const backend_context context = context_at(level);
    const scene<float, 3> it = random_scene(1000);
    std::vector<packed_record<float, 3>> records(it.points.size());
    for (std::size_t i = 0; i < records.size(); ++i) records[i] = {it.points[i], 77};
    auto stored = to_device(context, records);
    auto list = make_list<cell_methods::linked_packed>(context, it);
    const std::size_t before = list.bytes();
    list.build(stored.data(), records.size());
    EXPECT_EQ(list.view().records, stored.data());
    auto in_place = contents(context, list.view());
    const auto after = to_host(context, stored);
    for (std::size_t i = 0; i < records.size(); ++i) EXPECT_EQ(after[i].position, it.points[i]);
    EXPECT_GT(list.bytes(), before);

    const auto points = to_device(context, it.points);
    list.build(points_of(points.data(), records.size()));
    auto copied = contents(context, list.view());
    std::ranges::for_each(in_place, [](auto& cell) { std::ranges::sort(cell); });
    std::ranges::for_each(copied, [](auto& cell) { std::ranges::sort(cell); });
    EXPECT_EQ(in_place, copied);
  }
}

TEST_F(packed_test, refuses_records_that_cannot_be) {
  const backend_context context;
  auto list = make_list<cell_methods::linked_packed>(context, random_scene(10));
  using record = packed_record<float, 3>;
  EXPECT_THROW(list.build(static_cast<record*>(nullptr), 3), argument_error);
  array<float, backend_context> numbers(context, 64);
  EXPECT_THROW(list.build(reinterpret_cast<record*>(numbers.data() + 1), 3), argument_error);
  EXPECT_NO_THROW(list.build(static_cast<record*>(nullptr), 0));
}

}  // namespace quadrat::test
