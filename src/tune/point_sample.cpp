// SPDX-License-Identifier: BSD-3-Clause
#include "tune/point_sample.hpp"

#include <cmath>
#include <vector>

#include "core/backend.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// Index: place in the sample. The number of the cell of its point.
template <typename T, int D>
struct take_point_sample {
  points_view<T, D> points;
  sampled_cells cells;
  point_sample_layout layout;
  std::uint64_t* numbers;

  QUADRAT_HD void operator()(std::size_t s) const {
    const vec<T, D> point = points[layout.point(s)];
    std::uint64_t number = 0, copy = 0, all = 1;
    for (int axis = D - 1; axis >= 0; --axis) {
      const auto x = static_cast<double>(point[axis]);
      number = number * cells.extent[axis] + cells.along(x, axis);
      copy = (copy << 21) + cells.copy(x, axis);
      all *= cells.extent[axis];
    }
    numbers[s] = number + copy * all;
  }
};

}  // namespace

template <typename Context, typename T, int D>
point_sample sample_points(const Context& context, const points_view<T, D>& points, const sampled_cells& cells,
                           workspace<Context>& scratch) {
  const point_sample_layout layout(points.count);
  auto* const numbers =
      reinterpret_cast<std::uint64_t*>(scratch.request(context, layout.taken * sizeof(std::uint64_t)));
  for_each(context, "tune.sample", layout.taken, take_point_sample<T, D>{points, cells, layout, numbers});
  return summarize_points(points.count, cells, to_host(context, numbers, layout.taken));
}

template point_sample sample_points(const backend_context&, const points_view<float, 1>&, const sampled_cells&,
                                    workspace<backend_context>&);
template point_sample sample_points(const backend_context&, const points_view<float, 2>&, const sampled_cells&,
                                    workspace<backend_context>&);
template point_sample sample_points(const backend_context&, const points_view<float, 3>&, const sampled_cells&,
                                    workspace<backend_context>&);
template point_sample sample_points(const backend_context&, const points_view<double, 1>&, const sampled_cells&,
                                    workspace<backend_context>&);
template point_sample sample_points(const backend_context&, const points_view<double, 2>&, const sampled_cells&,
                                    workspace<backend_context>&);
template point_sample sample_points(const backend_context&, const points_view<double, 3>&, const sampled_cells&,
                                    workspace<backend_context>&);

}  // namespace quadrat::detail
