// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/config.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <type_traits>

#include "quadrat/cells/concepts.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

TEST(cell_list_methods_test, have_names_and_summaries_of_their_own) {
  std::set<std::string_view> names, summaries;
  cell_list_methods::for_each([&](auto method) {
    using list = typename decltype(method)::template type<cpu_context, float, 3>;
    EXPECT_EQ(list::name, method.name);
    EXPECT_TRUE(cell_list_methods::contains(method.name));
    names.insert(method.name);
    summaries.insert(method.summary);
  });
  for (const method_info& method : cell_lists()) {
    EXPECT_TRUE(names.contains(method.name) && summaries.contains(method.summary));
    EXPECT_TRUE(method.on_cpu);
    EXPECT_EQ(method.on_cuda, QUADRAT_HAS_CUDA != 0);
    EXPECT_EQ(method.reproducible, determinism::canonical) << "particles of a cell come in increasing order";
  }
  EXPECT_EQ(cell_lists().size(), cell_list_methods::size);
  EXPECT_EQ(names.size(), cell_list_methods::size);
  EXPECT_EQ(summaries.size(), cell_list_methods::size);
}

TEST(cell_list_methods_test, are_found_by_name) {
  for (const std::string_view name : cell_list_methods::names) {
    int calls = 0;
    with_cell_list<cpu_context, double, 2>(name, [&](auto identity) {
      using list = typename decltype(identity)::type;
      static_assert(std::is_same_v<typename list::value_type, double> && list::dimension == 2);
      EXPECT_EQ(list::name, name);
      ++calls;
    });
    EXPECT_EQ(calls, 1);
  }
}

TEST(cell_list_methods_test, answer_an_unknown_name_with_the_valid_ones_nearest_first) {
  try {
    with_cell_list<cpu_context, float, 3>("linked_lose", [](auto) {});
    FAIL() << "the name was taken";
  } catch (const argument_error& caught) {
    const std::string text = caught.what();
    EXPECT_EQ(text.rfind("unknown cell list \"linked_lose\"; valid, nearest first: linked_loose, ", 0), 0u) << text;
    for (const std::string_view name : cell_list_methods::names) EXPECT_NE(text.find(name), std::string::npos);
  }
}

// The concepts that each list's view satisfies.
template <typename Method>
using view_of = typename Method::template type<cpu_context, float, 3>::view_type;
static_assert(contiguous_rows<view_of<cell_methods::counting>>);
static_assert(contiguous_rows<view_of<cell_methods::sorted>>);
static_assert(contiguous_cells<view_of<cell_methods::sorted_morton>>);
static_assert(!contiguous_rows<view_of<cell_methods::sorted_morton>>);
static_assert(!contiguous_rows<view_of<cell_methods::sorted_hilbert>>);
static_assert(!contiguous_rows<view_of<cell_methods::sorted_peano>>);
static_assert(cell_list<view_of<cell_methods::fixed>> && !contiguous_cells<view_of<cell_methods::fixed>>);
static_assert(cell_list<view_of<cell_methods::linked_loose>> && !contiguous_cells<view_of<cell_methods::linked_loose>>);
static_assert(record_cell_list<view_of<cell_methods::linked_packed>>);
static_assert(contiguous_cells<view_of<cell_methods::hashed>> && !contiguous_rows<view_of<cell_methods::hashed>>);
static_assert(numbers_occupied_cells<view_of<cell_methods::hashed>::numbering_type>);
static_assert(!numbers_occupied_cells<view_of<cell_methods::sorted_morton>::numbering_type>);
static_assert(std::is_trivially_copyable_v<view_of<cell_methods::hashed>>);
static_assert(sizeof(occupied_cell) == 16);
static_assert(tight_cell_list<view_of<cell_methods::linked_tight>>);
static_assert(std::is_trivially_copyable_v<view_of<cell_methods::linked_tight>>);
static_assert(std::is_trivially_copyable_v<view_of<cell_methods::counting>>);

// One 16-byte load reads position and link.
static_assert(sizeof(packed_record<float, 3>) == 16 && alignof(packed_record<float, 3>) == 16);
static_assert(sizeof(packed_record<float, 2>) == 16 && alignof(packed_record<float, 2>) == 16);
static_assert(sizeof(packed_record<double, 3>) == 32 && sizeof(packed_record<double, 2>) == 32);

}  // namespace quadrat
