// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>

#include "quadrat/cells/make_cells.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/search/make_cluster_finder.hpp"
#include "quadrat/search/make_nearest_neighbors.hpp"
#include "quadrat/search/make_neighbor_list.hpp"

/// Points on a line. Searches are instantiated in 2 and 3 dimensions, so point x becomes (x, 0) in a plane whose second
/// axis is open; the y of vectors and shifts in results is 0. The make functions below take a box of one dimension.
///
///   const auto box = quadrat::make_box<double, 1>({0}, {10}, {true});
///   quadrat::line_points<quadrat::cpu_context, double> line(context);
///   auto list = quadrat::make_neighbor_list(context, box, {.cutoff = 0.1});
///   list.build(line.view(x.data(), x.size()));
namespace quadrat {

/// Makes points of a plane from coordinates along a line without copying them: y is read from internal zeros.
template <typename Context, typename T>
class line_points {
  static_assert(detail::instance<Context, T, 2>::exists);

 public:
  explicit line_points(const Context& context) : context_(context) {}

  /// Point i is (x[i * stride], 0). x is memory of the context; the view is valid as long as x and this object, and
  /// until a larger view is made. Does not wait. Allocates and writes count * stride zeros if that is more than ever
  /// before. Throws argument_error for a stride of 0.
  [[nodiscard]] points_view<T, 2> view(const T* x, std::size_t count, std::size_t stride = 1) {
    require(stride >= 1, "the stride of the points is 0; it must be positive");
    if (count * stride > zeros_.size()) {
      zeros_.resize_discarding(context_, count * stride);
      fill_bytes(context_, zeros_.data(), 0, zeros_.bytes());
    }
    return {{x, zeros_.data()}, stride, count};
  }

  /// Memory held on the context's device, in bytes.
  [[nodiscard]] std::size_t bytes() const { return zeros_.bytes(); }

 private:
  Context context_;
  array<T, Context> zeros_;
};

/// The box of the plane around a line, `width` wide along its open second axis. Throws argument_error unless the width
/// is positive and finite.
template <typename T>
[[nodiscard]] box<T, 2> plane_around(const box<T, 1>& line, T width) {
  return make_box_from_lengths<T, 2>({line.lower[0], T(0)}, {line.length[0], width}, {line.periodic[0], false});
}

namespace detail {

/// Wide enough for one cell. Passes on invalid cutoffs, so that the search refuses them.
template <typename T>
[[nodiscard]] T width_for(const box<T, 1>& line, T distance) {
  return distance > T(0) && distance < line.length[0] ? distance : line.length[0];
}

}  // namespace detail

/// The same functions as for boxes of 2 and 3 dimensions. They throw the same errors.
template <typename Context, typename T>
[[nodiscard]] neighbor_list<Context, T, 2> make_neighbor_list(
    const Context& context, const box<T, 1>& line, const neighbor_options<std::type_identity_t<T>>& options) {
  return make_neighbor_list(context, plane_around(line, detail::width_for(line, options.cutoff)), options);
}
template <typename Context, typename T>
[[nodiscard]] nearest_neighbors<Context, T, 2> make_nearest_neighbors(
    const Context& context, const box<T, 1>& line, const nearest_options<std::type_identity_t<T>>& options) {
  return make_nearest_neighbors(context, plane_around(line, line.length[0]), options);
}
template <typename Context, typename T>
[[nodiscard]] cluster_finder<Context, T, 2> make_cluster_finder(
    const Context& context, const box<T, 1>& line, const cluster_options<std::type_identity_t<T>>& options) {
  return make_cluster_finder(context, plane_around(line, detail::width_for(line, options.cutoff)), options);
}
template <typename Method = cell_methods::counting, typename Context, typename T>
[[nodiscard]] auto make_cells(const Context& context, const box<T, 1>& line, std::type_identity_t<T> cutoff,
                              const cell_list_options<std::type_identity_t<T>>& options = {}) {
  require_cutoff_fits(line, cutoff);
  return make_cells<Method>(context, plane_around(line, cutoff), cutoff, options);
}

}  // namespace quadrat
