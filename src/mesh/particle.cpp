// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/particle.hpp"

#include "core/backend.hpp"
#include "mesh/spread_point.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
void spread_points(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                   const placed_point<T>* points, const std::uint32_t* chosen, std::size_t count, const T* values,
                   T* mesh) {
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

#define QUADRAT_INSTANTIATE(T)                                                                          \
  template void spread_points(const backend_context&, const spread_setup<T>&, const value_layout&,      \
                              const placed_point<T>*, const std::uint32_t*, std::size_t, const T*, T*); \
  template class particle_engine<backend_context, T>;
QUADRAT_INSTANTIATE(float)
QUADRAT_INSTANTIATE(double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat::detail
