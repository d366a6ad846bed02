// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "cells/random_scene.hpp"
#include "quadrat/cells/methods.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

namespace detail {
template <typename List>
struct as_test_types;
template <typename... Methods>
struct as_test_types<method_list<Methods...>> {
  using type = testing::Types<Methods...>;
};
}  // namespace detail

/// The types of a suite that runs over all cell lists.
using every_cell_list = detail::as_test_types<cell_list_methods>::type;

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

/// A cell list for a scene: cells that no points overflow, a radius of half the cutoff, and for linked_tight a grid
/// that is coarse enough.
template <typename Method, typename T, int D>
[[nodiscard]] auto make_list(const backend_context& context, const scene<T, D>& it) {
  cell_list_options<T> options;
  options.radius = it.cutoff / 2;
  options.fixed_capacity = static_cast<std::uint32_t>(it.points.size()) + 1;
  const grid<T, D> space = is_tight<Method> ? coarsened(it.space, it.cutoff) : it.space;
  return typename Method::template type<backend_context, T, D>(context, space, options);
}

/// Calls f.template operator()<T, D>() for float and double in 2 and 3 dimensions.
template <typename F>
void for_each_shape(F&& f) {
  f.template operator()<float, 2>();
  f.template operator()<float, 3>();
  f.template operator()<double, 2>();
  f.template operator()<double, 3>();
}

/// A context at a level of determinism.
[[nodiscard]] inline backend_context context_at(determinism level, int threads = 0) {
  backend_context::options chosen;
  chosen.reproducibility = level;
  if constexpr (requires { chosen.threads; }) chosen.threads = threads;
  return backend_context(chosen);
}

}  // namespace quadrat::test
