// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/particle/particle.hpp"

#include "core/backend.hpp"
#include "mesh/point.hpp"
#include "mesh/wide.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
void spread_points(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                   const placed_point<T>* points, const std::uint32_t* chosen, std::size_t count, const T* values,
                   T* mesh) {
  if (is_wide(setup.window.width)) {
    return spread_wide_points(context, setup, layout, points, chosen, count, values, mesh);
  }
  if constexpr (std::is_same_v<Context, cpu_context>) {
    if (context.threads() == 1) {
      return spread_each_point<mesh_update::plain>(context, "mesh.particle", setup, layout, points, chosen, count,
                                                   values, mesh);
    }
  }
  spread_each_point<mesh_update::atomic>(context, "mesh.particle", setup, layout, points, chosen, count, values, mesh);
}

template <typename Context, typename T>
void particle_engine<Context, T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  this->clear(layout, mesh, accumulate);
  spread_points(this->context(), this->setup(), layout, this->points(), nullptr, this->count(), values, mesh);
}

template void spread_points(const backend_context&, const spread_setup<float>&, const value_layout&,
                            const placed_point<float>*, const std::uint32_t*, std::size_t, const float*, float*);
template class particle_engine<backend_context, float>;
template void spread_points(const backend_context&, const spread_setup<double>&, const value_layout&,
                            const placed_point<double>*, const std::uint32_t*, std::size_t, const double*, double*);
template class particle_engine<backend_context, double>;

}  // namespace quadrat::detail
