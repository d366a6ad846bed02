// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/search/nearest_neighbors.hpp"

namespace quadrat {

/// A search for the nearest neighbors in a box of any shape, without points. Context, precision and dimension are
/// deduced from the arguments, so that options can be written in place:
/// `make_nearest_neighbors(context, box, {.k = 8})`. Throws what the constructor throws.
template <typename Context, typename T, int D>
[[nodiscard]] nearest_neighbors<Context, T, D> make_nearest_neighbors(
    const Context& context, const lattice<T, D>& shape, const nearest_options<std::type_identity_t<T>>& options) {
  return {context, shape, options};
}
template <typename Context, typename T, int D>
[[nodiscard]] nearest_neighbors<Context, T, D> make_nearest_neighbors(
    const Context& context, const box<T, D>& domain, const nearest_options<std::type_identity_t<T>>& options) {
  return {context, make_lattice(domain), options};
}
/// For points of several systems, with one box per system: `build(points, system_of_point)`.
template <typename Context, typename T, int D>
[[nodiscard]] nearest_neighbors<Context, T, D> make_nearest_neighbors(
    const Context& context, const std::vector<lattice<T, D>>& shapes,
    const nearest_options<std::type_identity_t<T>>& options) {
  return {context, shapes, options};
}

}  // namespace quadrat
