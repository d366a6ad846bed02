// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "cells/random_scene.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

template <typename List>
struct as_test_types;
template <typename... Methods>
struct as_test_types<method_list<Methods...>> {
  using type = testing::Types<Methods...>;
};

/// The types of a test suite over all cell lists.
using every_cell_list = as_test_types<cell_list_methods>::type;

/// Names the tests of such a suite by their method.
struct method_names {
  template <typename Method>
  static std::string GetName(int) {
    return std::string(Method::name);
  }
};

template <typename Method>
inline constexpr bool is_tight = std::is_same_v<Method, cell_methods::linked_tight>;

template <typename Method>
class cell_list_test : public backend_test {};

/// A cell list for a scene: cells that do not overflow, a radius of half the cutoff, and for linked_tight a coarse
/// enough grid.
template <typename Method, typename T, int D>
[[nodiscard]] auto make_list(const backend_context& context, const scene<T, D>& it) {
  cell_list_options<T> options;
  options.radius = it.cutoff / 2;
  options.fixed_capacity = static_cast<std::uint32_t>(it.points.size()) + 1;
  const grid<T, D> space = is_tight<Method> ? coarsened(it.space, it.cutoff) : it.space;
  return typename Method::template type<backend_context, T, D>(context, space, options);
}

template <typename View>
struct count_members {
  View view;
  std::uint32_t* counts;
  QUADRAT_HD void operator()(std::size_t id) const {
    std::uint32_t count = 0;
    view.for_each_in_cell(static_cast<cell_id>(id), [&](particle_id) { ++count; });
    counts[id] = count;
  }
};

template <typename View>
struct write_members {
  View view;
  const std::uint32_t* offsets;
  particle_id* members;
  QUADRAT_HD void operator()(std::size_t id) const {
    std::uint32_t at = offsets[id];
    view.for_each_in_cell(static_cast<cell_id>(id), [&](particle_id i) { members[at++] = i; });
  }
};

/// The particles of each cell number, in the order of the view.
template <typename View>
[[nodiscard]] std::vector<std::vector<particle_id>> contents(const backend_context& context, const View& view) {
  const std::size_t cells = view.numbering.bound();
  array<std::uint32_t, backend_context> counts(context, cells);
  for_each(context, "count", cells, count_members<View>{view, counts.data()});
  std::vector<std::uint32_t> offsets = to_host(context, counts);
  offsets.insert(offsets.begin(), 0);
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  const auto starts = to_device(context, offsets);
  array<particle_id, backend_context> members(context, offsets.back());
  for_each(context, "write", cells, write_members<View>{view, starts.data(), members.data()});
  const auto all = to_host(context, members);
  std::vector<std::vector<particle_id>> result(cells);
  for (std::size_t id = 0; id < cells; ++id) {
    result[id].assign(all.begin() + offsets[id], all.begin() + offsets[id + 1]);
  }
  return result;
}

/// Calls f.template operator()<T, D>() for float and double in 2 and 3 dimensions.
template <typename F>
void for_each_shape(F&& f) {
  f.template operator()<float, 2>();
  f.template operator()<float, 3>();
  f.template operator()<double, 2>();
  f.template operator()<double, 3>();
}

}  // namespace quadrat::test
