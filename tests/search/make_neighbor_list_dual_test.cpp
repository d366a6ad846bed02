// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/make_neighbor_list.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "quadrat/core/array.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class make_neighbor_list_test : public backend_test {
 protected:
  const backend_context context;
  const box<float, 3> domain = make_box<float, 3>({0, 0, 0}, {4, 4, 4}, {true, true, true});
  /// Neighbors across the seam: 0 and 1.
  const std::vector<vec<float, 3>> host{{0.25f, 1, 1}, {3.75f, 1, 1}, {2, 3, 3}};
  const array<vec<float, 3>, backend_context> points = to_device(context, host);
};

TEST_F(make_neighbor_list_test, keeps_a_box_or_a_lattice) {
  auto list = make_neighbor_list(context, domain, {.cutoff = 1, .sorted = true});
  EXPECT_TRUE((std::is_same_v<decltype(list), neighbor_list<backend_context, float, 3>>));
  list.build(points_of(points));
  EXPECT_EQ(to_host(context, list.view().neighbors, list.size()), (std::vector<particle_id>{1, 0}));
  auto skewed = make_neighbor_list(
      context, make_lattice<float, 3>({}, {{{{4, 0, 0}}, {{1, 4, 0}}, {{0, 0, 4}}}}, {true, true, true}),
      {.cutoff = 1});
  skewed.build(points_of(points));
  EXPECT_EQ(skewed.size(), 2u);
  auto moved = std::move(skewed);
  EXPECT_EQ(moved.count(points_of(points)).total, 2u);
}

TEST_F(make_neighbor_list_test, keeps_a_box_for_each_system) {
  const std::vector<lattice<float, 3>> shapes{make_lattice(domain),
                                              make_lattice(make_box<float, 3>({0, 0, 0}, {4, 4, 4}, {}))};
  auto list = make_neighbor_list(context, shapes, {.cutoff = 1});
  const auto count = [&](std::uint32_t system) {
    const auto systems = to_device(context, std::vector<std::uint32_t>(3, system));
    list.build(points_of(points), systems.data());
    return list.size();
  };
  EXPECT_EQ(count(0), 2u);
  EXPECT_EQ(count(1), 0u);
  EXPECT_NE(error_of<argument_error>([&] { list.build(points_of(points)); }).find("system of each point"),
            std::string::npos);
}

TEST_F(make_neighbor_list_test, completes_an_input_with_its_box) {
  auto list = make_neighbor_list(context, domain, {.cutoff = 2, .skin = 0.1f, .rule = cutoff_rule::sum_of_radii});
  const auto radii = to_device(context, std::vector<float>{0.3f, 0.3f, 0.3f});
  auto input = list.input(points_of(points));
  input.radii = radii.data();
  EXPECT_TRUE(list.update(input));
  EXPECT_EQ(list.size(), 2u);
  EXPECT_FALSE(list.update(input));
}

TEST_F(make_neighbor_list_test, asks_for_a_box_where_it_was_made_without) {
  neighbor_list<backend_context, float, 3> list(context, {.cutoff = 1});
  EXPECT_NE(error_of<argument_error>([&] { list.build(points_of(points)); }).find("box"), std::string::npos);
}

}  // namespace

}  // namespace quadrat::test
