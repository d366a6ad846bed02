// SPDX-License-Identifier: BSD-3-Clause
#include "core/backend.hpp"
#include "mesh/engine.hpp"
#include "mesh/interpolate/points.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

template <typename T>
struct place_point {
  point_placement<T> placement;
  placed_point<T>* placed;

  QUADRAT_HD void operator()(std::size_t i) const { placed[i] = placement(i); }
};

}  // namespace

template <typename Context, typename T>
void placed_points_engine<Context, T>::set_points(const point_placement<T>& points) {
  points_.resize_discarding(context_, points.count);
  for_each(context_, "mesh.place", points.count, place_point<T>{points, points_.data()});
}

template <typename Context, typename T>
void placed_points_engine<Context, T>::interpolate(const value_layout& layout, const T* mesh, T* values,
                                                   bool accumulate) {
  interpolate_points(context_, setup_, layout, points(), count(), mesh, values, accumulate);
}

template <typename Context, typename T>
void placed_points_engine<Context, T>::interpolate_gradient(const value_layout& layout, const T* mesh, const T* scale,
                                                            T* values, T* gradients, bool accumulate) {
  interpolate_gradients(context_, setup_, layout, points(), count(), mesh, scale, values, gradients, accumulate);
}

template class placed_points_engine<backend_context, float>;
template class placed_points_engine<backend_context, double>;

}  // namespace quadrat::detail
