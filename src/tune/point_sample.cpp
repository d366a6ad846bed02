// SPDX-License-Identifier: BSD-3-Clause
#include "tune/point_sample.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/backend.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

constexpr std::size_t most_grids = 2;

/// Computes the number of the cell of each sampled point. Index: place in the concatenated samples.
template <typename T, int D>
struct take_point_sample {
  points_view<T, D> points;
  sampled_cells grids[most_grids];
  point_sample_layout layout;
  std::uint64_t* numbers;

  QUADRAT_HD void operator()(std::size_t s) const {
    const sampled_cells& cells = grids[s / layout.taken];
    const vec<T, D> point = points[layout.point(s % layout.taken)];
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
std::vector<point_sample> sample_points(const Context& context, const points_view<T, D>& points,
                                        std::span<const sampled_cells> grids, workspace<Context>& scratch) {
  const point_sample_layout layout(points.count);
  const std::size_t numbers_taken = layout.taken * grids.size();
  auto* const numbers =
      reinterpret_cast<std::uint64_t*>(scratch.request(context, numbers_taken * sizeof(std::uint64_t)));
  take_point_sample<T, D> take{points, {}, layout, numbers};
  std::ranges::copy(grids, take.grids);
  for_each(context, "tune.sample", numbers_taken, take);
  const std::vector<std::uint64_t> taken = to_host(context, numbers, numbers_taken);
  std::vector<point_sample> samples;
  for (std::size_t k = 0; k < grids.size(); ++k) {
    samples.push_back(
        summarize_points(points.count, grids[k], std::span(taken).subspan(k * layout.taken, layout.taken)));
  }
  return samples;
}

template std::vector<point_sample> sample_points(const backend_context&, const points_view<float, 1>&,
                                                 std::span<const sampled_cells>, workspace<backend_context>&);
template std::vector<point_sample> sample_points(const backend_context&, const points_view<float, 2>&,
                                                 std::span<const sampled_cells>, workspace<backend_context>&);
template std::vector<point_sample> sample_points(const backend_context&, const points_view<float, 3>&,
                                                 std::span<const sampled_cells>, workspace<backend_context>&);
template std::vector<point_sample> sample_points(const backend_context&, const points_view<double, 1>&,
                                                 std::span<const sampled_cells>, workspace<backend_context>&);
template std::vector<point_sample> sample_points(const backend_context&, const points_view<double, 2>&,
                                                 std::span<const sampled_cells>, workspace<backend_context>&);
template std::vector<point_sample> sample_points(const backend_context&, const points_view<double, 3>&,
                                                 std::span<const sampled_cells>, workspace<backend_context>&);

}  // namespace quadrat::detail
