// SPDX-License-Identifier: BSD-3-Clause
#include "core/backend.hpp"
#include "mesh/footprint.hpp"
#include "mesh/spread_engine.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

template <typename T>
struct place_point {
  point_placement<T> placement;
  placed_point<T>* placed;

  QUADRAT_HD void operator()(std::size_t i) const { placed[i] = placement(i); }
};

/// Index: point.
template <typename T, int Width>
struct interpolate_point {
  mesh_shape shape;
  mesh_window<T> window;
  value_layout layout;
  const placed_point<T>* points;
  const T* mesh;
  T* values;
  bool accumulate;

  QUADRAT_HD void operator()(std::size_t i) const {
    const placed_point<T> point = points[i];
    const footprint<T, Width> weights(window, shape, point);
    for (int channel = 0; channel < layout.channels(); ++channel) {
      T sum = T(0);
      weights.for_each_node(shape, point,
                            [&](std::size_t node, T weight) { sum += weight * mesh[layout.node(node, channel)]; });
      T& value = values[layout.value(i, channel)];
      value = accumulate ? value + sum : sum;
    }
  }
};

/// Index: point.
template <typename T, int Width>
struct interpolate_point_gradient {
  mesh_shape shape;
  mesh_window<T> window;
  value_layout layout;
  const placed_point<T>* points;
  const T* mesh;
  T scale[3];
  T* gradients;
  bool accumulate;

  QUADRAT_HD void operator()(std::size_t i) const {
    const placed_point<T> point = points[i];
    for (int axis = shape.first_axis; axis < 3; ++axis) {
      const footprint<T, Width> weights(window, shape, point, axis);
      for (int channel = 0; channel < layout.channels(); ++channel) {
        T sum = T(0);
        weights.for_each_node(shape, point,
                              [&](std::size_t node, T weight) { sum += weight * mesh[layout.node(node, channel)]; });
        T& gradient = gradients[at(i, channel, axis)];
        gradient = accumulate ? gradient + scale[axis] * sum : scale[axis] * sum;
      }
    }
  }

  /// gradients[vector][i][axis][component]
  [[nodiscard]] QUADRAT_HD std::size_t at(std::size_t i, int channel, int axis) const {
    const int dimension = 3 - shape.first_axis;
    const auto vector = static_cast<std::size_t>(channel / layout.components);
    const std::size_t row = (vector * layout.points + i) * static_cast<std::size_t>(dimension);
    return (row + static_cast<std::size_t>(axis - shape.first_axis)) * static_cast<std::size_t>(layout.components) +
           static_cast<std::size_t>(channel % layout.components);
  }
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
  with_width(setup_.window.width, [&](auto width) {
    for_each(context_, "mesh.interpolate", count(),
             interpolate_point<T, decltype(width)::value>{setup_.shape, setup_.window, layout, points(), mesh, values,
                                                          accumulate});
  });
}

template <typename Context, typename T>
void placed_points_engine<Context, T>::interpolate_gradient(const value_layout& layout, const T* mesh, const T* scale,
                                                            T* gradients, bool accumulate) {
  with_width(setup_.window.width, [&](auto width) {
    interpolate_point_gradient<T, decltype(width)::value> body{
        setup_.shape, setup_.window, layout, points(), mesh, {scale[0], scale[1], scale[2]}, gradients, accumulate};
    for_each(context_, "mesh.interpolate_gradient", count(), body);
  });
}

template class placed_points_engine<backend_context, float>;
template class placed_points_engine<backend_context, double>;

}  // namespace quadrat::detail
