// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/particle.hpp"

#include "core/backend.hpp"
#include "mesh/footprint.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// Index: point.
template <typename T, int Width>
struct spread_point {
  mesh_shape shape;
  mesh_window<T> window;
  value_layout layout;
  const placed_point<T>* points;
  const T* values;
  T* mesh;

  QUADRAT_HD void operator()(std::size_t i) const {
    const placed_point<T> point = points[i];
    const footprint<T, Width> weights(window, shape, point);
    for (int channel = 0; channel < layout.channels(); ++channel) {
      const T value = values[layout.value(i, channel)];
      weights.for_each_node(shape, point, [&](std::size_t node, T weight) {
        atomic_add(mesh + layout.node(node, channel), value * weight);
      });
    }
  }
};

}  // namespace

template <typename Context, typename T>
void particle_engine<Context, T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  this->clear(layout, mesh, accumulate);
  with_width(this->setup().window.width, [&](auto width) {
    for_each(this->context(), "mesh.particle", this->count(),
             spread_point<T, decltype(width)::value>{this->setup().shape, this->setup().window, layout, this->points(),
                                                     values, mesh});
  });
}

template class particle_engine<backend_context, float>;
template class particle_engine<backend_context, double>;

}  // namespace quadrat::detail
