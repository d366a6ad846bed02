// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/search/neighbor_list.hpp"

namespace quadrat {

/// An empty neighbor list for points in a box of any shape. It keeps the box, so `build(points)` needs the points only.
/// Context, precision and dimension are deduced from the arguments, so that options can be written in place:
/// `make_neighbor_list(context, box, {.cutoff = 0.1f})`. Throws argument_error for impossible options.
template <typename Context, typename T, int D>
[[nodiscard]] neighbor_list<Context, T, D> make_neighbor_list(
    const Context& context, const lattice<T, D>& shape, const neighbor_options<std::type_identity_t<T>>& options) {
  return {context, {shape}, options};
}
template <typename Context, typename T, int D>
[[nodiscard]] neighbor_list<Context, T, D> make_neighbor_list(
    const Context& context, const box<T, D>& domain, const neighbor_options<std::type_identity_t<T>>& options) {
  return {context, {make_lattice(domain)}, options};
}

/// For points of several systems, with one box per system: `build(points, system_of_point)`.
template <typename Context, typename T, int D>
[[nodiscard]] neighbor_list<Context, T, D> make_neighbor_list(
    const Context& context, std::vector<lattice<T, D>> shapes,
    const neighbor_options<std::type_identity_t<T>>& options) {
  return {context, std::move(shapes), options};
}

}  // namespace quadrat
