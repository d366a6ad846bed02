// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/curves.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace quadrat::test {

namespace {

template <template <int> class Numbering>
struct numbering_family {
  template <int D>
  using of = Numbering<D>;
  template <int D>
  static of<D> make(const vec<int, D>& cells) {
    return make_numbering<Numbering>(cells);
  }
};

template <typename Family>
class numbering_test : public testing::Test {};

using families = testing::Types<numbering_family<row_major_numbering>, numbering_family<morton_numbering>,
                                numbering_family<hilbert_numbering>, numbering_family<peano_numbering>>;
TYPED_TEST_SUITE(numbering_test, families);

template <int D>
std::string shape(const vec<int, D>& cells) {
  std::string text;
  for (int axis = 0; axis < D; ++axis) text += std::to_string(cells[axis]) + " ";
  return text;
}

/// Every cell of a grid, x fastest.
template <int D>
std::vector<vec<int, D>> all_cells(const vec<int, D>& cells) {
  const row_major_numbering<D> rows{cells};
  std::vector<vec<int, D>> result;
  for (std::uint64_t id = 0; id < rows.bound(); ++id) result.push_back(rows.cell(static_cast<cell_id>(id)));
  return result;
}

template <typename Family, int D>
void expect_numbers_each_cell_once(const vec<int, D>& cells) {
  const auto numbering = Family::template make<D>(cells);
  std::vector<bool> taken(numbering.bound(), false);
  for (const auto& cell : all_cells(cells)) {
    const cell_id id = numbering.id(cell);
    ASSERT_LT(id, numbering.bound()) << shape(cells);
    ASSERT_FALSE(taken[id]) << "two cells have number " << id << " on " << shape(cells);
    taken[id] = true;
    ASSERT_EQ(numbering.cell(id), cell) << "number " << id << " on " << shape(cells);
  }
}

TYPED_TEST(numbering_test, gives_each_cell_one_number_below_the_bound_and_finds_it_back) {
  for (const int x : {1, 2, 3, 4, 7, 9, 16, 20}) {
    for (const int y : {1, 2, 3, 5, 8, 27}) {
      expect_numbers_each_cell_once<TypeParam, 2>({x, y});
      for (const int z : {1, 2, 3, 6, 10}) expect_numbers_each_cell_once<TypeParam, 3>({x, y, z});
    }
  }
}

TYPED_TEST(numbering_test, refuses_grids_beyond_32_bit_cell_numbers) {
  EXPECT_THROW(static_cast<void>(TypeParam::template make<3>({2048, 1024, 1024})), argument_error);
  EXPECT_THROW(static_cast<void>(TypeParam::template make<2>({1 << 30, 1 << 30})), argument_error);
  EXPECT_THROW(static_cast<void>(TypeParam::template make<3>({2147483647, 2147483647, 2147483647})), argument_error);
  EXPECT_NO_THROW(static_cast<void>(TypeParam::template make<3>({512, 512, 512})));
}

template <typename Numbering, int D>
int steps_between(const Numbering& numbering, cell_id from, cell_id to) {
  const vec<int, D> difference = numbering.cell(to) - numbering.cell(from);
  int steps = 0;
  for (int axis = 0; axis < D; ++axis) steps += std::abs(difference[axis]);
  return steps;
}

/// For a grid that fills the curve's cube.
template <typename Numbering, int D>
void expect_one_unbroken_path(int side) {
  const Numbering numbering(vec<int, D>::filled(side));
  std::uint64_t cube = 1;
  for (int axis = 0; axis < D; ++axis) cube *= static_cast<std::uint64_t>(side);
  ASSERT_EQ(numbering.bound(), cube);
  EXPECT_EQ(numbering.cell(0), (vec<int, D>{})) << "the curve starts in the corner";
  for (cell_id id = 1; id < cube; ++id) {
    ASSERT_EQ((steps_between<Numbering, D>(numbering, id - 1, id)), 1) << "from " << id - 1 << ", side " << side;
  }
}

TEST(hilbert_numbering, walks_from_neighbor_to_neighbor) {
  for (const int side : {1, 2, 4, 8, 32}) {
    expect_one_unbroken_path<hilbert_numbering<2>, 2>(side);
    expect_one_unbroken_path<hilbert_numbering<3>, 3>(side);
  }
}

TEST(peano_numbering, walks_from_neighbor_to_neighbor) {
  for (const int side : {1, 3, 9, 27}) {
    expect_one_unbroken_path<peano_numbering<2>, 2>(side);
    expect_one_unbroken_path<peano_numbering<3>, 3>(side);
  }
}

TEST(hilbert_numbering, keeps_its_subcubes_together) {
  const hilbert_numbering<3> numbering({16, 16, 16});
  for (const auto& cell : all_cells<3>({16, 16, 16})) {
    const vec<int, 3> corner = make_vec<int, 3>([&](int axis) { return cell[axis] / 4 * 4; });
    EXPECT_EQ(numbering.id(cell) / 64, numbering.id(corner) / 64) << "a cube of side 4 is a run of 64 numbers";
  }
}

TEST(morton_numbering, interleaves_the_bits_with_x_lowest) {
  const morton_numbering<3> numbering({8, 8, 8});
  EXPECT_EQ(numbering.id({1, 0, 0}), 1u);
  EXPECT_EQ(numbering.id({0, 1, 0}), 2u);
  EXPECT_EQ(numbering.id({0, 0, 1}), 4u);
  EXPECT_EQ(numbering.id({2, 0, 0}), 8u);
  EXPECT_EQ(numbering.id({7, 7, 7}), 511u);
  const morton_numbering<2> plane({4, 4});
  EXPECT_EQ(plane.id({3, 0}), 5u);
  EXPECT_EQ(plane.id({0, 3}), 10u);
}

TEST(morton_numbering, keeps_blocks_of_two_cells_a_side_together) {
  const morton_numbering<3> numbering({8, 4, 16});
  for (const auto& cell : all_cells<3>({8, 4, 16})) {
    const vec<int, 3> corner = make_vec<int, 3>([&](int axis) { return cell[axis] / 2 * 2; });
    EXPECT_EQ(numbering.id(cell) / 8, numbering.id(corner) / 8);
  }
}

TEST(morton_numbering, spends_no_bits_on_short_axes) {
  EXPECT_EQ((morton_numbering<3>({64, 1, 2}).bound()), 128u);
  EXPECT_EQ((morton_numbering<3>({65, 3, 1}).bound()), 128u * 4u);
  EXPECT_NO_THROW((static_cast<void>(make_numbering<morton_numbering>(vec<int, 3>{1 << 20, 32, 16}))));
}

TEST(row_major_numbering, runs_along_x_first) {
  const row_major_numbering<3> numbering{{4, 5, 6}};
  EXPECT_EQ(numbering.bound(), 120u);
  EXPECT_EQ(numbering.id({1, 0, 0}), 1u);
  EXPECT_EQ(numbering.id({0, 1, 0}), 4u);
  EXPECT_EQ(numbering.id({0, 0, 1}), 20u);
  EXPECT_EQ(numbering.id({3, 4, 5}), 119u);
}

TEST(make_numbering, says_how_many_numbers_would_be_needed) {
  try {
    static_cast<void>(make_numbering<hilbert_numbering>(vec<int, 3>{1025, 4, 4}));
    FAIL() << "2^33 numbers were accepted";
  } catch (const argument_error& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "the hilbert numbering of this grid needs 8589934592 cell numbers; at most 2147483647 are possible");
  }
}

}  // namespace

}  // namespace quadrat::test
