// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/search/cluster_finder.hpp"

namespace quadrat {

/// A finder of clusters for points in a box of any shape. Context, precision and dimension are deduced from the
/// arguments, so that options can be written in place: `make_cluster_finder(context, box, {.cutoff = 0.1f})`. Throws
/// argument_error for impossible options.
template <typename Context, typename T, int D>
[[nodiscard]] cluster_finder<Context, T, D> make_cluster_finder(
    const Context& context, const lattice<T, D>& shape, const cluster_options<std::type_identity_t<T>>& options) {
  return {context, shape, options};
}
template <typename Context, typename T, int D>
[[nodiscard]] cluster_finder<Context, T, D> make_cluster_finder(
    const Context& context, const box<T, D>& domain, const cluster_options<std::type_identity_t<T>>& options) {
  return {context, make_lattice(domain), options};
}
/// For points of several systems, with one box per system: `find(points, system_of_point)`.
template <typename Context, typename T, int D>
[[nodiscard]] cluster_finder<Context, T, D> make_cluster_finder(
    const Context& context, const std::vector<lattice<T, D>>& shapes,
    const cluster_options<std::type_identity_t<T>>& options) {
  return {context, shapes, options};
}

}  // namespace quadrat
