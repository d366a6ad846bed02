// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/brute_force/engine.hpp"

#include "contacts/row_engine.hpp"
#include "core/backend.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
planned_bins<T> brute_force_engine<Context, T>::plan(const placed_bodies<Context, T>& /*bodies*/,
                                                     const bin_options<T>& /*options*/) {
  return {T(0), "no bins"};
}

template <typename Context, typename T>
void brute_force_engine<Context, T>::insert(const placed_bodies<Context, T>& bodies) {
  search_ = {bodies.bodies, bodies.count};
}

template class brute_force_engine<backend_context, float>;
template class brute_force_engine<backend_context, double>;

}  // namespace quadrat::detail
