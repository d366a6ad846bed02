// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/make_cells.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "quadrat/cells/methods.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class make_cells_test : public backend_test {};

const auto unit_box = make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true});

TEST_F(make_cells_test, deduces_the_type_from_its_arguments) {
  const backend_context context;
  auto cells = make_cells(context, unit_box, 0.1f);
  EXPECT_TRUE((std::is_same_v<decltype(cells), cell_methods::counting::type<backend_context, float, 3>>));
  EXPECT_EQ(cells.space().cells, (vec<int, 3>{9, 9, 9}));
  const auto plane = make_box<double, 2>({0, 0}, {1, 2}, {});
  auto sorted = make_cells<cell_methods::sorted_morton>(context, make_grid(plane, {4, 8}));
  EXPECT_TRUE((std::is_same_v<decltype(sorted), cell_methods::sorted_morton::type<backend_context, double, 2>>));
  EXPECT_EQ(sorted.space().cells, (vec<int, 2>{4, 8}));
}

TEST_F(make_cells_test, makes_every_method_for_a_cutoff_alone) {
  const backend_context context;
  cell_list_methods::for_each([&](auto method) {
    using method_type = decltype(method);
    EXPECT_NO_THROW((void)make_cells<method_type>(context, unit_box, 0.1f)) << method_type::name;
  });
  auto tight = make_cells<cell_methods::linked_tight>(context, unit_box, 0.25f, {.radius = 0.0625f});
  EXPECT_EQ(tight.space().cells, (vec<int, 3>{4, 4, 4}));
}

TEST_F(make_cells_test, refuses_cutoffs_that_walks_would_refuse) {
  const backend_context context;
  for (const float cutoff : {0.0f, -1.0f, 0.51f}) {
    EXPECT_NE(error_of<argument_error>([&] { (void)make_cells(context, unit_box, cutoff); }), "no error") << cutoff;
  }
}

}  // namespace

}  // namespace quadrat::test
