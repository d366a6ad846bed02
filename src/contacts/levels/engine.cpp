// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/levels/engine.hpp"

#include <utility>

#include "contacts/levels/plan.hpp"
#include "core/backend.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
planned_bins<T> levels_engine<Context, T>::plan(const placed_bodies<Context, T>& bodies,
                                                const bin_options<T>& options) {
  return this->plan_for(bodies.domain, *bodies.sizes, options.size);
}

template <typename Context, typename T>
planned_bins<T> levels_engine<Context, T>::plan_for(const box<T, 3>& domain, const size_histogram<T>& sizes,
                                                    T bin_size) {
  level_plan<T> planned = plan_levels(domain, sizes, bin_size);
  this->levels_ = planned.grids;
  return {planned.finest_edge, std::move(planned.reason), planned.grids.widest[planned.grids.count - 1]};
}

template class levels_engine<backend_context, float>;
template class levels_engine<backend_context, double>;

}  // namespace quadrat::detail
