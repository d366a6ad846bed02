// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/papers/racing.hpp"

#include "core/backend.hpp"
#include "mesh/point.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
void particle_racing_engine<Context, T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  this->clear(layout, mesh, accumulate);
  spread_each_point<mesh_update::plain>(this->context(), "mesh.particle_racing", this->setup(), layout, this->points(),
                                        nullptr, this->count(), values, mesh);
}

// On a CPU a race would be undefined behavior.
#if QUADRAT_BACKEND_CUDA
template class particle_racing_engine<cuda_context, float>;
template class particle_racing_engine<cuda_context, double>;
#endif

}  // namespace quadrat::detail
